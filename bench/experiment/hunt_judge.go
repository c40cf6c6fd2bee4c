package experiment

import (
	"fmt"
	"time"

	"turnstile/bench"
	"turnstile/judge/check"
	"turnstile/nodes"
	"turnstile/nodes/history"
)

// A HuntClass is what became of a plan.
type HuntClass string

// The classes. Busy is what would be a finding if the machine had not been late meanwhile: clients or servers
// may have stood still, which no event tells.
const (
	HuntValid        HuntClass = "valid"
	HuntOutside      HuntClass = "outside the model"
	HuntInconclusive HuntClass = "inconclusive"
	HuntBusy         HuntClass = "busy"
	HuntFinding      HuntClass = "finding"
)

// What a finding is about, beside the checks of a run.
const (
	huntEnded  = "ended"  // the run ended early: a client or a program of ours died
	huntFences = "fences" // a lower fence number was handed out after a higher one
)

// late is by how much a sleep may be longer than asked for until a run counts as busy.
const late = 100 * time.Millisecond

// judgeHunt says what became of a run. slept is by how much sleeps beside it were too long at most.
func judgeHunt(r *bench.Run, made error, slept time.Duration) (class HuntClass, about, says string) {
	busy := func(about, says string) (HuntClass, string, string) {
		if slept > late {
			return HuntBusy, about, fmt.Sprintf("%s; the machine was %v late", says, slept.Round(time.Millisecond))
		}
		return HuntFinding, about, says
	}
	if r == nil || len(r.Trials) == 0 {
		return busy(huntEnded, fmt.Sprintf("it could not be made: %v", made))
	}
	t := r.Trials[0]
	if t.Trouble != "" {
		return busy(huntEnded, t.Trouble)
	}
	if f := worstInside(t, r.Record.Trials[0].Faults != nil); f != nil {
		if t.Row.CPUBound() && slept <= late {
			return HuntBusy, f.Check, f.Says + "; the processors were busy"
		}
		return busy(f.Check, f.Says)
	}
	if says := fellOf(r); says != "" && t.Verdict.Outcome != check.Violated {
		return classOfFall(brokenBy(r), r.Spec.SafeIn(r.Config)), huntFences, says
	}
	worst := t.Verdict.Worst()
	switch {
	case t.Verdict.Outcome == check.Valid:
		return HuntValid, "", ""
	case worst.OutsideModel:
		return HuntOutside, worst.Check, worst.Says
	case worst.Doubted: // mostly since processes waited for processors
		return HuntBusy, worst.Check, worst.Says
	}
	return HuntInconclusive, worst.Check, worst.Says
}

// worstInside returns what broke a promise though all held that it rests on, that nobody entered while a
// fault lasted that leaves all of that, or that nobody entered again after all faults were over; nil: nothing
// did. Data that was lost is no reason to let nobody in.
func worstInside(t *bench.Trial, faults bool) *check.Finding {
	for i := range t.Verdict.Findings {
		f := &t.Verdict.Findings[i]
		stalled := f.Expected && faults && f.Broken != 0 && f.Broken&^nodes.NoAmnesia == 0
		if f.Outcome == check.Violated && !f.OutsideModel || stalled || f.Idle {
			return f
		}
	}
	return nil
}

// classOfFall returns what a fence number that falls is, where faults broke some assumptions and the service
// rests on others. A service that lost its data may have lost the number as well.
func classOfFall(broken, rests nodes.Assumption) HuntClass {
	if broken&(rests|nodes.NoAmnesia) != 0 {
		return HuntOutside
	}
	return HuntFinding
}

// brokenBy returns what the faults of a run break.
func brokenBy(r *bench.Run) (broken nodes.Assumption) {
	for _, t := range r.Record.Trials {
		for i := range t.Faults {
			broken |= t.Faults[i].Breaks()
		}
	}
	return broken
}

// A fenceFold finds a fence number that falls.
type fenceFold struct {
	highest, by history.Event
	says        string
}

// Add implements history.Fold.
func (f *fenceFold) Add(e history.Event) {
	if e.Kind != history.Entered || e.Fence == 0 {
		return
	}
	if e.Fence < f.highest.Fence && f.says == "" {
		f.by = e
		f.says = fmt.Sprintf("node %d entered under the fence number %d, %v after node %d had entered under %d",
			e.Node, e.Fence, time.Duration(e.At-f.highest.At), f.highest.Node, f.highest.Fence)
	}
	if e.Fence > f.highest.Fence {
		f.highest = e
	}
}

// Close implements history.Fold.
func (f *fenceFold) Close([]*history.NodeLog) {}

// fellOf says which fence number of a run fell, if one did; empty also if its history cannot be read.
func fellOf(r *bench.Run) string {
	reader, err := r.Folder.History(1)
	if err != nil {
		return ""
	}
	defer reader.Close()
	f := &fenceFold{}
	if reader.Run(f) != nil {
		return ""
	}
	return f.says
}
