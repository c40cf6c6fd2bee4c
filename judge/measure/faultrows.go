package measure

import (
	"turnstile/internal/figure"
	"turnstile/nodes/history"
)

// row returns the figures of a fault.
func (f *FaultFold) row(x *fault, what string) OfFault {
	row := OfFault{Number: int(x.number), Fault: what, Healed: x.healed,
		NextEntryS: f.until(x.from, x.next), SilenceS: seconds(x.silence)}
	for i, p := range x.phases {
		p.fill(&row, i)
	}
	if f.epoch != nil {
		row.EpochBefore, row.EpochAfter = figure.Count(x.old), figure.Count(x.new)
		row.EpochsNew = figure.Count(x.epochs)
	}
	if f.since != nil {
		row.FromS = seconds(x.from - f.line.from)
		f.bounds(&row, x)
	}
	if !x.healed {
		return row
	}
	if f.since != nil {
		row.ToS = seconds(x.to - f.line.from)
	}
	row.HealedNextEntryS = f.until(x.to, x.nextHealed)
	if x.recovery.found {
		row.OldRateS = seconds(x.recovery.after)
	}
	// Of a run that was ended from outside it is not known which requests would have been over some time.
	if marks := &f.sections.Marks; marks[history.Rested].Seen || marks[history.Stalled].Seen {
		row.Unfinished = figure.Count(x.unfinished)
	}
	return row
}

// bounds adds from when to when the phases of a fault lasted.
func (f *FaultFold) bounds(row *OfFault, x *fault) {
	if p := x.phases[Before]; p != nil && p.Known() {
		row.BeforeFromS = seconds(p.From - f.line.from)
	}
	if p := x.phases[During]; p != nil && p.Known() && !x.healed {
		row.EndS = seconds(p.To - f.line.from)
	}
	if p := x.phases[After]; p != nil && p.Known() {
		row.AfterToS = seconds(p.To - f.line.from)
	}
}

// until returns how long it took from a time until somebody entered next. If nobody did though somebody
// waited, it is longer than the rest of the history; if nobody waited, it is not measured.
func (f *FaultFold) until(from, entered int64) figure.Figure {
	switch {
	case entered != none:
		return seconds(entered - from)
	case f.waiting:
		return figure.AtLeast(float64(f.sections.End-from) / 1e9)
	}
	return figure.Figure{}
}
