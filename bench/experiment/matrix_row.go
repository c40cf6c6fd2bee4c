package experiment

import (
	"cmp"
	"fmt"
	"strings"

	"turnstile/internal/figure"
	"turnstile/internal/stats"
	"turnstile/judge/measure"
	"turnstile/nodes/row"
	"turnstile/results"
)

// Row returns what matrix.csv says of the cell.
func (c *Cell) Row(real bool) results.MatrixRow {
	out := results.MatrixRow{Algorithm: c.Spec.Name, Fault: c.Plan.Name, Kind: "simulate",
		May: c.May.May.String(), Shown: c.Shown().String(), Differs: c.Differs(), Runs: len(c.Runs),
		Why: c.May.Why}
	if real {
		out.Kind = "bench"
	}
	for shown, count := range map[row.Outcome]*int{
		row.Recovers: &out.Recovered, row.Starves: &out.Starved, row.Blocks: &out.Blocked,
		row.Breaks: &out.Broke, row.Unhit: &out.Unhit, 0: &out.Inconclusive,
	} {
		*count = c.count(shown)
	}
	if len(c.Runs) == 0 {
		return out
	}
	tells := cmp.Or(c.Wrong(), c.Runs[0])
	out.Seed, out.Run, out.Reason = tells.Seed, tells.Folder, tells.Says
	out.Waiting = strings.Trim(fmt.Sprint(tells.Verdict.Starved), "[]")
	studyOf(c.Spec).figures(c, &out)
	for _, f := range c.known((*Result).waitMax) {
		out.WaitMaxS = greater(out.WaitMaxS, inSeconds(f))
	}
	out.NextEntryS = c.median((*Result).nextEntry)
	out.OldRateS = c.median(func(r *Result) figure.Figure { return r.Faults[len(r.Faults)-1].OldRateS })
	for phase, messages := range []*figure.Figure{&out.MessagesBefore, &out.MessagesDuring, &out.MessagesAfter} {
		*messages = c.median(func(r *Result) figure.Figure {
			f := &r.Faults[0]
			if phase == measure.After {
				f = &r.Faults[len(r.Faults)-1]
			}
			return per(f.Messages[phase], f.Accepted[phase])
		})
	}
	out.AcceptedDuring = c.median(func(r *Result) figure.Figure { return r.Faults[0].Accepted[measure.During] })
	out.RefusedDuring = c.median(func(r *Result) figure.Figure { return r.Faults[0].Refused[measure.During] })
	return out
}

func (c *Cell) count(shown row.Outcome) (count int) {
	for _, r := range c.Runs {
		if r.Shown == shown {
			count++
		}
	}
	return count
}

// median returns the median of a figure of the runs that recovered and have it.
func (c *Cell) median(of func(*Result) figure.Figure) figure.Figure {
	return stats.MedianOf(c.known(of))
}

// known returns a figure of those runs that recovered and have it.
func (c *Cell) known(of func(*Result) figure.Figure) (all []figure.Figure) {
	for _, r := range c.Runs {
		if r.Shown != row.Recovers || len(r.Faults) == 0 {
			continue
		}
		if f := of(r); f.Known() {
			all = append(all, f)
		}
	}
	return all
}

// nextEntry returns the longest, over the faults of a run, that it took until somebody entered: after the
// heal or, if there was none, after the fault began.
func (r *Result) nextEntry() (longest figure.Figure) {
	for i := range r.Faults {
		f := &r.Faults[i]
		took := f.NextEntryS
		if f.Healed {
			took = f.HealedNextEntryS
		}
		longest = greater(longest, took)
	}
	return longest
}

// agreed returns how many seconds after the last fault was healed, or began if it was not, all agreed on the
// leader that they have at the end.
func (r *Result) agreed() figure.Figure {
	last := r.Leaders.AgreedAtEnd()
	if last == nil {
		return figure.Figure{}
	}
	var over float64
	for i := range r.Faults {
		at := r.Faults[i].FromS
		if r.Faults[i].Healed {
			at = r.Faults[i].ToS
		}
		if s, known := at.Value(); known {
			over = max(over, s)
		}
	}
	return figure.Number(max(0, float64(last.Agreed-r.Leaders.Begun)/1e9-over))
}

// waitMax returns the longest wait, in microseconds, that went on during a fault or after it.
func (r *Result) waitMax() (longest figure.Figure) {
	for i := range r.Faults {
		longest = greater(greater(longest, r.Faults[i].WaitUS[measure.During].Max),
			r.Faults[i].WaitUS[measure.After].Max)
	}
	return longest
}

// greater returns the greater one of two figures, as far as they are known.
func greater(a, b figure.Figure) figure.Figure {
	x, known := a.Value()
	if y, too := b.Value(); too && (!known || y > x) {
		return b
	}
	return a
}

// per divides figures that are exact.
func per(a, b figure.Figure) figure.Figure {
	x, known := a.Value()
	y, too := b.Value()
	if !known || !too {
		return figure.Figure{}
	}
	return figure.Ratio(x, y)
}

// inSeconds returns a figure that is in microseconds.
func inSeconds(us figure.Figure) figure.Figure {
	x, known := us.Value()
	switch {
	case !known:
		return us
	case us.IsBound():
		return figure.AtLeast(x / 1e6)
	}
	return figure.Number(x / 1e6)
}
