package mutex

import (
	"fmt"
	"slices"

	"turnstile/algorithms/quorum"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

// The quorum systems that an algorithm can be run with. In each, all quorums have one size, and a node is in
// its own. Cyclic quorums are the default, since they are never larger than others. Planes are the cyclic
// quorums of a number of nodes for which a projective plane exists.
const (
	gridQuorums   = "grid"
	cyclicQuorums = "cyclic"
	planeQuorums  = "plane"
)

var quorumOption = nodes.Option{
	Name:    "quorums",
	Usage:   "quorum system",
	Values:  []string{cyclicQuorums, gridQuorums, planeQuorums},
	Default: cyclicQuorums,
	Shows: []nodes.Shown{
		{Value: gridQuorums, Than: cyclicQuorums, Figure: "messages per entry", Least: 1.05, Most: 2, N: 16,
			Load: "sequential"},
		{Value: planeQuorums, Than: cyclicQuorums, Figure: "messages per entry", Least: 1, Most: 1, N: 13,
			Load: "sequential"},
	},
	Check: func(c nodes.Config, system string) (err error) {
		switch system {
		case gridQuorums:
			err = quorum.CheckSquare(c.N)
		case planeQuorums:
			err = quorum.CheckPlane(c.N)
		}
		if err != nil {
			return fmt.Errorf("%w, or %s", err, cyclicQuorums)
		}
		return nil
	},
}

// quorumOf returns the nodes that node id of n asks.
func quorumOf(system string, n int, id nodes.ID) nodes.Set {
	if system == gridQuorums {
		return quorum.Grid(n, id)
	}
	return quorum.Cyclic(n, id)
}

// quorumEdges returns the other nodes that a node asks.
func quorumEdges(c nodes.Config, id nodes.ID) []nodes.ID {
	return othersOf(quorumOf(c.Value(quorumOption), c.N, id), id)
}

// othersOf lists the nodes of a set but one.
func othersOf(s nodes.Set, id nodes.ID) []nodes.ID {
	s.Remove(id)
	return slices.Collect(s.All())
}

// quorumSize returns how many nodes each node asks, itself included.
func quorumSize(c nodes.Config) int {
	q := quorumOf(c.Value(quorumOption), c.N, 0)
	return q.Len()
}

var quorumSymbol = algorithm.Symbol{Name: "K", Says: "nodes in a quorum, itself included", Value: quorumSize}
