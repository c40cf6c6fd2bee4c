package mutex

import (
	"fmt"
	"math/bits"

	"turnstile/nodes"
)

// The trees in which nodes can stand, by Config.Tree. Node 0 is the root of each.
//
//   - "binary": a heap, in which the parent of node i is (i-1)/2. This is what an empty name means.
//   - "star": node 0 is everyone's neighbour.
//   - "line": the neighbours of node i are i-1 and i+1.
const (
	binaryTree = "binary"
	starTree   = "star"
	lineTree   = "line"
)

// checkTree says what is wrong with the tree that c asks for.
func checkTree(c nodes.Config) error {
	switch c.Tree {
	case "", binaryTree, starTree, lineTree:
		return nil
	}
	return fmt.Errorf("there is no tree %q; there are: %s, %s, %s", c.Tree, binaryTree, starTree, lineTree)
}

// parent returns the neighbour on the way to the root of a node that is not the root.
func parent(c nodes.Config, id nodes.ID) nodes.ID {
	switch {
	case c.Tree == starTree:
		return 0
	case c.Tree == lineTree:
		return id - 1
	}
	return (id - 1) / 2
}

// position numbers the neighbours of a node: the parent is 0, its children are 1 and so on.
func position(c nodes.Config, id, neighbour nodes.ID) int {
	switch {
	case neighbour < id:
		return 0
	case c.Tree == starTree || c.Tree == lineTree:
		return int(neighbour - id)
	}
	return int(neighbour - 2*id)
}

// diameter returns how many edges apart the two nodes are that are farthest apart.
func diameter(c nodes.Config) int {
	switch {
	case c.N <= 2 || c.Tree == lineTree:
		return c.N - 1
	case c.Tree == starTree:
		return 2
	}
	// From the leftmost leaf up to the root and down on its right, where the tree is as deep only if the
	// lowest row is more than half full.
	depth := bits.Len(uint(c.N)) - 1
	if c.N < 3<<(depth-1) {
		return 2*depth - 1
	}
	return 2 * depth
}
