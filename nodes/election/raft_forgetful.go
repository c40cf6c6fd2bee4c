package election

import "turnstile/nodes"

var raftForgetfulRow = nodes.Spec{
	Info: nodes.Info{
		Name:    "raft-forgetful",
		Aliases: []string{"forgetful-raft"},
		Family:  "majority",
		Source:  "the mistake that figure 2 of Ongaro and Ousterhout rules out: votedFor is persistent state",
		Summary: "Raft's election by nodes that save the term and not the vote: who votes and comes up again " +
			"after a crash votes once more in the same term.",
	},
	New: func(c nodes.Config) nodes.Machine {
		r := newRaft(c)
		r.forgets = true
		return r
	},
	Timers:   raftTimers,
	Messages: raftMessages,
	Options:  raftOptions,
	Safe:     nodes.NoAmnesia,
	Live:     raftRow.Live,
	Leads:    raftRow.Leads,
	Grace:    raftGrace,
	Broken:   "terms",
	BrokenAt: nodes.Config{N: 3},
	BrokenBy: nodes.NoCrash,

	Circulates: true,
	Faults: beside(
		under(recovers|breaks, "known to be broken: whoever has voted and comes up again votes once more "+
			"in the same term (X), if two stand for election at once", "leader-crashes", "each-in-turn",
			"restarts", "restless-election"),
		raftRow.Faults),
}
