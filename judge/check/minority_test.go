package check

import (
	"slices"
	"testing"

	"turnstile/nodes"
	"turnstile/nodes/history"
)

// cutApart returns a run of two nodes that are cut off from each other. During the cut node 0 enters under a
// fence number of the next epoch; if before is set, node 1 enters before that, in the first epoch.
func cutApart(keeps, before bool) func() *world {
	return func() *world {
		w := measuring()
		w.Minority, w.Keeps = 1000, keeps
		w.Epoch = func(fence uint64) uint64 { return fence >> 8 }
		w.Setting.Faults = []Fault{{Text: "cut 0/1", OfLinks: true, Breaks: nodes.NoLoss,
			Separates: func(a, b, _ nodes.ID) bool { return a != b }}}
		w.add(nodes.None, history.Event{Kind: history.FaultBegan, Count: 1, Value: int64(nodes.NoLoss)})
		w.totals(0).Kind(0).Sent++
		w.totals(1).Dropped++
		if before {
			w.turn(1)
		}
		w.turn(0)
		events := w.log(0).Events
		for i := len(events) - 1; i >= 0; i-- {
			if events[i].Kind == history.Entered {
				events[i].Fence = 1 << 8
				break
			}
		}
		w.add(nodes.None, history.Event{Kind: history.FaultHealed, Count: 1, Value: 1})
		w.turn(1)
		w.end()
		return w
	}
}

// minorityMutants are the mutants of some other files, and runs in which a minority wrongly lets a client in.
var minorityMutants = slices.Concat(cutMutants, fenceMutants, doubtMutants, []mutant{
	{"a client enters in a minority", cutApart(false, false), "minority", Violated, Violated,
		"node 0, without a majority for"},
	{"an epoch begins in a minority", cutApart(true, true), "minority", Violated, Violated,
		", entered in an epoch that began meanwhile; it should stop"},
})

// An entry in a minority is counted. It is no violation if nothing is promised, if the epoch may have begun
// before the cut, soon after the cut, or if a clock was wrong. Without a cut there is no minority.
func TestWhatAMinorityMayDo(t *testing.T) {
	for name, test := range map[string]struct {
		world   func() *world
		change  func(*world)
		entries uint64
	}{
		"nothing is promised":           {cutApart(false, false), func(w *world) { w.Minority = 0 }, 1},
		"the epoch may be an older one": {cutApart(true, false), func(*world) {}, 1},
		"it is soon after the cut":      {cutApart(false, false), func(w *world) { w.Minority = 1 << 40 }, 1},
		"a clock was wrong": {cutApart(false, false), func(w *world) {
			w.add(nodes.None, history.Event{Kind: history.AssumptionBroken, Value: int64(nodes.Timing)})
			last := &w.log(nodes.None).Events
			(*last)[len(*last)-1].At = 1
		}, 1},
		"they are no minority": {cutApart(false, false), func(w *world) { w.Setting.Faults[0].Separates = nil }, 0},
	} {
		w := test.world()
		test.change(w)
		v := w.judge()
		f := finding(t, v, "minority")
		if v.EntriesInMinority != test.entries || f.Outcome == Violated && !f.OutsideModel {
			t.Errorf("%s: %d entries: %v, %s", name, v.EntriesInMinority, f.Outcome, f.Says)
		}
	}
}
