package check

import (
	"strings"
	"testing"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/port"
)

// Of a fault that an algorithm promises to outlive, the longest stretch without an entry counts, and not
// whether anybody entered while it lasted: beyond the grace and twenty entries it shows nothing. That is so
// only if somebody waited whom the fault left alone, and nothing else was wrong.
func TestTheLongestStretchWithoutAnEntry(t *testing.T) {
	const grace = time.Millisecond
	copies := Fault{Text: "duplicate 20%", OfLinks: true, Breaks: nodes.NoDuplication}
	other := Fault{Text: "loss 5%", OfLinks: true, Breaks: nodes.NoLoss}
	cut := Fault{Text: "cut 0", OfLinks: true, Breaks: nodes.NoLoss,
		CutsOff: func(id, _ nodes.ID) bool { return id == 0 }}
	for _, x := range []struct {
		name   string
		faults []Fault
		safe   nodes.Assumption
		gap    time.Duration
		paused bool // who waits
		shows  bool
		alone  bool // a single entry came before
	}{
		{"after one entry", []Fault{copies}, 0, 2 * grace, false, true, true},
		{"within the grace", []Fault{copies}, 0, grace, false, true, false},
		{"beyond it", []Fault{copies}, 0, 2 * grace, false, false, false},
		{"of one that rests on it", []Fault{copies}, nodes.NoDuplication, 2 * grace, false, true, false},
		{"beside another fault", []Fault{copies, other}, 0, 2 * grace, false, true, false},
		{"who waits stands still", []Fault{copies}, 0, 2 * grace, true, true, false},
		{"who waits is cut off", []Fault{cut}, 0, 2 * grace, false, true, false},
	} {
		w := measuring()
		w.Safe, w.Grace, w.Faults, w.CostKnown, w.Identities = x.safe, grace, x.faults, false, nil
		if x.alone {
			w.ask(0)
			w.permission(0)
			w.enter(0)
			w.exit(0)
		}
		for i := 0; i < 3 && !x.alone; i++ {
			w.round()
		}
		for i, f := range x.faults {
			w.add(nodes.None, history.FaultEvent(port.FaultBeginning{Number: i + 1, Breaks: f.Breaks,
				Victim: nodes.None}))
		}
		if !x.alone {
			w.round()
		}
		w.ask(0)
		w.permission(0)
		if x.paused {
			w.add(nodes.None, history.Event{Kind: history.Paused, Count: 0})
		}
		w.now += int64(x.gap)
		if x.paused {
			w.add(nodes.None, history.Event{Kind: history.Resumed, Count: 0})
		}
		w.enter(0)
		w.exit(0)
		for i := range x.faults {
			w.add(nodes.None, history.Event{Kind: history.FaultHealed, Count: uint32(i + 1), Value: 3})
		}
		w.round()
		w.end()
		v := w.judge()
		f := finding(t, v, "faults")
		if (f.Outcome == Valid) != x.shows || !x.shows && !strings.Contains(f.Says, "nobody entered for 2") {
			t.Errorf("%s: %v: %s", x.name, f.Outcome, f.Says)
		}
	}
}
