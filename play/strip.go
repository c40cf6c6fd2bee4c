package play

import (
	"cmp"
	"slices"

	"turnstile/nodes"
	"turnstile/nodes/history"
)

// shownSteps is how many of the latest steps a strip shows.
const shownSteps = 60

// A Stretch is a time, in steps, in which a node waited, was inside, led, was down or paused, or in which a
// fault of the network was in force.
type Stretch struct {
	Node int    `json:"node"` // of a fault: its number, negated
	What string `json:"what"` // waiting, inside, leads, down, paused, fault
	From int    `json:"from"`
	To   *int   `json:"to"` // nil: it still does
}

// A stripper makes a strip of the events of a history.
type stripper struct {
	open   []Stretch
	over   []Stretch
	counts Counts
}

// strip returns the stretches that overlap the steps from one on, and what has happened in all.
func (s *Session) strip(from int) ([]Stretch, Counts) {
	t, step := &stripper{}, 0
	for _, e := range s.stage.Events {
		for step < s.at && s.times[step] < e.At {
			step++
		}
		t.add(e, step)
	}
	return t.since(from), t.counts
}

// since returns the stretches that overlap the steps from one on.
func (t *stripper) since(from int) []Stretch {
	all := []Stretch{}
	for _, x := range slices.Concat(t.over, t.open) {
		if x.To == nil || *x.To >= from {
			all = append(all, x)
		}
	}
	slices.SortFunc(all, func(a, b Stretch) int {
		return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.From, b.From), cmp.Compare(a.What, b.What))
	})
	return all
}

// add adds an event of a step.
func (t *stripper) add(e history.Event, step int) {
	node := int(e.Node)
	switch e.Kind {
	case history.Requested:
		t.counts.Waits++
		t.begin(node, "waiting", step)
	case history.Entered:
		t.counts.Entries++
		t.end(node, "waiting", step)
		t.begin(node, "inside", step)
	case history.Exited, history.Revoked:
		t.end(node, "inside", step)
	case history.Elected:
		if nodes.ID(int32(e.Count)) == e.Node {
			t.begin(node, "leads", step)
		} else {
			t.end(node, "leads", step)
		}
	case history.Crashed:
		for _, what := range []string{"waiting", "inside", "leads", "paused"} {
			t.end(node, what, step)
		}
		t.begin(node, "down", step)
	case history.Restarted:
		t.end(node, "down", step)
	case history.Paused:
		t.begin(int(e.Count), "paused", step)
	case history.Resumed:
		t.end(int(e.Count), "paused", step)
	case history.FaultBegan:
		t.begin(-int(e.Count), "fault", step)
	case history.FaultHealed:
		t.end(-int(e.Count), "fault", step)
	}
}

// find returns the index of an open stretch, or -1.
func (t *stripper) find(node int, what string) int {
	return slices.IndexFunc(t.open, func(x Stretch) bool { return x.Node == node && x.What == what })
}

func (t *stripper) begin(node int, what string, step int) {
	if t.find(node, what) < 0 {
		t.open = append(t.open, Stretch{Node: node, What: what, From: step})
	}
}

func (t *stripper) end(node int, what string, step int) {
	at := t.find(node, what)
	if at < 0 {
		return
	}
	if what == "waiting" {
		t.counts.Waits--
	}
	x := t.open[at]
	x.To = &step
	t.open, t.over = slices.Delete(t.open, at, at+1), append(t.over, x)
}
