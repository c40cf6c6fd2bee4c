package matrix

import (
	"cmp"
	"fmt"
	"strings"

	"turnstile/nodes"
	"turnstile/results"
)

// Row returns what matrix.csv says of the cell.
func (c *Cell) Row(real bool) results.MatrixRow {
	row := results.MatrixRow{Algorithm: c.Spec.Name, Fault: c.Plan.Name, Kind: "simulate",
		May: c.May.May.String(), Shown: c.Shown().String(), Differs: c.Differs(), Runs: len(c.Runs),
		Why: c.May.Why}
	if real {
		row.Kind = "bench"
	}
	for shown, count := range map[nodes.Outcome]*int{
		nodes.Recovers: &row.Recovered, nodes.Starves: &row.Starved, nodes.Blocks: &row.Blocked,
		nodes.Breaks: &row.Broke, nodes.Unhit: &row.Unhit, 0: &row.Inconclusive,
	} {
		*count = c.count(shown)
	}
	if len(c.Runs) == 0 {
		return row
	}
	tells := cmp.Or(c.Wrong(), c.Runs[0])
	row.Seed, row.Run, row.Reason = tells.Seed, tells.Folder, tells.Says
	row.Waiting = strings.Trim(fmt.Sprint(tells.Verdict.Starved), "[]")
	for _, r := range c.Runs {
		if r.Leaders == nil {
			row.OverlapUS = greater(row.OverlapUS, results.Number(float64(r.Verdict.Overlap.Nanoseconds())/1e3))
		} else {
			row.TwoLeadersUS = greater(row.TwoLeadersUS, results.Number(float64(r.Leaders.TwoLeaders)/1e3))
		}
	}
	row.AgreedS, row.LeaderlessUS = c.median((*Run).agreed), c.median((*Run).leaderless)
	for _, f := range c.known((*Run).waitMax) {
		row.WaitMaxS = greater(row.WaitMaxS, scaled(f, 1e-6))
	}
	row.NextEntryS = c.median((*Run).nextEntry)
	row.OldRateS = c.median((*Run).oldRate)
	first := func(r *Run) *results.FaultRow { return &r.Faults[0] }
	last := func(r *Run) *results.FaultRow { return &r.Faults[len(r.Faults)-1] }
	row.MessagesBefore = c.median(func(r *Run) results.Figure {
		return per(first(r).MessagesBefore, first(r).AcceptedBefore)
	})
	row.MessagesDuring = c.median(func(r *Run) results.Figure {
		return per(first(r).MessagesDuring, first(r).AcceptedDuring)
	})
	row.MessagesAfter = c.median(func(r *Run) results.Figure {
		return per(last(r).MessagesAfter, last(r).AcceptedAfter)
	})
	row.AcceptedDuring = c.median(func(r *Run) results.Figure { return first(r).AcceptedDuring })
	row.RefusedDuring = c.median(func(r *Run) results.Figure { return first(r).RefusedDuring })
	return row
}

func (c *Cell) count(shown nodes.Outcome) (count int) {
	for _, r := range c.Runs {
		if r.Shown == shown {
			count++
		}
	}
	return count
}

// median returns the median of a figure of the runs that recovered and have it.
func (c *Cell) median(of func(*Run) results.Figure) results.Figure {
	return results.MedianFigure(c.known(of))
}

// known returns a figure of those runs that recovered and have it.
func (c *Cell) known(of func(*Run) results.Figure) (all []results.Figure) {
	for _, r := range c.Runs {
		if r.Shown != nodes.Recovers || len(r.Faults) == 0 {
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
func (r *Run) nextEntry() (longest results.Figure) {
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
func (r *Run) agreed() results.Figure {
	if r.Leaders == nil || len(r.Leaders.Agreements) == 0 {
		return results.Figure{}
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
	last := &r.Leaders.Agreements[len(r.Leaders.Agreements)-1]
	return results.Number(max(0, float64(last.Agreed-r.Leaders.Begun)/1e9-over))
}

// leaderless returns for how many microseconds nobody led.
func (r *Run) leaderless() results.Figure {
	if r.Leaders == nil {
		return results.Figure{}
	}
	return results.Number(float64(r.Leaders.Leaderless) / 1e3)
}

// oldRate returns when, after the last fault, the entries per second were those of before.
func (r *Run) oldRate() results.Figure { return r.Faults[len(r.Faults)-1].OldRateS }

// waitMax returns the longest wait, in microseconds, that went on during a fault or after it.
func (r *Run) waitMax() (longest results.Figure) {
	for i := range r.Faults {
		longest = greater(greater(longest, r.Faults[i].WaitDuringUSMax), r.Faults[i].WaitAfterUSMax)
	}
	return longest
}

// greater returns the greater one of two figures, as far as they are known.
func greater(a, b results.Figure) results.Figure {
	x, known := a.Value()
	if y, too := b.Value(); too && (!known || y > x) {
		return b
	}
	return a
}

// per divides figures that are exact.
func per(a, b results.Figure) results.Figure {
	x, known := a.Value()
	y, too := b.Value()
	if !known || !too {
		return results.Figure{}
	}
	return results.Ratio(x, y)
}

// scaled multiplies a figure.
func scaled(f results.Figure, by float64) results.Figure {
	x, known := f.Value()
	switch {
	case !known:
		return f
	case f.IsBound():
		return results.AtLeast(x * by)
	}
	return results.Number(x * by)
}
