//go:build linux

package bench

import (
	"slices"
	"testing"
	"time"

	"turnstile/chaos"
	"turnstile/internal/chance"
	"turnstile/judge/check"
	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/workload"
)

// planned is a fate that a plan brings about: clients hold for 5 ms and think for as long, until they have
// entered so often.
func planned(t *testing.T, algorithm string, entries uint64, texts ...string) (*Trial, *history.History) {
	t.Helper()
	return suffer(t, fate{algorithm: algorithm, change: func(o *Options) {
		o.Workload.Load, o.Workload.Think = workload.Closed, chance.Constant(5*time.Millisecond)
		o.Workload.Hold, o.Duration, o.Entries = chance.Constant(5*time.Millisecond), 0, entries
		for _, text := range texts {
			f, err := chaos.ParseFault(text)
			if err != nil {
				t.Fatal(err)
			}
			o.Faults = append(o.Faults, f)
		}
	}})
}

// sole returns the one event of a kind, that at a node if there are several.
func sole(t *testing.T, h *history.History, kind history.Kind, at nodes.ID) history.Event {
	t.Helper()
	for _, e := range h.Events {
		if e.Kind == kind && (at == nodes.None || e.Node == at) {
			return e
		}
	}
	t.Errorf("nothing is %v", kind)
	return history.Event{}
}

// A node that a moment has killed was killed then: its log says so, nothing follows, and whoever enters
// next is not suspected of having been inside with it.
func TestMomentsKill(t *testing.T) {
	for text, when := range map[string]history.Kind{
		"kill: holder, at: 50ms":                            history.Entered,
		"kill: holder, at: 50ms, for: 50ms":                 history.Entered,
		"kill: waiter, at: 50ms, for: 50ms":                 history.Requested,
		"kill: 2, at: 50ms, when: 2 exits, for: 50ms":       history.Exited,
		"kill: 2, at: 50ms, when: '2 enters #3', for: 50ms": history.Entered,
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			got, h := planned(t, "central", 60, text)
			explained(t, got, h)
			sound(t, h)
			began := sole(t, h, history.FaultBegan, nodes.None)
			crashed := sole(t, h, history.Crashed, nodes.None)
			killed := sole(t, h, history.Killed, crashed.Node)
			if killed.At > crashed.At || began.At > killed.At || began.Fence != 1 {
				t.Errorf("it began at %d, and the process was killed at %d and had ended at %d",
					began.At, killed.At, crashed.At)
			}
			var last history.Event // that the victim did
			for _, e := range h.Events {
				if e.Node == crashed.Node && e.Kind != history.Killed && e.At <= crashed.At &&
					e.Kind != history.Crashed {
					last = e
				}
			}
			if last.Kind != when || last.At >= killed.At {
				t.Errorf("the last that node %d did was %v at %d, and it was killed at %d", crashed.Node,
					last.Kind, last.At, killed.At)
			}
			for _, e := range h.Events {
				if e.Kind == history.Entered && e.Count > 1 {
					t.Errorf("the register says %d", e.Count)
				}
			}
			if v := got.Verdict; v.Outcome == check.Violated && !v.OutsideModel ||
				got.Verdict.Violations > 0 {
				t.Errorf("%v: %s", v.Outcome, v.Reason)
			}
		})
	}
}

// A node stops itself where its moment comes, and goes on when the fault is healed.
func TestMomentsPause(t *testing.T) {
	for text, when := range map[string]history.Kind{
		"pause: holder, at: 50ms, for: 50ms":           history.Entered,
		"pause: 1, at: 50ms, when: 1 exits, for: 50ms": history.Exited,
	} {
		t.Run(text, func(t *testing.T) {
			// not in parallel: runs in one process share what they notice
			got, h := planned(t, "central", 60, text)
			if got.Verdict.Outcome != check.Valid {
				t.Errorf("%v: %s", got.Verdict.Outcome, got.Verdict.Reason)
			}
			began, healed := sole(t, h, history.FaultBegan, nodes.None), sole(t, h, history.FaultHealed,
				nodes.None)
			paused := sole(t, h, history.Paused, nodes.None)
			var last history.Event
			for _, e := range h.Events {
				switch {
				case e.Node != nodes.ID(paused.Count):
				case e.At <= began.At:
					last = e
				case e.At < healed.At:
					t.Errorf("while it stands still, node %d does this: %v", e.Node, e.Kind)
				}
			}
			if last.Kind != when {
				t.Errorf("the last that node %d did was %v", paused.Count, last.Kind)
			}
		})
	}
}

// A moment that several nodes may see, or at which two faults begin: each is carried out once.
func TestMomentsComeOnce(t *testing.T) {
	t.Parallel()
	for _, faults := range [][]string{
		{"kill: holder, at: 50ms, for: 50ms", "pause: holder, at: 50ms, for: 50ms"},
		{"kill: 3, at: 50ms, when: any requests, for: 100ms"}, // it may stop all: nobody gets its grant
	} {
		got, h := planned(t, "central", 60, faults...)
		explained(t, got, h)
		count := map[uint32]int{}
		for _, e := range h.Events {
			if e.Kind == history.FaultBegan {
				count[e.Count]++
			}
		}
		for i := range faults {
			if count[uint32(i+1)] != 1 {
				t.Errorf("%s: the faults began so often: %v", faults, count)
			}
		}
	}
}

// A clock that is set ahead has the timers of a machine run out sooner, and one that runs slowly later.
func TestClocksOfProcesses(t *testing.T) {
	t.Parallel()
	got, h := planned(t, "alarmed", 100, "clock: 1, rate: 0.1, at: 50ms, for: 340ms",
		"clock: 2, by: 1h, at: 50ms")
	if got.Verdict.Outcome != check.Violated { // nobody keeps anybody out
		t.Errorf("%v: %s", got.Verdict.Outcome, got.Verdict.Reason)
	}
	began := sole(t, h, history.FaultBegan, nodes.None)
	since := map[nodes.ID]int64{}
	var slow, right []time.Duration
	for _, e := range h.Events {
		switch wait := time.Duration(e.At - since[e.Node]); {
		case e.Kind == history.Requested:
			since[e.Node] = e.At
		case e.Kind == history.Entered && e.Node == 1 && since[1] > began.At+20e6 && e.At < began.At+300e6:
			slow = append(slow, wait)
		case e.Kind == history.Entered && e.Node == 0:
			right = append(right, wait)
		}
	}
	if len(slow) < 2 || slices.Min(slow) < 45*time.Millisecond || slices.Min(right) > 30*time.Millisecond {
		t.Errorf("waits while the clock runs at a tenth of the right rate: %v; others: %v", slow, right)
	}
}

// risingFences checks that a node that recovers goes on from the number that it has saved. It shows nothing
// if the machine was so busy that all entries came before the node was killed.
func risingFences(t *testing.T, h *history.History, recovers bool) {
	t.Helper()
	last, fell, back, entries, after := uint64(0), false, false, 0, 0
	for _, e := range h.Events {
		switch e.Kind {
		case history.Restarted:
			back = true
		case history.Entered:
			fell = fell || e.Fence <= last
			last = e.Fence
			entries++
			if back {
				after++
			}
		}
	}
	if after == 0 {
		t.Logf("none of %d entries came after the restart", entries)
	} else if fell == recovers || entries < 10 {
		t.Errorf("of %d entries, the numbers fell: %v", entries, fell)
	}
}
