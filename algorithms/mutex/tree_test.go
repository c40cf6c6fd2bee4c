package mutex

import (
	"math"
	"testing"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

// The mean cost over all pairs of nodes, and the worst one, as computed beforehand.
func TestTrees(t *testing.T) {
	for _, test := range []struct {
		n                  int
		line, star, binary float64
		worst              [3]int
	}{
		{4, 2.5, 2.25, 2.5, [3]int{6, 4, 6}},
		{5, 3.2, 2.56, 2.88, [3]int{8, 4, 6}},
		{7, 4.5714, 2.9388, 3.9184, [3]int{12, 4, 8}},
		{9, 5.9259, 3.1605, 4.7407, [3]int{16, 4, 10}},
		{15, 9.9556, 3.4844, 6.5422, [3]int{28, 4, 12}},
		{16, 10.625, 3.5156, 6.875, [3]int{30, 4, 14}},
		{31, 20.6452, 3.7461, 9.59, [3]int{60, 4, 16}},
		{32, 21.3125, 3.7539, 9.7852, [3]int{62, 4, 18}},
	} {
		for i, tree := range []string{lineTree, starTree, binaryTree} {
			c := nodes.Config{N: test.n}.With("tree", tree)
			sum, worst := 0, 0
			for a := range nodes.ID(test.n) {
				for b := range nodes.ID(test.n) {
					d := 2 * distance(tree, a, b)
					sum, worst = sum+d, max(worst, d)
				}
			}
			mean := float64(sum) / float64(test.n*test.n)
			if want := []float64{test.line, test.star, test.binary}[i]; math.Abs(mean-want) > 1e-4 ||
				math.Abs(2*meanDistance(c)-mean) > 1e-9 {
				t.Errorf("%s of %d: %v messages on average, want %v and %v", tree, test.n, mean, want, 2*meanDistance(c))
			}
			if worst != test.worst[i] || worst != 2*diameter(c) {
				t.Errorf("%s of %d: at worst %d messages, want %d and twice %d",
					tree, test.n, worst, test.worst[i], diameter(c))
			}
		}
	}
}

// An entry takes a request for each edge on the way, whatever the tree, and the privilege: over each edge
// back by Raymond's algorithm, and in one message by that of Neilsen and Mizuno, so at most 3 on a star.
func TestEntriesCostTheDistance(t *testing.T) {
	for _, tree := range treeOption.Values {
		for _, n := range []int{1, 2, 3, 4, 7, 12} {
			c := nodes.Config{N: n}.With("tree", tree)
			for algo, back := range map[*algorithm.Algorithm]func(way int) int{
				&raymondAlgorithm:       func(way int) int { return way },
				&neilsenMizunoAlgorithm: func(way int) int { return min(way, 1) },
			} {
				holder := nodes.ID(0)
				for i, e := range singleEntries(t, algo, c, 20*n*n) {
					way := distance(tree, holder, e.node)
					want := way + back(way)
					if e.messages != want || tree == starTree && algo == &neilsenMizunoAlgorithm && want > 3 {
						t.Fatalf("%s, %s of %d, entry %d: from %d to %d takes %d messages, want %d", algo.Name, tree, n, i,
							holder, e.node, e.messages, want)
					}
					holder = e.node
				}
			}
		}
	}
}
