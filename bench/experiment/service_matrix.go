package experiment

import (
	"context"
	"errors"
	"fmt"

	"turnstile/bench"
	"turnstile/internal/figure"
	"turnstile/nodes/row"
	"turnstile/results"
)

// A ServiceMatrix makes a run for each of some known failures of services, and says what it shows. It goes on
// with a set that it began.
type ServiceMatrix struct {
	Sweep
	Cases []*ServiceCase
}

// A ServiceCase is a known failure, and what came of its run.
type ServiceCase struct {
	Line    *ServiceLine
	Subject *ServiceSubject // nil: Err says why there is none
	Err     error           // why the run could not be made

	Strict, Fenced row.Outcome // what the run shows; none: it is inconclusive. Of Fenced: or nothing has fences
	HasFences      bool
	Says           string // why
	Folder         string // of the run
	Row            results.Row
	SilenceS       figure.Figure // the longest time, in seconds, in which nobody entered or, of electors, led
}

// Resolve makes the jobs of the cases that have a subject. The error says which line cannot be run.
func (m *ServiceMatrix) Resolve() error {
	m.Trials = 1
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

// Judge says of each case what its run shows, from the histories that the set has.
func (m *ServiceMatrix) Judge(ctx context.Context) error {
	folders := map[string]*results.Folder{}
	if set := results.OpenSet(m.Setup.Results, m.Setup.Set); set != nil {
		for _, folder := range set.Runs {
			if name := rounds.FindStringSubmatch(folder.Name()); name != nil {
				folders[name[1]] = folder
			}
		}
	}
	cell := 0
	for _, c := range m.Cases {
		if c.Err != nil {
			continue
		}
		name, err := runName(m.job(m.Cells[cell], 1), 1)
		if cell++; err != nil {
			return err
		}
		folder := folders[name]
		if folder == nil {
			c.Err = errors.New("it has no run: the same command makes it")
			continue
		}
		run, err := bench.Reopen(ctx, folder)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if c.Folder = folder.Ref(); err != nil {
			c.Says = err.Error()
			continue
		}
		c.judge(run.Trials[0])
	}
	return nil
}

// judge says what a trial shows.
func (c *ServiceCase) judge(t *bench.Trial) {
	c.Row = t.Row
	c.Strict, c.Says = t.Verdict.Shown()
	studyOf(c.Subject.Spec).shown(c, t)
}

// leadersShown says of a run about leaders whether two led at once, in whatever terms. Its fences are terms.
func (c *ServiceCase) leadersShown(t *bench.Trial) {
	c.HasFences, c.Fenced, c.SilenceS = true, c.Strict, inSeconds(t.Row.LeaderlessUS)
	if c.Strict != 0 && (isMore(t.Row.TwoLeadersUS) || isMore(t.Row.TwoLeadersStoppedUS)) {
		c.Strict = row.Breaks
	}
}

// entriesShown says what a resource would have accepted that demands fence numbers.
func (c *ServiceCase) entriesShown(t *bench.Trial) {
	for i := range t.Faults {
		c.SilenceS = greater(c.SilenceS, t.Faults[i].SilenceS)
	}
	accepted, known := t.Row.ViolationsFenced.Value()
	switch c.HasFences = c.Subject.Spec.Fenced; {
	case c.Strict != row.Breaks:
		c.Fenced = c.Strict
	case !known: // it cannot be told
	case accepted > 0:
		c.Fenced = row.Breaks
	default:
		c.Fenced, _ = t.Verdict.Served()
	}
}

// isMore reports whether a figure is known and more than zero.
func isMore(f figure.Figure) bool {
	x, known := f.Value()
	return known && x > 0
}

// ShowsNothing reports whether the case says nothing of the failure: there is no run, or it is inconclusive.
func (c *ServiceCase) ShowsNothing() bool {
	return c.Err != nil || c.Strict == 0 || c.HasFences && c.Fenced == 0
}

// Differs reports whether the run shows what the line does not expect.
func (c *ServiceCase) Differs() bool {
	strict, _ := outcomesOf(c.Line.Strict) // check has read both
	fenced, _ := outcomesOf(c.Line.Fenced)
	return !c.ShowsNothing() && (c.Strict&strict == 0 || (c.Line.Fenced != "") != c.HasFences ||
		c.HasFences && c.Fenced&fenced == 0)
}
