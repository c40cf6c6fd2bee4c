package check

import (
	"strings"
	"testing"

	"turnstile/nodes"
	"turnstile/nodes/history"
)

// cutOff returns a run of two nodes, changed by f, with a fault that loses a message.
func cutOff(f func(w *world)) func() *world {
	return func() *world {
		w := measuring()
		w.Setting.Faults = []Fault{{Text: "cut 0/1", OfLinks: true, Breaks: nodes.NoLoss}}
		w.add(nodes.None, history.Event{Kind: history.FaultBegan, Count: 1, Value: int64(nodes.NoLoss)})
		w.totals(0).Kind(0).Sent++
		w.totals(1).Dropped++
		w.turn(0)
		w.add(nodes.None, history.Event{Kind: history.FaultHealed, Count: 1, Value: 1})
		w.turn(1)
		w.end()
		f(w)
		return w
	}
}

func TestAFaultThatIsHealedIsValid(t *testing.T) {
	v := cutOff(func(*world) {})().judge()
	if f := finding(t, v, "faults"); v.Outcome != Valid || !strings.Contains(f.Says,
		"1 entry while it lasted") {
		t.Errorf("%v: %s; %s", v.Outcome, v.Reason, f.Says)
	}
}

// cutMutants are mutants of a run with a cut.
var cutMutants = []mutant{
	{"a fault that never began", cutOff(func(w *world) { w.forget(history.FaultBegan, 1) }),
		"faults", Inconclusive, Inconclusive, "it did not take place"},
	{"a fault that is not healed", cutOff(func(w *world) { w.forget(history.FaultHealed, 1) }),
		"faults", Inconclusive, Inconclusive, "cut 0/1: it was not healed"},
	{"a fault that hits nothing", cutOff(func(w *world) {
		w.eventsOf(history.FaultHealed, func(e *history.Event) { e.Value = 0 })
	}),
		"faults", Inconclusive, Inconclusive, "hit no message"},
	{"a fault after which nobody enters", cutOff(func(w *world) {
		w.eventsOf(history.FaultHealed, func(e *history.Event) { e.At = w.now })
	}), "faults", Inconclusive, Inconclusive, "nobody entered after it was healed"},
	{"a fault that nobody asked for", cutOff(func(w *world) {
		w.eventsOf(history.FaultBegan, func(e *history.Event) { e.Count = 2 })
	}), "faults", Inconclusive, Inconclusive, "a fault 2 in the history"},
}
