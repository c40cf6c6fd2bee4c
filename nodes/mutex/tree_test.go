package mutex

import (
	"math"
	"testing"

	"turnstile/nodes"
)

// distance is how many edges apart two nodes are.
func distance(c nodes.Config, a, b nodes.ID) int {
	steps := 0
	for a != b { // the parent of a node has the lower number
		if a < b {
			a, b = b, a
		}
		a = parent(c.Value(treeOption), a)
		steps++
	}
	return steps
}

// costs lets nodes enter one after another, with all at rest in between, and returns how many messages each
// entry took.
func costs(t *testing.T, row *nodes.Spec, c nodes.Config, who []nodes.ID) []int {
	t.Helper()
	k := newCluster(row, c, options{})
	if err := k.start(); err != nil {
		t.Fatal(err)
	}
	var all []int
	for _, id := range who {
		before := k.total
		if err := k.handle(id, nodes.Input{Kind: nodes.Request}); err != nil {
			t.Fatal(err)
		}
		if err := k.rest(); err != nil {
			t.Fatal(err)
		}
		all = append(all, int(k.total-before))
	}
	return all
}

// walk returns an order of entries in which each node follows each, itself included, equally often.
func walk(n int) (who []nodes.ID) {
	for a := range nodes.ID(n) {
		for b := range nodes.ID(n) {
			who = append(who, a, b)
		}
	}
	return who
}

// An entry of Raymond's algorithm takes a request and a privilege for each edge on the way.
func TestRaymondCostsTwiceTheDistance(t *testing.T) {
	row, err := Find("raymond")
	if err != nil {
		t.Fatal(err)
	}
	for _, tree := range []string{binaryTree, starTree, lineTree} {
		for _, n := range []int{1, 2, 3, 4, 7, 12} {
			c := nodes.Config{N: n}.With("tree", tree)
			holder := nodes.ID(0)
			who := walk(n)
			for i, got := range costs(t, row, c, who) {
				if want := 2 * distance(c, holder, who[i]); got != want {
					t.Fatalf("%s of %d: from %d to %d takes %d messages, want %d", tree, n, holder, who[i], got, want)
				}
				holder = who[i]
			}
		}
	}
}

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
					d := 2 * distance(c, a, b)
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

// One request at a time, the fathers are all there is to Naimi-Trehel; over all nodes alike, an entry takes
// 1 + 1/2 + ... + 1/(n-1) messages on average.
func TestNaimiTrehelCostsTheHarmonicNumber(t *testing.T) {
	row, err := Find("naimi-trehel")
	if err != nil {
		t.Fatal(err)
	}
	for n, want := range map[int]float64{1: 0, 2: 1, 4: 1.8333, 5: 2.0833, 9: 2.7179, 16: 3.3182, 32: 4.0272} {
		k := newCluster(row, nodes.Config{N: n}, options{seed: 1})
		var who []nodes.ID
		for range 20_000 {
			who = append(who, nodes.ID(k.rng.IntN(n)))
		}
		father := make([]nodes.ID, n)
		root := nodes.ID(0)
		sum := 0
		for i, got := range costs(t, row, k.c, who) {
			hops := 0
			for at := who[i]; at != root; hops++ {
				at, father[at] = father[at], who[i]
			}
			if hops > 0 {
				hops++ // the token
			}
			father[root] = who[i]
			root = who[i]
			if got != hops {
				t.Fatalf("%d nodes: entry %d takes %d messages, want %d", n, i, got, hops)
			}
			sum += got
		}
		if mean := float64(sum) / float64(len(who)); math.Abs(mean-want) > 0.05 {
			t.Errorf("%d nodes: %v messages on average, want %v", n, mean, want)
		}
	}
}
