package election

import "turnstile/nodes"

// changForms has the rules as they are printed, with an announcement, play the stories of Chang and Roberts'.
func changForms() []form {
	printed := changRobertsPrintedRow
	printed.New = func(c nodes.Config) nodes.Machine {
		return &changPrinted{ids: c.Value(idsOption), announces: true, leader: nodes.None}
	}
	return []form{{row: &changRobertsRow, spec: &printed,
		title: "a lower identity is replaced by who takes part already, too"}}
}
