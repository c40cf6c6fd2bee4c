package election

import (
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

// The bully algorithm without the second of its two timeouts, as it is often told. It is known to be broken,
// and here to show that the checks detect it.
//
// A node that has an OK waits for COORDINATOR, however long it takes. If the node that answered crashes
// before it announces itself, all nodes that it answered wait for ever: they follow no leader, so they find
// none dead.
var bullyNoTimeoutAlgorithm = algorithm.Algorithm{
	Spec: nodes.Spec{
		Name: "bully-no-timeout", Kind: nodes.Election,
		New: func(c nodes.Config) nodes.Machine {
			b := newBully(c)
			b.patient = true
			return b
		},
		Timers:   bullyTimers,
		Messages: bullyAlgorithm.Messages,
		Options:  bullyAlgorithm.Options,
		Detects:  bullyAlgorithm.Detects,
		Safe:     bullyAlgorithm.Safe,
		Live:     bullyAlgorithm.Live,
		Grace:    bullyAlgorithm.Grace,
	},
	Family:  "complete network",
	Source:  "the bully algorithm as it is told without a time limit for COORDINATOR",
	Summary: "As bully, but a node that has an OK waits for COORDINATOR for ever.",
	Elector: bullyAlgorithm.Elector,
	Flaw: &algorithm.Flaw{
		Check: "agreement",
		At:    nodes.Config{N: 3},
		By:    nodes.NoCrash,
		Times: 2,
	},
	Faults: beside(
		under(blocks, "known to be broken: a node that got an OK waits for ever for COORDINATOR if the "+
			"sender of the OK crashed", "dead-successor"),
		bullyAlgorithm.Faults),
}
