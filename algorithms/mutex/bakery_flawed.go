package mutex

import (
	"slices"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

// Two broken forms of the bakery. They show what two of its rules are for, and that the checks detect when
// one of them is missing.

// bakery-no-choosing is the bakery in which no node raises its hand. It is not safe. A node reads the
// numbers of all and does not have its own yet. Another takes the same number, sees no lower one, and
// enters. Then the first takes its number, wins the tie by its ID, and enters as well. That takes three
// nodes, or messages that overtake each other: between two nodes on an ordered link, the second's answer
// reaches the first before the second's read of the first's number does.
var bakeryNoChoosingAlgorithm = algorithm.Algorithm{
	Spec:    bakerySpec("bakery-no-choosing", lacksHands),
	Aliases: []string{"no-choosing"}, Family: "registers",
	Source: "Jones, Mutual exclusion in distributed systems, notes of 22C:116, University of Iowa, 2002: the " +
		"bakery without the choosing flags",
	Summary: "As bakery, but without the choosing flags.",
	Mutex: &algorithm.Exclusion{
		Cost: func(c nodes.Config) algorithm.Cost {
			return rereading("4(N-1), plus 2 for each repeated read", 4*peers(c))
		},
		Identities: []algorithm.Identity{
			readsOfAll(2),
			counts("value = read"),
		},
	},
	Flaw: &algorithm.Flaw{Check: "exclusion", At: nodes.Config{N: 3}},
	Faults: orBreaks(beside(slices.Concat(
		under(recovers|starves|blocks, "a node stuck while it takes a number stops only itself (P), and "+
			"one stuck with its number stops all (B); or nothing was lost (L)",
			"empty-restarts"),
		under(starves|blocks, "a node stuck while it takes a number stops only itself (P), and one stuck "+
			"with its number stops all (B)", "each-in-turn", "lost-reply", "restarts",
			"amnesia")),
		bakeryFaults), "two nodes with equal tickets are both let in (X), without any fault"),
}

// bakery-ties is the bakery without a common rule for ties: each node takes itself to be first. It is not
// safe: two nodes that take the same number both enter.
var bakeryTiesAlgorithm = algorithm.Algorithm{
	Spec:    bakerySpec("bakery-ties", lacksTies),
	Aliases: []string{"no-tie-break"}, Family: "registers",
	Source: "Jones, Mutual exclusion in distributed systems, notes of 22C:116, University of Iowa, 2002: the " +
		"bakery without a common tie-break rule",
	Summary: "As bakery, but of two nodes with the same number each takes itself to be first.",
	Mutex: &algorithm.Exclusion{
		Cost:       bakeryAlgorithm.Mutex.Cost,
		Identities: bakeryAlgorithm.Mutex.Identities,
	},
	Flaw:   &algorithm.Flaw{Check: "exclusion", At: nodes.Config{N: 2}},
	Faults: orBreaks(bakeryFaults, "two nodes with equal tickets are both let in (X), without any fault"),
}

// bakerySpec returns the Spec of a form of the bakery that lacks a rule.
func bakerySpec(name string, lacks bakeryRule) nodes.Spec {
	spec := bakeryAlgorithm.Spec
	spec.Name, spec.Options = name, []nodes.Option{readsOption, rereadOption}
	spec.New = func(c nodes.Config) nodes.Machine {
		b := newBakery(c)
		b.lacks = lacks
		return b
	}
	return spec
}

// orBreaks adds to each cell that the algorithm may let two in by itself.
func orBreaks(cells []algorithm.FaultCell, why string) []algorithm.FaultCell {
	cells = slices.Clone(cells)
	for i := range cells {
		cells[i].May |= breaks
		cells[i].Why += "; " + why
	}
	return cells
}
