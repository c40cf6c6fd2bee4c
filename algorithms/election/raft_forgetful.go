package election

import (
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

var raftForgetfulAlgorithm = algorithm.Algorithm{
	Spec: nodes.Spec{
		Name: "raft-forgetful", Kind: nodes.Election,
		New: func(c nodes.Config) nodes.Machine {
			r := newRaft(c)
			r.forgets = true
			return r
		},
		Timers:     raftTimers,
		Messages:   raftMessages,
		Options:    raftOptions,
		Safe:       nodes.NoAmnesia,
		Live:       raftAlgorithm.Live,
		Grace:      raftGrace,
		Circulates: true,
	},
	Aliases: []string{"forgetful-raft"}, Family: "majority",
	Source: "a node forgets votedFor at a restart, which figure 2 of Ongaro and Ousterhout forbids",
	Summary: "Raft's election by nodes that save the term but not the vote: one that votes and comes up again " +
		"after a crash votes once more in the same term.",
	Elector: raftAlgorithm.Elector,
	Flaw: &algorithm.Flaw{
		Check: "terms",
		At:    nodes.Config{N: 3},
		By:    nodes.NoCrash,
		Rare:  true,
	},
	Faults: beside(
		under(recovers|breaks, "known to be broken: a node that has voted and comes up again votes once more "+
			"in the same term (X), if two stand for election at once", "leader-crashes", "each-in-turn",
			"restarts", "restless-election"),
		raftAlgorithm.Faults),
}
