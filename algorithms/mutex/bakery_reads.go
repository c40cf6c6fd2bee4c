package mutex

import (
	"fmt"
	"slices"
	"time"

	"turnstile/algorithms/register"
	"turnstile/nodes"
	"turnstile/nodes/row"
)

// How the nodes of the bakery read the variables of their peers.
//
// Along a tree, as D. W. Jones has it, replies are merged on the way to the root, who reads. It takes the
// highest number of all, so a node tells its parent the highest of those that it knows; of hands likewise,
// where one that is raised is higher. While it waits for those ahead, it is told the lowest number that is
// not 0: if that one is not ahead, nobody is. Of whoever is ahead or has its hand up it is told one for each
// child. It reads the variables of these alone until they are not in its way, and those of all then: since
// what is merged says nothing of the others, a read finds nobody only if it finds all to be as they must be.

// rereading is the cost of an algorithm that reads a variable again and again until it may go on: alone it
// takes so many messages.
func rereading(formula string, alone int) row.Cost {
	cost := always(formula, row.Exactly(float64(alone)), row.Unbounded(2))
	cost.Saturated = row.Unbounded(float64(alone))
	cost.Any = cost.Saturated
	return cost
}

var (
	readsOption = nodes.Option{Name: "reads", Default: together,
		Values: []string{together, oneByOne, byTree, byLine},
		Usage:  "how a node reads the variables of its peers"}
	rereadOption = nodes.Option{Name: "reread", Default: "5ms",
		Usage: "how long a node waits before it reads again what keeps it waiting",
		Check: func(_ nodes.Config, value string) error {
			return row.CheckTime(value, time.Microsecond, time.Hour, "5ms")
		}}
)

const (
	together = "together"   // a step reads those of all at once
	oneByOne = "one-by-one" // in the order of their IDs
	byTree   = "tree"       // along a binary tree, on whose way up values are merged
	byLine   = "line"       // along a line, as along a tree
)

// threeReads claims the cost of single requests, however variables are read.
func threeReads(reads ...string) (claims []row.Claim) {
	for _, value := range reads {
		claims = append(claims, row.Claim{Figure: row.MessagesPerEntry, Source: "Jones: three reads of each peer",
			Load: "sequential", Options: map[string]string{readsOption.Name: value},
			Value: formula(func(n float64) float64 { return 6 * (n - 1) })})
	}
	return claims
}

// readsOfAll is the identity of an algorithm that reads so many variables of each peer for an entry, or more.
func readsOfAll(variables int) row.Identity {
	return counts(fmt.Sprintf("read + gather >= (%d(N-1)) entries", variables),
		func(c nodes.Config) int { return variables * peers(c) })
}

// first returns the peer that is read first, if they are read one by one.
func (b *bakery) first(env *nodes.Env) nodes.ID {
	if b.reads == oneByOne {
		return b.after(env, nodes.None)
	}
	return nodes.None
}

// after returns the peer after another; None: there is none.
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

// tree returns the shape of the tree along which variables are read; empty: along none.
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

// merge receives a message of a read along a tree.
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
