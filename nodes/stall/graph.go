package stall

import (
	"cmp"
	"slices"
	"strings"

	"turnstile/nodes"
)

// A graph is the wait-for graph of a cluster, as the states of its nodes.
type graph []*nodes.NodeStatus

// wait returns the wait of a node for the ith of the nodes that it waits for. It returns false if that node
// has lent its permission to the waiting node itself.
func (g graph) wait(from nodes.ID, i int) (w Wait, is bool) {
	peer := g[from].WaitsFor[i]
	w = Wait{from, peer, nodes.None}
	if p := g[peer]; p != nil && p.LentTo != nil {
		w = Wait{from, *p.LentTo, peer}
	}
	return w, w.To != from
}

// degree returns how many nodes a node waits for.
func (g graph) degree(id nodes.ID) int {
	if g[id] == nil {
		return 0
	}
	return len(g[id].WaitsFor)
}

// waits returns the waits of a node.
func (g graph) waits(id nodes.ID) (all []Wait) {
	for i := range g.degree(id) {
		if w, is := g.wait(id, i); is {
			all = append(all, w)
		}
	}
	return all
}

// size returns the number of all waits.
func (g graph) size() (count int) {
	for id := range g {
		for i := range g.degree(nodes.ID(id)) {
			if _, is := g.wait(nodes.ID(id), i); is {
				count++
			}
		}
	}
	return count
}

// circle returns the nodes of a cycle in the graph, or nil. It does not call itself for each node, since a
// chain of waits may be as long as the cluster is large.
func (g graph) circle() []nodes.ID {
	const fresh, onPath, done = 0, 1, 2
	color := make([]uint8, len(g))
	next := make([]int32, len(g)) // by node: which of its waits is followed next
	for id := range g {
		if color[id] != fresh {
			continue
		}
		color[id] = onPath
		for path := []nodes.ID{nodes.ID(id)}; len(path) > 0; {
			top := path[len(path)-1]
			if int(next[top]) == g.degree(top) {
				color[top], path = done, path[:len(path)-1]
				continue
			}
			w, is := g.wait(top, int(next[top]))
			next[top]++
			switch {
			case !is:
			case color[w.To] == onPath:
				return path[slices.Index(path, w.To):]
			case color[w.To] == fresh:
				color[w.To], path = onPath, append(path, w.To)
			}
		}
	}
	return nil
}

// listed returns the nodes that a report lists.
func (g graph) listed(circle []nodes.ID) []nodes.ID {
	var all []nodes.ID
	if len(g) <= Most {
		for id := range g {
			all = append(all, nodes.ID(id))
		}
		return all
	}
	all = slices.Clone(circle[:min(Most, len(circle))])
	var longest []nodes.ID
	inCircle := nodes.SetOf(circle...)
	for id, s := range g {
		switch id := nodes.ID(id); {
		case s == nil || inCircle.Has(id):
		case s.Client == nodes.Inside.String() || s.Token:
			all = append(all, id)
		case s.Client == nodes.Waiting.String():
			longest = g.insert(longest, id)
		}
	}
	all = append(all, longest...)
	return all[:min(Most, len(all))]
}

// insert puts a node into a list of the nodes that have waited longest, which has at most Most of them.
func (g graph) insert(longest []nodes.ID, id nodes.ID) []nodes.ID {
	at, _ := slices.BinarySearchFunc(longest, id, func(a, b nodes.ID) int {
		return cmp.Or(cmp.Compare(g[a].Since, g[b].Since), cmp.Compare(a, b))
	})
	longest = slices.Insert(longest, at, id)
	return longest[:min(Most, len(longest))]
}

// stored returns a state as a report has it: the report has the waits apart, and bounds the text of a large
// cluster.
func (g graph) stored(s *nodes.NodeStatus) *nodes.NodeStatus {
	if s == nil {
		return nil
	}
	kept := *s
	kept.WaitsFor = nil
	if len(g) > Most && len(s.Machine) > mostText {
		kept.Machine = strings.ToValidUTF8(s.Machine[:mostText], "") + "..."
	}
	return &kept
}
