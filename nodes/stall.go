package nodes

import (
	"fmt"
	"slices"
	"strings"
)

// A Standing is where a node stands, for the report of a stall.
type Standing struct {
	Client   string `json:"client"` // idle, waiting or inside
	Machine  string `json:"machine"`
	WaitsFor []ID   `json:"waits_for,omitempty"`
	LentTo   *ID    `json:"lent_to,omitempty"` // whose request its permission is lent to
	Token    bool   `json:"token,omitempty"`   // the token is here
}

// Standing describes where the first instance of the node stands.
func (n *Node) Standing() *Standing {
	inst := n.at(0)
	s := &Standing{Client: "none", Machine: Describe(inst.machine)}
	if int(n.id) < n.n {
		s.Client = inst.client.String()
	}
	if w, ok := inst.machine.(Waiter); ok && inst.client == Waiting {
		set := w.WaitsFor()
		for id := range set.All() {
			s.WaitsFor = append(s.WaitsFor, id)
		}
	}
	if l, ok := inst.machine.(Lender); ok {
		if to := l.LentTo(); to != None {
			s.LentTo = &to
		}
	}
	if t, ok := inst.machine.(TokenHolder); ok {
		s.Token = t.HasToken()
	}
	return s
}

// StallReport prints where the nodes stand and who waits for whom. A standing is nil if the node did not
// answer; the first n nodes have clients.
func StallReport(states []*Standing, n int) string {
	var b strings.Builder
	fmt.Fprintln(&b, "The state of each node:")
	for id, s := range states {
		name := fmt.Sprintf("node %d", id)
		if id >= n {
			name = fmt.Sprintf("server %d", id)
		}
		if s == nil {
			fmt.Fprintf(&b, "  %s: does not answer\n", name)
			continue
		}
		token := ""
		if s.Token {
			token = ", has the token"
		}
		fmt.Fprintf(&b, "  %s: client %s%s; %s\n", name, s.Client, token, s.Machine)
	}
	graph := waitsFor(states)
	fmt.Fprintln(&b, "Who waits for whom:")
	if len(graph) == 0 {
		fmt.Fprintln(&b, "  nobody says for whom it waits")
	}
	for id := range ID(len(states)) {
		for _, e := range graph[id] {
			fmt.Fprintf(&b, "  %s\n", e)
		}
	}
	if cycle := findCycle(graph, len(states)); len(cycle) > 0 {
		parts := make([]string, len(cycle))
		for i, id := range cycle {
			parts[i] = fmt.Sprint(id)
		}
		fmt.Fprintf(&b, "They wait in a circle: %s\n", strings.Join(parts, " -> "))
	}
	return b.String()
}

// A wait is an edge of the wait-for graph: from waits for to, if not by itself then at the node by,
// whose permission is lent to to.
type wait struct{ from, to, by ID }

func (w wait) String() string {
	if w.by == None {
		return fmt.Sprintf("%d -> %d", w.from, w.to)
	}
	return fmt.Sprintf("%d -> %d (which has the permission of %d)", w.from, w.to, w.by)
}

// waitsFor returns the wait-for graph, by the node that waits.
func waitsFor(states []*Standing) map[ID][]wait {
	graph := map[ID][]wait{}
	for id, s := range states {
		if s == nil {
			continue
		}
		from := ID(id)
		for _, peer := range s.WaitsFor {
			w := wait{from, peer, None}
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

// findCycle returns the nodes of a circle in the graph, the first again at the end, or nothing.
func findCycle(graph map[ID][]wait, n int) []ID {
	const fresh, onPath, done = 0, 1, 2
	color := make([]int, n)
	var path []ID
	var visit func(id ID) []ID
	visit = func(id ID) []ID {
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
	for id := range ID(n) {
		if color[id] == fresh {
			if cycle := visit(id); cycle != nil {
				return cycle
			}
		}
	}
	return nil
}
