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

// Bounds of a report, so that it stays small however large the cluster is. In clusters of up to Most nodes
// nothing is left out.
const (
	Most     = 60   // nodes that a report lists, waits of each, and nodes of a circle
	mostText = 1000 // bytes of the state of a machine
)

// A Report says why a cluster makes no progress.
type Report struct {
	Instance string     `yaml:"instance,omitempty"`    // number and name of the instance; empty: the first
	Clients  int        `yaml:"clients"`               // how many nodes have clients; the rest are servers
	Waits    []Wait     `yaml:"waits,flow,omitempty"`  // of the listed nodes
	Circle   []nodes.ID `yaml:"circle,flow,omitempty"` // a cycle of waits, the first node again at the end

	// Nodes are the listed nodes; empty: all, by number. Of more than Most nodes, a report lists nodes of the
	// circle, the nodes inside or with the token, and the nodes that have waited longest.
	Nodes   []nodes.ID          `yaml:"nodes,flow,omitempty"`
	States  []*nodes.NodeStatus `yaml:"states"` // of the listed nodes; nil: the node did not answer
	LeftOut LeftOut             `yaml:"left_out,omitempty"`
	Asked   []Asked             `yaml:"asked,omitempty"` // by nodes that do not say whom they wait for
}

// LeftOut counts what a report leaves out. The nodes of the circle are those before the last node of Circle.
type LeftOut struct {
	Nodes  int `yaml:"nodes,omitempty"`
	Waits  int `yaml:"waits,omitempty"`
	Circle int `yaml:"circle,omitempty"`
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
	return OfBrief(states, n, func(id nodes.ID) *nodes.NodeStatus { return states[id] })
}

// OfBrief is like Of, but the states may lack their texts (see [nodes.Node.Brief]). It calls whole for the
// states of the listed nodes.
func OfBrief(states []*nodes.NodeStatus, n int, whole func(nodes.ID) *nodes.NodeStatus) Report {
	g := graph(states)
	circle := g.circle()
	listed := g.listed(circle)
	r := Report{Clients: n, LeftOut: LeftOut{Nodes: len(states) - len(listed), Waits: g.size()}}
	if r.LeftOut.Nodes > 0 {
		r.Nodes = listed
	}
	for _, id := range listed {
		waits := g.waits(id)
		if at := slices.Index(circle, id); at >= 0 && len(waits) > Most {
			next := slices.IndexFunc(waits, func(w Wait) bool { return w.To == circle[(at+1)%len(circle)] })
			waits[0], waits[next] = waits[next], waits[0] // the wait of the circle is not left out
		}
		r.Waits = append(r.Waits, waits[:min(Most, len(waits))]...)
		r.States = append(r.States, g.stored(whole(id)))
	}
	r.LeftOut.Waits -= len(r.Waits)
	if more := len(circle) - Most; more > 0 {
		r.LeftOut.Circle, circle = more, circle[:Most]
	}
	if len(circle) > 0 {
		r.Circle = append(circle, circle[0])
	}
	return r
}

// String prints the report.
func (r Report) String() string { return r.Short(math.MaxInt, "") }

// Short is like String, with a limit for waits and for states; the text where says where the rest is.
func (r Report) Short(most int, where string) string {
	var b strings.Builder
	list := func(count, leftOut int, line func(i int) string) {
		few := min(count, most)
		for i := range few {
			fmt.Fprintf(&b, "  %s\n", line(i))
		}
		if more := count - few + leftOut; more > 0 {
			fmt.Fprintf(&b, "  and %s more", english.Thousands(float64(more)))
			if leftOut > 0 && count > few {
				fmt.Fprintf(&b, ", %d of them in %s", count-few, where)
			} else if count > few {
				fmt.Fprintf(&b, ": see %s", where)
			}
			b.WriteByte('\n')
		}
	}
	if r.Instance != "" {
		fmt.Fprintf(&b, "\nInstance %s:\n", r.Instance)
	}
	fmt.Fprint(&b, r.InCircle(), "Who waits for whom:\n")
	if len(r.Waits)+r.LeftOut.Waits+len(r.Asked) == 0 {
		b.WriteString("  no node says what it waits for\n")
	}
	list(len(r.Asked), 0, func(i int) string { return r.Asked[i].String() })
	list(len(r.Waits), r.LeftOut.Waits, func(i int) string { return r.Waits[i].String() })
	if r.LeftOut.Nodes > 0 {
		b.WriteString("The states of the circle, of nodes inside or with the token, and of the longest waits:\n")
	} else {
		b.WriteString("The state of each node:\n")
	}
	list(len(r.States), r.LeftOut.Nodes, func(i int) string { return r.Name(i) + ": " + r.State(i) })
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
	if more := r.LeftOut.Circle; more > 0 {
		ids[len(ids)-1] = fmt.Sprintf("%s more -> %s", english.Thousands(float64(more)), ids[0])
	}
	return "They wait in a circle: " + strings.Join(ids, " -> ") + "\n"
}

// Name returns the name of a listed node, given its place in the list: node 0, or server 5.
func (r Report) Name(i int) string {
	if len(r.Nodes) > 0 {
		i = int(r.Nodes[i])
	}
	if i < r.Clients {
		return fmt.Sprintf("node %d", i)
	}
	return fmt.Sprintf("server %d", i)
}

// State describes the state of a listed node, given its place in the list.
func (r Report) State(i int) string {
	s := r.States[i]
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

// StateOf describes the state of a node, which may be left out.
func (r Report) StateOf(id nodes.ID) string {
	at := int(id)
	if len(r.Nodes) > 0 {
		at = slices.Index(r.Nodes, id)
	}
	if at < 0 {
		return "its state is left out"
	}
	return r.State(at)
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
