package mutex

import (
	"fmt"
	"slices"
	"time"

	"turnstile/algorithms/register"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

// How the nodes of the bakery read the variables of their peers.
//
// Along a tree, as D. W. Jones describes it, replies are merged on the way to the root, the node that reads.
// To take a number the root needs the highest of all, so a node tells its parent the highest that it knows;
// hands are merged likewise, since a raised one is 1 and any other is 0. While the root waits, it is told the
// lowest number that is not 0: if that is not ahead, nobody is. Each child tells of only one peer that is
// ahead or has its hand up. The root reads these peers alone until they no longer keep it waiting, and then
// all again: merged values hide others, so only a read of all can show that nobody is in the way.

// rereading is the cost of an algorithm that reads a variable again and again until it may go on. alone is
// the cost of a single request without others.
func rereading(formula string, alone int) algorithm.Cost {
	cost := always(formula, algorithm.Exactly(float64(alone)), algorithm.Unbounded(2))
	cost.Saturated = algorithm.Unbounded(float64(alone))
	cost.Any = cost.Saturated
	return cost
}

var (
	readsOption = nodes.Option{Name: "reads", Default: together,
		Values: []string{together, oneByOne, byTree, byLine},
		Usage:  "how a node reads the variables of its peers",
		Shows: []nodes.Shown{
			{Value: oneByOne, Than: together, Figure: "wait", Least: 2, Most: 10, N: 9, Load: "one"},
			{Value: byTree, Than: together, Figure: "wait", Least: 1.5, Most: 4, N: 9, Load: "one"},
			{Value: byLine, Figure: "read per entry", Least: 0, Most: 0, Load: "one"},
			{Value: byLine, Than: byTree, Figure: "wait", Least: 1.5, Most: 4, N: 9, Load: "one"},
		}}
	rereadOption = nodes.Option{Name: "reread", Default: "5ms",
		Usage: "how long a node waits before it reads again what keeps it waiting",
		Check: func(_ nodes.Config, value string) error {
			return algorithm.CheckTime(value, time.Microsecond, time.Hour, "5ms")
		},
		Shows: []nodes.Shown{{Value: "20ms", Than: "5ms", Figure: "messages per entry", Least: 0.1, Most: 0.7,
			Hold: 50 * time.Millisecond}}}
)

const (
	together = "together"   // a step reads all peers at once
	oneByOne = "one-by-one" // a node reads one peer after the other, in the order of their IDs
	byTree   = "tree"       // along a binary tree; values are merged on the way up
	byLine   = "line"       // along a line of nodes; values are merged as along a tree
)

// threeReads returns claims on the cost of single requests, which is the same however variables are read.
func threeReads(reads ...string) (claims []algorithm.Claim) {
	for _, value := range reads {
		claims = append(claims, algorithm.Claim{Figure: algorithm.MessagesPerEntry,
			Source: "Jones: three reads of each peer",
			Load:   "sequential", Options: map[string]string{readsOption.Name: value},
			Value: formula(func(n float64) float64 { return 6 * (n - 1) })})
	}
	return claims
}

// readsOfAll is the identity of an algorithm that reads at least so many variables of each peer for an
// entry.
func readsOfAll(variables int) algorithm.Identity {
	return counts(fmt.Sprintf("read + gather >= (%d(N-1)) entries", variables),
		func(c nodes.Config) int { return variables * peers(c) })
}

// first returns the peer that is read first if peers are read one by one; None: all are read at once.
func (b *bakery) first(env *nodes.Env) nodes.ID {
	if b.reads == oneByOne {
		return b.after(env, nodes.None)
	}
	return nodes.None
}

// after returns the peer after another, or None.
func (b *bakery) after(env *nodes.Env, id nodes.ID) nodes.ID {
	if id++; id == env.Self() {
		id++
	}
	if int(id) >= env.N() {
		return nodes.None
	}
	return id
}

// trees are the shapes of trees along which variables are read.
var trees = map[string]string{byTree: binaryTree, byLine: lineTree}

// tree returns the shape of the tree along which variables are read; empty: no tree.
func (b *bakery) tree() string { return trees[b.reads] }

// readAll reads the variables of all.
func (b *bakery) readAll(env *nodes.Env) {
	b.asked, b.some = nodes.None, false
	if tree := b.tree(); tree != "" {
		children := below(tree, env.N(), env.Self(), env.Self())
		b.client.Gather(env, b.variable(), b.step == bakeryWaits, children)
		return
	}
	if !slices.ContainsFunc(b.silent, func(tries uint32) bool { return tries > b.giveUp }) {
		b.client.ReadAll(env, b.variable())
		return
	}
	for id := range env.N() {
		if nodes.ID(id) != env.Self() {
			b.read(env, nodes.ID(id))
		}
	}
}

// merge handles a message of a read along a tree.
func (b *bakery) merge(env *nodes.Env, from nodes.ID, m nodes.Message) {
	root := env.Self()
	switch m := m.(type) {
	case register.Gather:
		root = m.Root
	case register.Merged:
		if root = m.Root; root == env.Self() {
			if value, awaited := b.client.Take(from, m); awaited {
				b.see(env, m.Of, value)
			}
			return
		}
	}
	b.merges.Serve(env, from, m, &b.own, below(b.tree(), env.N(), root, env.Self()))
}
