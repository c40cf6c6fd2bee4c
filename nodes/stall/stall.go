// Package stall reports why a cluster makes no progress: the wait-for graph, and the status of its nodes.
package stall

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"turnstile/internal/english"
	"turnstile/nodes"
)

// A Report says why a cluster makes no progress.
type Report struct {
	Instance string     `yaml:"instance,omitempty"` // number and name of the instance; empty: the first instance
	Clients  int        `yaml:"clients"`            // how many nodes have clients; the rest are servers
	Waits    []Wait     `yaml:"waits,flow,omitempty"`
	Circle   []nodes.ID `yaml:"circle,flow,omitempty"` // a cycle of waits, the first node again at the end

	States []*nodes.NodeStatus `yaml:"states"` // by node; nil: the node did not answer
}

// A Wait is an edge of the wait-for graph: From waits for To, either directly (By: None) or because To has
// the permission of the node By.
type Wait struct {
	From nodes.ID `yaml:"from"`
	To   nodes.ID `yaml:"to"`
	By   nodes.ID `yaml:"by"`
}

// Of returns the report of a cluster, given the states of its nodes. A state is nil if the node did not
// answer. The first n nodes have clients.
func Of(states []*nodes.NodeStatus, n int) Report {
	graph := waitsFor(states)
	r := Report{Clients: n, Circle: findCycle(graph, len(states)), States: states}
	for id := range nodes.ID(len(states)) {
		r.Waits = append(r.Waits, graph[id]...)
	}
	return r
}

// String prints the report.
func (r Report) String() string { return r.Short(math.MaxInt, "") }

// Short is like String, with a limit for waits and for states; the text where says where the rest is.
func (r Report) Short(most int, where string) string {
	var b strings.Builder
	line := func(i, all int, format string, args ...any) {
		switch {
		case i < most:
			fmt.Fprintf(&b, "  "+format+"\n", args...)
		case i == most:
			fmt.Fprintf(&b, "  and %s more: see %s\n", english.Thousands(float64(all-most)), where)
		}
	}
	if r.Instance != "" {
		fmt.Fprintf(&b, "\nInstance %s:\n", r.Instance)
	}
	fmt.Fprint(&b, r.InCircle(), "Who waits for whom:\n")
	if len(r.Waits) == 0 {
		line(0, 1, "no node says what it waits for")
	}
	for i, w := range r.Waits {
		line(i, len(r.Waits), "%v", w)
	}
	b.WriteString("The state of each node:\n")
	for id := range r.States {
		line(id, len(r.States), "%s: %s", r.Name(id), r.State(id))
	}
	return b.String()
}

// InCircle returns the line that names the nodes of the circle; empty if there is no circle.
func (r Report) InCircle() string {
	var ids []string
	for _, id := range r.Circle {
		ids = append(ids, fmt.Sprint(id))
	}
	if len(ids) == 0 {
		return ""
	}
	return "They wait in a circle: " + strings.Join(ids, " -> ") + "\n"
}

// Name returns the name of a node: node 0, or server 5.
func (r Report) Name(id int) string {
	if id < r.Clients {
		return fmt.Sprintf("node %d", id)
	}
	return fmt.Sprintf("server %d", id)
}

// State describes the state of a node.
func (r Report) State(id int) string {
	s := r.States[id]
	if s == nil {
		return "does not answer"
	}
	says := ""
	if s.Standing != "" {
		says = ", " + s.Standing
	}
	if s.Token {
		says += ", has the token"
	}
	return fmt.Sprintf("client %s%s; %s", s.Client, says, s.Machine)
}

// Reports are the reports of a run, one for each instance; empty: the run did not stall.
type Reports []Report

// String prints the reports, one after the other.
func (r Reports) String() string { return r.Short(math.MaxInt, "") }

// Short is like String, but limits the waits and the states of each report; where says where the rest is.
func (r Reports) Short(most int, where string) string {
	var b strings.Builder
	for _, one := range r {
		b.WriteString(one.Short(most, where))
	}
	return b.String()
}

func (w Wait) String() string {
	if w.By == nodes.None {
		return fmt.Sprintf("%d -> %d", w.From, w.To)
	}
	return fmt.Sprintf("%d -> %d (which has the permission of %d)", w.From, w.To, w.By)
}

// waitsFor returns the edges of the wait-for graph, by the node that waits.
func waitsFor(states []*nodes.NodeStatus) map[nodes.ID][]Wait {
	graph := map[nodes.ID][]Wait{}
	for id, s := range states {
		if s == nil {
			continue
		}
		from := nodes.ID(id)
		for _, peer := range s.WaitsFor {
			w := Wait{from, peer, nodes.None}
			if p := states[peer]; p != nil && p.LentTo != nil {
				w = Wait{from, *p.LentTo, peer}
			}
			if w.To != from {
				graph[from] = append(graph[from], w)
			}
		}
	}
	return graph
}

// findCycle returns the nodes of a cycle in the graph, the first again at the end, or nil.
func findCycle(graph map[nodes.ID][]Wait, n int) []nodes.ID {
	const fresh, onPath, done = 0, 1, 2
	color := make([]int, n)
	var path []nodes.ID
	var visit func(id nodes.ID) []nodes.ID
	visit = func(id nodes.ID) []nodes.ID {
		color[id] = onPath
		path = append(path, id)
		for _, w := range graph[id] {
			switch color[w.To] {
			case onPath:
				return append(slices.Clone(path[slices.Index(path, w.To):]), w.To)
			case fresh:
				if cycle := visit(w.To); cycle != nil {
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
