package mutex

import (
	"cmp"
	"slices"

	"turnstile/nodes"
)

// A stamp orders requests alike at all nodes: by logical clock and, where clocks are equal, by node (Lamport
// 1978). Clocks start at 1; a stamp with clock 0 stands for no request.
type stamp struct {
	Clock uint64
	ID    nodes.ID
}

func (s stamp) isZero() bool { return s.Clock == 0 }

func (s stamp) before(t stamp) bool { return s.compare(t) < 0 }

func (s stamp) compare(t stamp) int {
	// Without the second comparison, neither of two requests with equal clocks would come first: both nodes
	// would defer to each other, or both would enter.
	return cmp.Or(cmp.Compare(s.Clock, t.Clock), cmp.Compare(s.ID, t.ID))
}

// insert puts s into queue, which is kept in order.
func insert(queue []stamp, s stamp) []stamp {
	at, _ := slices.BinarySearchFunc(queue, s, stamp.compare)
	return slices.Insert(queue, at, s)
}

// fence returns the stamp as a fence number: the later of two stamps has the higher one.
func (s stamp) fence(env *nodes.Env) uint64 { return s.Clock*uint64(env.N()) + uint64(s.ID) }
