package check

import (
	"testing"

	"turnstile/nodes/history"
	"turnstile/nodes/workload"
)

// printing returns a run of two clients that print and are inside together, or one after the other. At each
// exit a client finds so many of its five lines mixed with others.
func printing(together bool, mixed int) *world {
	return made(func(w *world) {
		w.Work = workload.Printer
		if together {
			w.together()
		}
		w.eventsOf(history.Exited, func(e *history.Event) { e.Work(5, mixed) })
	})()
}

var workMutants = []mutant{
	{"mixed lines", func() *world { return printing(true, 4) }, "work", Violated, Violated,
		"20 lines printed, 16 of them mixed with those of another document"},
	{"mixed lines that the register denies", func() *world { return printing(false, 4) },
		"witnesses", Inconclusive, Inconclusive, "lines printed, 8 of them mixed"},
	{"a document of two lines", made(func(w *world) {
		w.Work = workload.Printer
		w.eventsOf(history.Exited, func(e *history.Event) { e.Work(2, 0) })
	}), "accounting", Inconclusive, Inconclusive, "leaves with its work undone"},
	{"a share that is taken twice", made(func(w *world) {
		w.Work = workload.Shares
		w.together()
	}), "work", Violated, Violated, "1 of them taken before"},
}

// What clients do inside is judged where they do more than to write the account.
func TestWorkThatNobodySpoils(t *testing.T) {
	if f := finding(t, printing(false, 0).judge(), "work"); f.Outcome != Valid {
		t.Errorf("%+v", f)
	}
	for _, f := range measuring().judge().Findings {
		if f.Check == "work" {
			t.Errorf("%+v", f)
		}
	}
}
