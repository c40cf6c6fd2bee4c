package experiment

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"turnstile/bench"
	"turnstile/internal/figure"
	"turnstile/nodes/row"
	"turnstile/results"
)

// A ServiceMatrix makes runs for each of some known failures of services, and says what they show. It goes on
// with a set that it began.
type ServiceMatrix struct {
	Sweep // Trials is how many runs each case has
	Cases []*ServiceCase
}

// A ServiceCase is a known failure, and what came of its runs.
type ServiceCase struct {
	Line    *ServiceLine
	Subject *ServiceSubject // nil: Err says why there is none
	Err     error           // why no run could be made
	Runs    []*ServiceRun
}

// A ServiceRun is what came of one run of a case.
type ServiceRun struct {
	Strict, Fenced row.Outcome // what the run shows; none: it is inconclusive. Of Fenced: or nothing has fences
	HasFences      bool
	Says           string // why
	Folder         string // of the run
	Row            results.Row
	SilenceS       figure.Figure // the longest time, in seconds, in which nobody entered or, of electors, led
}

// Resolve makes the jobs of the cases that have a subject. The error says which line cannot be run.
func (m *ServiceMatrix) Resolve() error {
	m.Trials = max(1, m.Trials)
	for _, c := range m.Cases {
		if c.Err != nil {
			continue
		}
		j, err := c.Line.Job(c.Subject, m.Seed)
		if err != nil {
			return fmt.Errorf("number %d, %s: %w", c.Line.Number, c.Line.Text(), err)
		}
		m.Cells = append(m.Cells, j)
	}
	return nil
}

// Judge says of each case what its runs show, from the histories that the set has.
func (m *ServiceMatrix) Judge(ctx context.Context) error {
	cell := 0
	for _, c := range m.Cases {
		if c.Err != nil {
			continue
		}
		for trial := 1; trial <= m.Trials; trial++ {
			name, err := runName(m.job(m.Cells[cell], trial), trial)
			if err != nil {
				return err
			}
			if err := c.judge(ctx, m.folders[name]); err != nil {
				return err
			}
		}
		cell++
		if len(c.Runs) == 0 {
			c.Err = errors.New("it has no run: the same command makes it")
		}
	}
	return nil
}

// judge says what a run shows; nil: it was not made. The error is that of ctx.
func (c *ServiceCase) judge(ctx context.Context, folder *results.Folder) error {
	if folder == nil {
		return nil
	}
	run, err := bench.Reopen(ctx, folder)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	r := &ServiceRun{Folder: folder.Ref()}
	if c.Runs = append(c.Runs, r); err != nil {
		r.Says = err.Error()
		return nil
	}
	t := run.Trials[0]
	r.Row, r.HasFences = t.Row, c.Subject.Spec.Fenced
	r.Strict, r.Says = t.Verdict.Shown()
	studyOf(c.Subject.Spec).shown(r, t)
	return nil
}

// leadersShown says of a run about leaders whether two led at once, in whatever terms. Its fences are terms.
func (r *ServiceRun) leadersShown(t *bench.Trial) {
	r.HasFences, r.SilenceS = true, inSeconds(t.Row.LeaderlessUS)
	r.Fenced, _ = t.Verdict.ShownInTerms()
	if r.Strict != 0 && (isMore(t.Row.TwoLeadersUS) || isMore(t.Row.TwoLeadersStoppedUS)) {
		r.Strict = row.Breaks
	}
}

// entriesShown says what a resource would have accepted that demands fence numbers.
func (r *ServiceRun) entriesShown(t *bench.Trial) {
	for i := range t.Faults {
		r.SilenceS = greater(r.SilenceS, t.Faults[i].SilenceS)
	}
	accepted, known := t.Row.ViolationsFenced.Value()
	switch {
	case r.Strict != row.Breaks:
		r.Fenced = r.Strict
	case !known: // it cannot be told
	case accepted > 0:
		r.Fenced = row.Breaks
	default:
		r.Fenced, _ = t.Verdict.Served()
	}
}

// isMore reports whether a figure is known and more than zero.
func isMore(f figure.Figure) bool {
	x, known := f.Value()
	return known && x > 0
}

// showsNothing reports whether the run says nothing of the failure: it is inconclusive, or was not hit.
func (r *ServiceRun) showsNothing() bool {
	return r.Strict == 0 || r.notHit() || r.HasFences && r.Fenced == 0
}

// notHit reports whether the faults hit nothing.
func (r *ServiceRun) notHit() bool { return r.Strict == row.Unhit }

// ShowsNothing reports whether the case says less of the failure than it is to: there is no run, or one of
// them is inconclusive or was not hit.
func (c *ServiceCase) ShowsNothing() bool {
	return c.Err != nil || len(c.Runs) == 0 || slices.ContainsFunc(c.Runs, (*ServiceRun).showsNothing)
}

// NotHit reports whether the faults hit nothing in any of the runs.
func (c *ServiceCase) NotHit() bool {
	return c.Err == nil && len(c.Runs) > 0 &&
		!slices.ContainsFunc(c.Runs, func(r *ServiceRun) bool { return !r.notHit() })
}

// Differs reports whether some run shows what the line does not expect.
func (c *ServiceCase) Differs() bool { return c.Err == nil && slices.ContainsFunc(c.Runs, c.differs) }

func (c *ServiceCase) differs(r *ServiceRun) bool {
	strict, _ := outcomesOf(c.Line.Strict) // check has read both
	fenced, _ := outcomesOf(c.Line.Fenced)
	return !r.showsNothing() && (r.Strict&strict == 0 || (c.Line.Fenced != "") != r.HasFences ||
		r.HasFences && r.Fenced&fenced == 0)
}

// Tells returns the run that says most of the case: the first one that differs or, if none does, that shows
// nothing, or else the first one; nil: there is none.
func (c *ServiceCase) Tells() *ServiceRun {
	for _, is := range []func(*ServiceRun) bool{c.differs, (*ServiceRun).showsNothing,
		func(*ServiceRun) bool { return true }} {
		if i := slices.IndexFunc(c.Runs, is); i >= 0 {
			return c.Runs[i]
		}
	}
	return nil
}
