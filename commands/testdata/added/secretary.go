package mutex

import (
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

var secretaryAlgorithm = algorithm.Algorithm{
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
	Mutex: &algorithm.Exclusion{
		Cost: func(c nodes.Config) algorithm.Cost {
			return always("3, the coordinator 0", algorithm.Between(0, 3), algorithm.Between(0, 2))
		},
		Identities: []algorithm.Identity{counts("grant = request"), counts("release = request")},
	},
	Faults: centralInsideAlgorithm.Faults,
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
