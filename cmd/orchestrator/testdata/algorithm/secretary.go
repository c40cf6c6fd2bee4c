package mutex

import "turnstile/nodes"

var secretaryRow = nodes.Spec{
	Info: nodes.Info{
		Name:    "secretary",
		Aliases: []string{"clerk"},
		Family:  "centralized",
		Source:  "a test of how algorithms are added",
		Summary: "One of the nodes is the coordinator too, the first or the last.",
	},
	New: func(c nodes.Config) nodes.Machine {
		s := &secretary{}
		if c.Value(seatOption) == "last" {
			s.server = nodes.ID(c.N - 1)
		}
		return s
	},
	Messages: []nodes.Kind{{Zero: centralRequest{}}, {Zero: centralGrant{}}, {Zero: centralRelease{}}},
	Options:  []nodes.Option{seatOption},
	Safe:     nodes.NoAmnesia,
	Live:     nodes.NoLoss | nodes.NoCrash,
	Cost: func(c nodes.Config) nodes.Cost {
		return always("3, the coordinator 0", nodes.Between(0, 3), nodes.Between(0, 2))
	},
	Faults:     centralInsideRow.Faults,
	Identities: []nodes.Identity{same("grant", "request"), same("release", "request")},
}

var seatOption = nodes.Option{
	Name:    "seat",
	Usage:   "which node coordinates",
	Values:  []string{"first", "last"},
	Default: "first",
}

// secretary is the central algorithm with one of the clients as the coordinator.
type secretary struct{ centralInside }
