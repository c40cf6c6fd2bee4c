package check

import (
	"strings"
	"testing"

	"turnstile/nodes"
	"turnstile/nodes/history"
)

func (w *world) broke(need nodes.Assumption) {
	w.add(nodes.None, history.Event{Kind: history.AssumptionBroken, Value: int64(need)})
}

func (w *world) crash(id nodes.ID) {
	w.broke(nodes.NoCrash)
	w.add(id, history.Event{Kind: history.Crashed})
}

func TestCrashEndsAStay(t *testing.T) {
	w := measuring()
	w.ask(0)
	w.ask(1)
	w.enter(0)
	w.crash(0)
	w.inside-- // the orchestrator takes node 0 out of the register
	w.enter(1)
	w.exit(1)
	w.end()
	v := w.judge()
	if v.Outcome != Valid || v.Unfinished != 0 {
		t.Errorf("%v: %s; %d unfinished", v.Outcome, v.Reason, v.Unfinished)
	}
}

func TestAbandonedRequestsAreNotMissed(t *testing.T) {
	w := measuring()
	w.turn(0)
	w.ask(1)
	w.crash(1)
	w.end()
	w.Expected = w.judge().Entries + 1
	if v := w.judge(); v.Outcome != Valid {
		t.Errorf("a request that was abandoned is missed: %s", v.Reason)
	}
	w.Expected++
	if v := w.judge(); v.Outcome != Inconclusive {
		t.Errorf("one that was never made is not: %v", v.Outcome)
	}
}

func TestWhatIsDueWhileDownIsNotMissed(t *testing.T) {
	w := measuring()
	w.Open = true
	w.turn(0)
	w.crash(0)
	w.unissued(0, w.now)
	w.end()
	if v := w.judge(); v.Outcome != Valid {
		t.Errorf("%v: %s", v.Outcome, v.Reason)
	}
	w = measuring()
	w.Open = true
	w.turn(0)
	due := w.now
	w.crash(0)
	w.unissued(0, due)
	w.crash(1)
	w.add(1, history.Event{Kind: history.Restarted})
	w.unissued(1, w.now)
	w.end()
	if v := w.judge(); v.Outcome != underLoaded || !strings.Contains(v.Reason, "only 1 of 3 ") {
		t.Errorf("%v: %s", v.Outcome, v.Reason)
	}
}

func TestTwoInsideAfterACrashIsStillFound(t *testing.T) {
	w := measuring()
	w.crash(0)
	w.together()
	w.end()
	if v := w.judge(); v.Outcome != Violated || v.OutsideModel {
		t.Errorf("%v, outside its model: %v", v.Outcome, v.OutsideModel)
	}
}

func TestWhatIsOutsideTheModel(t *testing.T) {
	for _, test := range []struct {
		name    string
		needs   nodes.Assumption
		broken  nodes.Assumption
		late    bool // broken after the failure
		outcome Outcome
		outside bool
	}{
		{"needed and broken", nodes.FIFO, nodes.FIFO, false, Violated, true},
		{"broken after", nodes.FIFO, nodes.FIFO, true, Violated, false},
		{"not needed", nodes.NoDuplication, nodes.FIFO, false, Violated, false},
		{"nothing broken", nodes.FIFO, 0, false, Violated, false},
	} {
		t.Run("exclusion, "+test.name, func(t *testing.T) {
			w := measuring()
			w.Safe = test.needs
			if !test.late {
				w.broke(test.broken)
			}
			w.together()
			if test.late {
				w.broke(test.broken)
			}
			w.end()
			v := w.judge()
			if v.Outcome != test.outcome || v.OutsideModel != test.outside {
				t.Errorf("%v, outside its model: %v: %s", v.Outcome, v.OutsideModel, v.Reason)
			}
			if test.outside && !strings.Contains(v.Reason, "(outside its model: the algorithm assumes "+
				"that messages of a link arrive in order, and some did not)") {
				t.Errorf("the reason is %q", v.Reason)
			}
		})
	}
	stall := func(live, broken nodes.Assumption) Verdict {
		w := measuring()
		w.turn(0)
		w.Live = live
		w.broke(broken)
		w.ask(1)
		w.mark(history.Stopped)
		w.mark(history.Stalled)
		return w.judge()
	}
	v := stall(nodes.NoLoss, nodes.NoLoss)
	if f := finding(t, v, "progress"); v.Outcome != Inconclusive || !f.OutsideModel || !f.Expected ||
		!strings.Contains(v.Reason, "blocked: the algorithm assumes that no message is lost, and one was") {
		t.Errorf("a stall outside its model is %v: %s", v.Outcome, v.Reason)
	}
	if v := stall(nodes.NoCrash, nodes.NoLoss); v.Outcome != Violated {
		t.Errorf("a stall that the model does not excuse is %v: %s", v.Outcome, v.Reason)
	}
}

// With faults, messages may be lost or copied, and costs may differ from the published ones; but the counts
// must still balance.
func TestFaultsAreBooked(t *testing.T) {
	faulty := func(dropped, copied uint64) Verdict {
		w := sound(3)
		w.totals(1).Kind(kindRequest).Sent += 2
		w.totals(2).Dropped, w.totals(2).Copied = dropped, copied
		w.broke(nodes.NoLoss)
		return w.judge()
	}
	if v := faulty(2, 0); v.Outcome != Valid {
		t.Errorf("two lost: %v: %s", v.Outcome, v.Reason)
	} else if !finding(t, v, "cost").NotJudged {
		t.Errorf("two lost: the cost is judged: %+v", finding(t, v, "cost"))
	}
	if v := faulty(3, 1); v.Outcome != Valid {
		t.Errorf("three lost and one added: %v: %s", v.Outcome, v.Reason)
	}
	if v := faulty(1, 0); finding(t, v, "accounting").Outcome != Inconclusive {
		t.Errorf("counts that disagree are %v", finding(t, v, "accounting").Outcome)
	}
}
