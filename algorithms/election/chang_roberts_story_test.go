package election

import (
	"turnstile/judge/rowtest"
	"turnstile/nodes"
)

// changForms are forms of Chang and Roberts' that play its stories: the rules as they are printed, with an
// announcement, and a ring that is repaired.
func changForms() []form {
	printed := changRobertsPrintedRow
	printed.New = func(c nodes.Config) nodes.Machine {
		return &changPrinted{ids: c.Value(idsOption), announces: true, leader: nodes.None}
	}
	return []form{
		{&changRobertsRow, rowtest.Form{Row: &printed,
			Title: "a lower identity is replaced by who takes part already, too"}},
		{&changRobertsRow, rowtest.Form{Row: changRepairedRow, Title: "the ring closes behind a node that is down",
			Fails: "agreement"}},
	}
}
