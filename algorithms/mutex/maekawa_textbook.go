package mutex

import (
	"slices"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

// Maekawa's algorithm as it is widely taught, without Sanders' correction. It is known to be broken, and here
// to show that the checks detect it.
//
// An arbiter that has lent its vote sends FAILED to a new request that is not the best. It does not send
// FAILED to a waiting request when a better one replaces it as the best.
//
// It is safe, but it can deadlock: the node whose request was replaced still expects to be next, and keeps
// another arbiter's vote although that is inquired about. The node of the better request may wait for that
// vote, while it holds the vote that the other node waits for.
var maekawaTextbookAlgorithm = algorithm.Algorithm{
	Spec: nodes.Spec{
		Name: "maekawa-textbook",
		New: func(c nodes.Config) nodes.Machine {
			return &maekawa{quorums: c.Value(quorumOption), voter: arbiter{textbook: true}}
		},
		Messages: maekawaAlgorithm.Messages,
		Options:  maekawaAlgorithm.Options,
		Edges:    maekawaAlgorithm.Edges,
		Safe:     maekawaAlgorithm.Safe,
		Live:     maekawaAlgorithm.Live,
	},
	Aliases: []string{"textbook"}, Family: "quorum",
	Source: "Maekawa's algorithm as it is widely taught (Kshemkalyani and Singhal, Distributed Computing, " +
		"chapter 9)",
	Summary: "As maekawa, but a waiter is not told when a better request takes its place.",
	Mutex: &algorithm.Exclusion{
		Cost:       maekawaAlgorithm.Mutex.Cost,
		Symbols:    maekawaAlgorithm.Mutex.Symbols,
		Identities: maekawaAlgorithm.Mutex.Identities,
	},
	Flaw: &algorithm.Flaw{
		Check: "progress",
		At:    nodes.Config{N: 4},
	},
	Faults: orBlocks(maekawaAlgorithm.Faults),
}

// orBlocks adds to each cell that the algorithm may deadlock by itself.
func orBlocks(cells []algorithm.FaultCell) []algorithm.FaultCell {
	cells = slices.Clone(cells)
	for i := range cells {
		cells[i].May |= blocks
		cells[i].Why += "; all may wait without any fault (B): deadlock"
	}
	return cells
}
