package check

import (
	"strings"
	"testing"

	"turnstile/nodes"
	"turnstile/nodes/history"
)

// under has a node ask, and enter under a fence number.
func (w *world) under(id nodes.ID, fence uint64) {
	w.ask(id)
	w.enter(id)
	lastEvent(w.log(id)).Fence = fence
}

// visit has a node ask, enter under a fence number, and leave.
func (w *world) visit(id nodes.ID, fence uint64) {
	w.under(id, fence)
	w.exit(id)
}

// refused has a node leave, and the resource refuse what it writes.
func (w *world) refused(id nodes.ID) {
	account := w.account
	w.exit(id)
	w.account = account
	e := lastEvent(w.log(id))
	e.Value, e.Count = account, 1
}

// leasing returns a run of two nodes that enter under fence numbers, in which f happens while it is measured.
func leasing(f func(w *world)) func() *world {
	return func() *world {
		w := newWorld(2)
		w.Fenced, w.CostKnown, w.Identities = true, false, nil
		w.visit(0, 1)
		w.mark(history.Measuring)
		f(w)
		w.end()
		return w
	}
}

// late has node 0 stand still inside under the fence number 2. Meanwhile node 1 enters and leaves.
func late(w *world) {
	w.under(0, 2)
	w.visit(1, 3)
}

func TestFencesDecide(t *testing.T) {
	for _, test := range []struct {
		name     string
		run      func(w *world)
		overlaps uint64
	}{
		{"one after the other", func(w *world) { w.visit(1, 2); w.visit(0, 3) }, 0},
		{"the earlier is refused", func(w *world) { late(w); w.refused(0); w.visit(0, 4) }, 2},
		{"the earlier is refused before the later writes", func(w *world) {
			w.under(0, 2)
			w.under(1, 3)
			w.refused(0)
			w.exit(1)
		}, 2},
		{"the earlier is revoked", func(w *world) {
			late(w)
			w.exit(0)
			e := lastEvent(w.log(0))
			e.Kind, e.Value, w.account = history.Revoked, 2, 2
			w.visit(0, 4)
		}, 2},
		{"one that comes late is refused", func(w *world) {
			w.under(1, 3)
			w.under(0, 2)
			w.refused(0)
			w.exit(1)
		}, 2},
		{"written before the later entered, and stamped after it", func(w *world) {
			w.under(0, 2)
			w.under(1, 3)
			w.exit(0) // and node 1 stands still between its stamp and what it reads
			w.read[1] = w.account
			lastEvent(w.log(1)).Value = w.account
			w.exit(1)
		}, 2},
	} {
		w := leasing(test.run)()
		v := w.judge()
		if v.Outcome != Valid || v.Violations != test.overlaps || (v.Overlap > 0) != (test.overlaps > 0) {
			t.Errorf("%s: %v: %s; %d overlap", test.name, v.Outcome, v.Reason, v.Violations)
		}
		if w.Fenced = false; test.overlaps > 0 && w.judge().Outcome != Violated {
			t.Errorf("%s: without fences it is %v", test.name, w.judge().Outcome)
		}
	}
	says := finding(t, leasing(func(w *world) { late(w); w.refused(0) })().judge(), "exclusion").Says
	const want = "2 entries overlapped, for 1µs in all; it refused 1 write"
	if !strings.Contains(says, want) {
		t.Errorf("it says %q, not %q", says, want)
	}
}

// One client stands still inside while others enter and leave: the finding says for how long in all, which is
// longer than any pair was inside together.
func TestOverlapsSayTheirTotal(t *testing.T) {
	run := leasing(func(w *world) {
		w.under(0, 2)
		for range 3 {
			w.visit(1, 3)
		}
		w.exit(0)
	})()
	run.Fenced = false
	says := finding(t, run.judge(), "exclusion").Says
	const want = "4 entries overlapped, for 3µs in all: nodes 0 and 1 were inside together for 1.0 us"
	if says != want {
		t.Errorf("it says %q, not %q", says, want)
	}
}

