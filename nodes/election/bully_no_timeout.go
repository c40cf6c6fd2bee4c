package election

import "turnstile/nodes"

// The bully algorithm without the second of its two timeouts, as it is often told. It is known to be broken,
// and here to show that the checks detect it.
//
// A node that has an OK waits for COORDINATOR, however long it takes. If the node that answered crashes
// before it announces itself, nobody does: all that it answered wait for ever, and none of them finds a
// leader dead, since they know of none.
var bullyNoTimeoutRow = nodes.Spec{
	Info: nodes.Info{
		Name: "bully-no-timeout", Family: "complete network",
		Source:  "the bully algorithm as it is told without a time limit for COORDINATOR",
		Summary: "As bully, but a node that has an OK waits for COORDINATOR for ever.",
	},
	New: func(c nodes.Config) nodes.Machine {
		b := newBully(c)
		b.patient = true
		return b
	},
	Timers:   bullyTimers,
	Messages: bullyRow.Messages,
	Options:  bullyRow.Options,
	Detects:  bullyRow.Detects,
	Safe:     bullyRow.Safe,
	Live:     bullyRow.Live,
	Leads:    bullyRow.Leads,
	Grace:    bullyRow.Grace,
	Broken:   "agreement",
	BrokenAt: nodes.Config{N: 3},
	BrokenBy: nodes.NoCrash, BrokenTimes: 2,
	Faults: beside(
		under(blocks, "known to be broken: who has an OK waits for COORDINATOR for ever, and who was to "+
			"send it is dead", "dead-successor"),
		bullyRow.Faults),
}
