package election

import "turnstile/nodes"

// changForms are forms of Chang and Roberts' that play its stories: the rules as they are printed, with an
// announcement, and a ring that is repaired.
func changForms() []form {
	printed := changRobertsPrintedRow
	printed.New = func(c nodes.Config) nodes.Machine {
		return &changPrinted{ids: c.Value(idsOption), announces: true, leader: nodes.None}
	}
	return []form{
		{row: &changRobertsRow, spec: &printed,
			title: "a lower identity is replaced by who takes part already, too"},
		{row: &changRobertsRow, spec: changRepairedRow, title: "the ring closes behind a node that is down",
			fails: "agreement"},
	}
}
