package quorum_test

import (
	"fmt"
	"math/bits"
	"strings"
	"testing"

	"turnstile/algorithms/quorum"
	"turnstile/nodes"
)

// Nodes 0 to 8 are a square. Node 4 asks its row and its column; by cyclic quorums it asks fewer nodes. In a
// tree, the root is replaced if it is down.
func Example() {
	fmt.Println(quorum.Grid(9, 4), quorum.Cyclic(9, 4))
	fmt.Println(quorum.Tree(7, 4, nodes.SetOf()))
	fmt.Println(quorum.Tree(7, 4, nodes.SetOf(0)))
	fmt.Println(quorum.CheckPlane(8))
	// Output:
	// {1 3 4 5 7} {1 4 5 8}
	// {0 1 4} true
	// {1 2 4 5} true
	// 8 nodes form no projective plane, since 8 is not K(K-1)+1: use 7 or 13
}

// Any two quorums of a tree meet, for any nodes that are down, and a quorum exists while fewer nodes are
// down than a path has members.
func TestPathsMeet(t *testing.T) {
	for n := 1; n <= 9; n++ {
		var quorums []nodes.Set
		for mask := range 1 << n {
			var down nodes.Set
			for id := range nodes.ID(n) {
				if mask>>id&1 == 1 {
					down.Add(id)
				}
			}
			for self := range nodes.ID(n) {
				q, ok := quorum.Tree(n, self, down)
				if !ok && down.Len() < bits.Len(uint(n+1))-1 {
					t.Errorf("%d nodes: no quorum is left without %v", n, down)
				}
				if ok && q.Meets(down) {
					t.Errorf("%d nodes: %v is asked though %v are down", n, q, down)
				}
				if ok {
					quorums = append(quorums, q)
				}
			}
		}
		for i, q := range quorums {
			if !quorum.HasTree(n, q.Has) {
				t.Fatalf("%d nodes: %v is asked, and lets nobody in", n, q)
			}
			for _, r := range quorums[:i] {
				if !q.Meets(r) {
					t.Fatalf("%d nodes: %v and %v do not meet", n, q, r)
				}
			}
		}
	}
}

// A set of nodes and its complement do not both contain a quorum of a tree.
func TestTreesInSetsMeet(t *testing.T) {
	for n := 1; n <= 12; n++ {
		enough := func(mask int) bool {
			return quorum.HasTree(n, func(id nodes.ID) bool { return mask>>id&1 == 1 })
		}
		for mask := range 1 << n {
			if enough(mask) && enough(1<<n-1-mask) {
				t.Fatalf("%d nodes: the nodes %b are enough, and so are all others", n, mask)
			}
		}
	}
}

// Any two quorums of a grid meet for any number of nodes, and errors name numbers that are right.
func TestGridsMeet(t *testing.T) {
	for n := 1; n <= 40; n++ {
		rows := quorum.GridRows(n)
		for id := range nodes.ID(n) {
			q := quorum.Grid(n, id)
			if !q.Has(id) || q.Len() != rows+n/rows-1 {
				t.Errorf("of %d nodes, %d asks %v", n, id, q)
			}
			for other := range id {
				if !q.Meets(quorum.Grid(n, other)) {
					t.Errorf("of %d nodes, the quorums of %d and %d do not meet", n, id, other)
				}
			}
		}
		if err := quorum.CheckSquare(n); err != nil && (!strings.Contains(err.Error(), ": use ") ||
			rows*rows == n) {
			t.Error(err)
		}
	}
}
