package play

import (
	"slices"

	"turnstile/algorithms/quorum"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

// A Layout says how the nodes of an algorithm are arranged, and along which links it sends.
type Layout struct {
	Shape string        `json:"shape"`
	Links [][2]nodes.ID `json:"links"` // of two nodes, the lower first; none: all may send to all
}

// The shapes of layouts.
const (
	shapeStar = "star" // all ask a coordinator or servers
	shapeRing = "ring"
	shapeTree = "tree"
	shapeGrid = "grid" // each node sends to its row and its column
	shapeAll  = "all"
)

// layoutOf returns the layout of the first instance of a stack, by its edges.
func layoutOf(stack *algorithm.Stack) Layout {
	s, c := &stack.Instances()[0].Spec, stack.Instances()[0].Config
	l := Layout{Shape: shapeAll, Links: [][2]nodes.ID{}}
	seen := map[[2]nodes.ID]bool{}
	successors := s.Edges != nil // each client sends to one other
	for id := range nodes.ID(c.N) {
		if s.Edges == nil {
			break
		}
		edges := s.Edges(c, id)
		successors = successors && len(edges) == 1
		for _, to := range edges {
			if link := [2]nodes.ID{min(id, to), max(id, to)}; to != id && !seen[link] {
				seen[link] = true
				l.Links = append(l.Links, link)
			}
		}
	}
	among := slices.DeleteFunc(slices.Clone(l.Links), func(l [2]nodes.ID) bool { return int(l[1]) >= c.N })
	complete := len(among) == c.N*(c.N-1)/2 && c.N > 3 // up to three nodes, a ring or tree may be complete
	switch {
	case s.Coordinator != nil || s.ServerCount(c) > 0:
		l.Shape = shapeStar
	case complete || s.Edges == nil:
	case successors && isRing(among, c.N):
		l.Shape = shapeRing
	case isGrid(among, c.N):
		l.Shape = shapeGrid
	case isRing(among, c.N):
		l.Shape = shapeRing
	case len(among) == c.N-1 && connected(among, c.N):
		l.Shape = shapeTree
	}
	if complete {
		l.Links = l.Links[:0]
	}
	return l
}

// neighboursOf returns the nodes at the other ends of the links of a node.
func neighboursOf(links [][2]nodes.ID, id nodes.ID) (s nodes.Set) {
	for _, l := range links {
		if l[0] == id {
			s.Add(l[1])
		}
		if l[1] == id {
			s.Add(l[0])
		}
	}
	return s
}

// isRing reports whether links join n nodes to one circle.
func isRing(links [][2]nodes.ID, n int) bool {
	for id := range nodes.ID(n) {
		if s := neighboursOf(links, id); s.Len() != 2 {
			return false
		}
	}
	return connected(links, n)
}

// isGrid reports whether links join each of n nodes to those of its row and its column, in a grid of several
// rows.
func isGrid(links [][2]nodes.ID, n int) bool {
	for id := range nodes.ID(n) {
		s := neighboursOf(links, id)
		s.Add(id)
		if !slices.Equal(slices.Collect(s.All()), slices.Collect(quorum.Grid(n, id).All())) {
			return false
		}
	}
	return quorum.GridRows(n) > 1
}

// connected reports whether links join n nodes, directly or through others.
func connected(links [][2]nodes.ID, n int) bool {
	var seen nodes.Set
	next := []nodes.ID{0}
	for len(next) > 0 {
		id := next[0]
		next = next[1:]
		if !seen.Has(id) {
			seen.Add(id)
			next = slices.AppendSeq(next, neighboursOf(links, id).All())
		}
	}
	return seen.Len() == n
}
