package mutex

import (
	"turnstile/nodes"
	"turnstile/nodes/row"
)

var secretaryRow = row.Row{
	Spec: nodes.Spec{
		Name: "secretary",
		New: func(c nodes.Config) nodes.Machine {
			s := &secretary{}
			if c.Value(seatOption) == "last" {
				s.server = nodes.ID(c.N - 1)
			}
			return s
		},
		Messages: []nodes.MessageKind{{Zero: centralRequest{}}, {Zero: centralGrant{}}, {Zero: centralRelease{}}},
		Options:  []nodes.Option{seatOption},
		Safe:     nodes.NoAmnesia,
		Live:     nodes.NoLoss | nodes.NoCrash,
	},
	Aliases: []string{"clerk"}, Family: "centralized",
	Source:  "a test of how algorithms are added",
	Summary: "One of the nodes is the coordinator too, the first or the last.",
	Mutex: &row.Exclusion{
		Cost: func(c nodes.Config) row.Cost {
			return always("3, the coordinator 0", row.Between(0, 3), row.Between(0, 2))
		},
		Identities: []row.Identity{counts("grant = request"), counts("release = request")},
	},
	Faults: centralInsideRow.Faults,
}

var seatOption = nodes.Option{
	Name:    "seat",
	Usage:   "which node coordinates",
	Values:  []string{"first", "last"},
	Default: "first",
	Shows: []nodes.Shown{
		{Value: "first", Figure: "messages per entry", Least: 0, Most: 0, Load: "one"},
		{Value: "last", Figure: "messages per entry", Least: 3, Most: 3, Load: "one"},
	},
}

// secretary is the central algorithm with one of the clients as the coordinator.
type secretary struct{ centralInside }
