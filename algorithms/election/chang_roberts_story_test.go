package election

import (
	"turnstile/judge/algotest"
	"turnstile/nodes"
)

// changForms are forms of Chang and Roberts' that play its stories: the rules as they are printed, with an
// announcement, and a ring that is repaired.
func changForms() []form {
	printed := changRobertsPrintedAlgorithm
	printed.New = func(c nodes.Config) nodes.Machine {
		return &changPrinted{ids: c.Value(idsOption), announces: true, leader: nodes.None}
	}
	return []form{
		{&changRobertsAlgorithm, algotest.Form{Algorithm: &printed,
			Title: "a lower identity is replaced by who takes part already, too"}},
		{&changRobertsAlgorithm, algotest.Form{Algorithm: changRepairedAlgorithm,
			Title: "the ring closes behind a node that is down",
			Fails: "agreement"}},
	}
}
