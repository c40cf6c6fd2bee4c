package sim

import (
	"time"

	"turnstile/nodes"
	"turnstile/nodes/history"
)

// planMarks plans what is to be recorded, pauses included.
func (w *world) planMarks() {
	marks := w.Marks
	for _, p := range w.Pauses {
		note := history.Event{Kind: history.Paused, Count: uint32(p.Node), Node: nodes.None}
		marks = append(marks, Mark{p.At, note})
		note.Kind = history.Resumed
		marks = append(marks, Mark{p.At + p.For, note})
	}
	w.Marks = marks
	for i := range w.Marks {
		w.plan(int64(w.Marks[i].At), toMark, 0).input.Gen = uint32(i)
	}
}

// standsStill returns when an event is to happen instead if its node stands still; else 0.
func (w *world) standsStill(e *event) (until int64) {
	if len(w.Pauses) == 0 || e.what > toTimeout { // what comes after is nothing that a node does
		return 0
	}
	for _, p := range w.Pauses {
		if since := time.Duration(w.now) - p.At; p.Node == e.to && 0 <= since && since < p.For {
			until = max(until, int64(p.At+p.For))
		}
	}
	return until
}
