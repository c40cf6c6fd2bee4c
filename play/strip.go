package play

import (
	"slices"

	"turnstile/nodes"
	"turnstile/nodes/history"
)

// shownSteps is how many of the latest steps a strip shows.
const shownSteps = 60

// A Stretch is a time, in steps, in which a node waited, was inside, led, was down or paused.
type Stretch struct {
	Node int    `json:"node"`
	What string `json:"what"` // waiting, inside, leads, down, paused
	From int    `json:"from"`
	To   *int   `json:"to"` // nil: it still does
}

// A stripper makes a strip of the events of a history.
type stripper struct {
	from   int
	open   map[[2]any]int // by node and what: the step in which the stretch began
	all    []Stretch
	counts Counts
}

// strip returns the stretches that overlap the steps from one on, and what has happened in all.
func (s *Session) strip(from int) ([]Stretch, Counts) {
	t := &stripper{from: from, open: map[[2]any]int{}, all: []Stretch{}}
	step := 0
	for _, e := range s.stage.Events {
		for step < s.at && s.times[step] < e.At {
			step++
		}
		t.add(e, step)
	}
	for key, began := range t.open {
		t.all = append(t.all, Stretch{key[0].(int), key[1].(string), began, nil})
	}
	slices.SortFunc(t.all, func(a, b Stretch) int {
		if a.Node != b.Node {
			return a.Node - b.Node
		}
		return a.From - b.From
	})
	return t.all, t.counts
}

// add adds an event of a step.
func (t *stripper) add(e history.Event, step int) {
	node := int(e.Node)
	switch e.Kind {
	case history.Requested:
		t.counts.Requests++
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
	}
}

func (t *stripper) begin(node int, what string, step int) {
	if _, open := t.open[[2]any{node, what}]; !open {
		t.open[[2]any{node, what}] = step
	}
}

func (t *stripper) end(node int, what string, step int) {
	key := [2]any{node, what}
	began, open := t.open[key]
	if !open {
		return
	}
	delete(t.open, key)
	if what == "waiting" {
		t.counts.Waits--
	}
	if step >= t.from {
		t.all = append(t.all, Stretch{node, what, began, &step})
	}
}
