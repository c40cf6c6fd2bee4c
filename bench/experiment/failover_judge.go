package experiment

import (
	"context"
	"math"

	"turnstile/bench"
	"turnstile/internal/figure"
	"turnstile/judge/leadership"
	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/row"
	"turnstile/results"
)

// A FailoverRun is what came of one run of a case.
type FailoverRun struct {
	// NextS is the time, in seconds, from the beginning of the fault to the next entry or, of electors, to the
	// next leader. It is a lower bound if there was none until the fault was healed or the run ended.
	NextS  figure.Figure
	Why    string // it does not count; empty: it does
	Folder string
}

// judge adds a run to its case; nil: it was not made. The error is that of ctx.
func (c *FailoverCase) judge(ctx context.Context, folder *results.Folder) error {
	if folder == nil {
		return nil
	}
	if record, err := bench.ReadRecord(folder); err == nil && record.CutShort() {
		return nil // it is made again
	}
	r := &FailoverRun{Folder: folder.Ref()}
	run, err := bench.Reopen(ctx, folder)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		r.Why = err.Error()
	} else {
		r.read(run, studyOf(c.Subject.Spec))
	}
	if r.Why == "" {
		c.Runs = append(c.Runs, r)
	} else {
		c.LeftOut = append(c.LeftOut, r)
	}
	return nil
}

// read reads what the run shows.
func (r *FailoverRun) read(run *bench.Run, of *study) {
	t := run.Trials[0]
	switch shown, says := t.Verdict.Shown(); {
	case t.Trouble != "":
		r.Why = t.Trouble
	case shown == 0 && !t.Verdict.Idle(), shown == row.Unhit:
		r.Why = says
	case len(t.Faults) != 1:
		r.Why = "the fault never came"
	default:
		r.NextS, r.Why = of.next(run, t)
	}
	if r.Why != "" {
		return
	}
	f := &t.Faults[0]
	r.NextS = untilHealed(r.NextS, f)
	if !r.NextS.Known() {
		r.Why = "it is not known who came next"
	}
}

// untilHealed returns the time since a fault began as a lower bound if it ended only after the fault was
// healed: then it was the heal that ended it.
func untilHealed(next figure.Figure, f *results.FaultRow) figure.Figure {
	x, known := next.Value()
	from, is := f.FromS.Value()
	to, was := f.ToS.Value()
	if known && f.Healed && is && was && x >= to-from {
		return figure.AtLeast(to - from)
	}
	return next
}

// nextEntry returns the time from the beginning of the fault to the next entry, given that a client was
// inside when it began: the victim, if it is a client.
func nextEntry(run *bench.Run, t *bench.Trial) (next figure.Figure, why string) {
	h, err := run.Folder.History(t.Number)
	if err != nil {
		return next, err.Error()
	}
	defer h.Close()
	fold := &insideFold{inside: map[nodes.ID]bool{}}
	if err := h.Run(fold); err != nil {
		return next, err.Error()
	}
	if !fold.held {
		return next, "the client had left when the fault began"
	}
	return t.Faults[0].NextEntryS, ""
}

// An insideFold finds out whether the victim of the first fault was inside when the fault began or, of a
// fault of servers, anybody. A client that is killed is down after the fault has begun.
type insideFold struct {
	inside map[nodes.ID]bool
	held   bool
}

// Add implements history.Fold.
func (f *insideFold) Add(e history.Event) {
	switch e.Kind {
	case history.Entered:
		f.inside[e.Node] = true
	case history.Exited, history.Revoked:
		delete(f.inside, e.Node)
	case history.FaultBegan:
		if victim := nodes.ID(e.Entry) - 1; e.Count == 1 {
			f.held = victim == nodes.None && len(f.inside) > 0 || f.inside[victim]
		}
	}
}

// Close implements history.Fold.
func (f *insideFold) Close([]*history.NodeLog) {}

// nextLeader returns the time from the beginning of the fault until a node leads that did not lead before.
func nextLeader(_ *bench.Run, t *bench.Trial) (next figure.Figure, why string) {
	from, known := t.Faults[0].FromS.Value()
	if !known {
		return next, "it is not known when the fault began"
	}
	leads, count, end, first := -1, 0, from, math.Inf(1)
	for i := range t.Beliefs {
		b := &t.Beliefs[i]
		begun, _ := b.FromS.Value()
		over, _ := b.ToS.Value()
		if b.State == leadership.Leads && begun < from && over >= from {
			leads, count = b.Node, count+1
		}
		end = max(end, over)
	}
	switch count {
	case 0:
		return next, "nobody led when the fault began"
	case 1:
	default:
		return next, "two led when the fault began"
	}
	for i := range t.Beliefs {
		b := &t.Beliefs[i]
		if begun, _ := b.FromS.Value(); b.State == leadership.Leads && b.Node != leads && begun >= from {
			first = min(first, begun)
		}
	}
	if math.IsInf(first, 1) {
		return figure.AtLeast(end - from), ""
	}
	return figure.Number(first - from), ""
}