const unfounded = "refused what node 0 wrote under the fence number 2, and nobody had"

var fenceMutants = []mutant{
	{"a write that should be refused", leasing(func(w *world) { late(w); w.exit(0) }),
		"exclusion", Violated, Violated,
		"accepted what node 0 wrote under the fence number 2, after node 1 had entered under 3"},
	{"the same, by the account", leasing(func(w *world) { late(w); w.exit(0) }),
		"account", Violated, Violated, "lost 1 update"},
	{"the later one writes nothing", leasing(func(w *world) {
		w.under(0, 2)
		w.under(1, 3)
		w.exit(0)
		w.exit(1)
		e := lastEvent(w.log(1))
		e.Kind = history.Revoked
	}), "exclusion", Violated, Violated, "accepted what node 0 wrote"},
	{"a write of one that comes late", leasing(func(w *world) {
		w.visit(1, 3)
		w.visit(0, 2)
	}), "exclusion", Violated, Violated, "wrote under the fence number 2, after node 1 had entered under 3"},
	{"a number that is handed out twice", leasing(func(w *world) {
		w.visit(1, 2)
		w.visit(0, 2)
	}), "exclusion", Violated, Violated, "wrote under the fence number 2, after node 1 had entered under 2"},
	{"an entry without a number", leasing(func(w *world) { late(w); w.refused(0); w.visit(1, 0) }),
		"exclusion", Violated, Violated, "2 entries overlapped"},
	{"a refusal without a reason", leasing(func(w *world) { w.under(0, 2); w.refused(0); w.visit(0, 3) }),
		"witnesses", Inconclusive, Inconclusive, unfounded},
	{"a refusal at the end without a reason", leasing(func(w *world) { w.under(0, 2); w.refused(0) }),
		"witnesses", Inconclusive, Inconclusive, unfounded},
	{"several units, which fences do not judge", leasing(func(w *world) {
		w.Config.Units = 2
		w.under(0, 2)
		w.under(1, 3)
		w.ask(0)
		w.enter(0)
		w.exit(0)
		w.exit(1)
	}), "register", Violated, Violated, "counted 3 inside"},
}

// serving returns a run of three clients of a resource of two units, which take rounds one after the other
// or, with together, two at a time.
func serving(fills, together bool) *world {
	w := newWorld(3)
	w.Config.Units, w.CostKnown, w.Identities, w.Fills = 2, false, nil, fills
	w.mark(history.Measuring)
	for range 3 {
		for id := range nodes.ID(3) {
			w.ask(id)
		}
		for id := range nodes.ID(3) {
			w.enter(id)
			if together && id == 0 {
				continue
			}
			w.exit(id)
			if together && id == 1 {
				w.exit(0)
			}
		}
	}
	w.end()
	return w
}

var capacityMutants = []mutant{
	{"a unit that nobody gets", func() *world { return serving(true, false) }, "capacity", Violated, Violated,
		"no more than 1 of 2 units were taken at once in 9 entries"},
}

// The register shows whether all units were taken. If the load does not demand all of them, a free unit shows
// nothing. A resource of one unit is not judged.
func TestAllUnitsAreTaken(t *testing.T) {
	for name, c := range map[string]struct {
		w         *world
		outcome   Outcome
		notJudged bool
		says      string
	}{
		"reached":                  {serving(true, true), Valid, false, "all units were taken"},
		"reached, not demanded":    {serving(false, true), Valid, false, "all units were taken"},
		"not reached nor demanded": {serving(false, false), Valid, true, "does not demand all"},
	} {
		f := finding(t, c.w.judge(), "capacity")
		if f.Outcome != c.outcome || f.NotJudged != c.notJudged || !strings.Contains(f.Says, c.says) {
			t.Errorf("%s: %+v", name, f)
		}
	}
	for _, f := range measuring().judge().Findings {
		if f.Check == "capacity" {
			t.Errorf("of a resource of one unit: %+v", f)
		}
	}
}
