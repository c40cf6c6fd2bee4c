// Package stall reports why a cluster makes no progress: the wait-for graph, and the status of its nodes.
package stall

import (
	"fmt"
	"slices"
	"strings"

	"turnstile/nodes"
)

// The headings of a report.
const (
	Waits  = "Who waits for whom:\n"
	States = "The state of each node:\n"
)

// Report returns who waits for whom, with a circle first if there is one, and then the status of the nodes. A
// status is nil if the node did not answer; the first n nodes have clients.
func Report(states []*nodes.NodeStatus, n int) string {
	var b strings.Builder
	graph := waitsFor(states)
	if cycle := findCycle(graph, len(states)); len(cycle) > 0 {
		ids := make([]string, len(cycle))
		for i, id := range cycle {
			ids[i] = fmt.Sprint(id)
		}
		fmt.Fprintf(&b, inCircle+"%s\n", strings.Join(ids, " -> "))
	}
	b.WriteString(Waits)
	if len(graph) == 0 {
		fmt.Fprintln(&b, "  nobody says for whom it waits")
	}
	for id := range nodes.ID(len(states)) {
		for _, e := range graph[id] {
			fmt.Fprintf(&b, "  %s\n", e)
		}
	}
	b.WriteString(States)
	for id, s := range states {
		name := fmt.Sprintf("node %d", id)
		if id >= n {
			name = fmt.Sprintf("server %d", id)
		}
		if s == nil {
			fmt.Fprintf(&b, "  %s: does not answer\n", name)
			continue
		}
		says := ""
		if s.Standing != "" {
			says = ", " + s.Standing
		}
		if s.Token {
			says += ", has the token"
		}
		fmt.Fprintf(&b, "  %s: client %s%s; %s\n", name, s.Client, says, s.Machine)
	}
	return b.String()
}

// A wait is an edge of the wait-for graph: from waits for to, either directly (by is None) or because to has
// the permission of the node by.
type wait struct{ from, to, by nodes.ID }

func (w wait) String() string {
	if w.by == nodes.None {
		return fmt.Sprintf("%d -> %d", w.from, w.to)
	}
	return fmt.Sprintf("%d -> %d (which has the permission of %d)", w.from, w.to, w.by)
}

// waitsFor returns the wait-for graph, by the node that waits.
func waitsFor(states []*nodes.NodeStatus) map[nodes.ID][]wait {
	graph := map[nodes.ID][]wait{}
	for id, s := range states {
		if s == nil {
			continue
		}
		from := nodes.ID(id)
		for _, peer := range s.WaitsFor {
			w := wait{from, peer, nodes.None}
			if p := states[peer]; p != nil && p.LentTo != nil {
				w = wait{from, *p.LentTo, peer}
			}
			if w.to != from {
				graph[from] = append(graph[from], w)
			}
		}
	}
	return graph
}

// findCycle returns the nodes of a cycle in the graph, the first again at the end, or nil.
func findCycle(graph map[nodes.ID][]wait, n int) []nodes.ID {
	const fresh, onPath, done = 0, 1, 2
	color := make([]int, n)
	var path []nodes.ID
	var visit func(id nodes.ID) []nodes.ID
	visit = func(id nodes.ID) []nodes.ID {
		color[id] = onPath
		path = append(path, id)
		for _, w := range graph[id] {
			switch color[w.to] {
			case onPath:
				return append(slices.Clone(path[slices.Index(path, w.to):]), w.to)
			case fresh:
				if cycle := visit(w.to); cycle != nil {
					return cycle
				}
			}
		}
		color[id] = done
		path = path[:len(path)-1]
		return nil
	}
	for id := range nodes.ID(n) {
		if color[id] == fresh {
			if cycle := visit(id); cycle != nil {
				return cycle
			}
		}
	}
	return nil
}
