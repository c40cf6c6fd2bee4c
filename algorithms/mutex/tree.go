package mutex

import (
	"math/bits"

	"turnstile/nodes"
)

// The shapes of trees. Node 0 is the root of each.
//
//   - "binary": a heap, in which the parent of node i is (i-1)/2.
//   - "star": node 0 is everyone's neighbour.
//   - "line": the neighbours of node i are i-1 and i+1.
const (
	binaryTree = "binary"
	starTree   = "star"
	lineTree   = "line"
)

var treeOption = nodes.Option{
	Name:    "tree",
	Usage:   "shape of the tree",
	Values:  []string{binaryTree, starTree, lineTree},
	Default: binaryTree,
	Shows: []nodes.Shown{
		{Value: starTree, Than: binaryTree, Figure: "messages per entry", Least: 0.4, Most: 0.9, N: 15,
			Load: "sequential"},
		{Value: lineTree, Than: binaryTree, Figure: "messages per entry", Least: 1.1, Most: 2, N: 15,
			Load: "sequential"},
	},
}

// parent returns a node's neighbour on the way to the root. The node is not the root.
func parent(tree string, id nodes.ID) nodes.ID {
	switch tree {
	case starTree:
		return 0
	case lineTree:
		return id - 1
	}
	return (id - 1) / 2
}

// below returns the children of a node in the tree of n nodes if root is its root instead of node 0: nodes
// are then numbered from root on, modulo n.
func below(tree string, n int, root, id nodes.ID) (children []nodes.ID) {
	ours := (id - root + nodes.ID(n)) % nodes.ID(n)
	for child := ours + 1; child < nodes.ID(n); child++ {
		if parent(tree, child) == ours {
			children = append(children, (child+root)%nodes.ID(n))
		}
	}
	return children
}

// depth returns the number of edges between the root and the node farthest from it.
func depth(tree string, n int) int { return distance(tree, 0, nodes.ID(n-1)) }

// neighbours returns the children and the parent of a node in the tree of n nodes.
func neighbours(tree string, n int, id nodes.ID) []nodes.ID {
	all := below(tree, n, 0, id)
	if id > 0 {
		all = append(all, parent(tree, id))
	}
	return all
}

// position numbers the neighbours of a node: the parent is 0, the first child of the node is 1, and so on.
func position(tree string, id, neighbour nodes.ID) int {
	switch {
	case neighbour < id:
		return 0
	case tree == starTree || tree == lineTree:
		return int(neighbour - id)
	}
	return int(neighbour - 2*id)
}

// distance returns the number of edges between two nodes.
func distance(tree string, a, b nodes.ID) (edges int) {
	if tree == lineTree {
		return int(max(a, b) - min(a, b))
	}
	for a != b { // the parent of a node has the lower number
		if a < b {
			a, b = b, a
		}
		a = parent(tree, a)
		edges++
	}
	return edges
}

// diameter returns the number of edges between the two nodes that are farthest apart.
func diameter(c nodes.Config) int {
	switch tree := c.Value(treeOption); {
	case c.N <= 2 || tree == lineTree:
		return c.N - 1
	case tree == starTree:
		return 2
	}
	// The longest path leads from the leftmost leaf up to the root and down the right side of the tree. That
	// side is as deep only if the lowest level is more than half full.
	depth := bits.Len(uint(c.N)) - 1
	if c.N < 3<<(depth-1) {
		return 2*depth - 1
	}
	return 2 * depth
}

// meanDistance returns the mean number of edges between two nodes that are drawn independently from all: an
// edge counts for a pair of nodes if they are on different sides of it.
func meanDistance(c nodes.Config) float64 {
	tree := c.Value(treeOption)
	below := make([]int, c.N) // by node: how many nodes its subtree has
	apart := 0
	for id := c.N - 1; id > 0; id-- {
		below[id]++
		below[parent(tree, nodes.ID(id))] += below[id]
		apart += 2 * below[id] * (c.N - below[id])
	}
	return float64(apart) / float64(c.N*c.N)
}
