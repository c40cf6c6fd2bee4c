package measure

import (
	"turnstile/nodes/history"
	"turnstile/results"
)

// row returns what faults.csv says of a fault.
func (f *FaultFold) row(x *fault, what string) results.FaultRow {
	before, during, after := x.before.figures(), x.during.figures(), x.after.figures()
	row := results.FaultRow{Number: int(x.number), Fault: what, Healed: x.healed,
		EntriesBefore: before.entries, EntriesDuring: during.entries, EntriesAfter: after.entries,
		AcceptedBefore: before.accepted, AcceptedDuring: during.accepted, AcceptedAfter: after.accepted,
		RefusedBefore: before.refused, RefusedDuring: during.refused, RefusedAfter: after.refused,
		EntriesRefused: results.Count(f.sections.Refused),
		PerSBefore:     before.perS, PerSDuring: during.perS, PerSAfter: after.perS,
		WaitBeforeUSP50: before.p50, WaitBeforeUSP99: before.p99, WaitBeforeUSMax: before.most,
		WaitDuringUSP50: during.p50, WaitDuringUSP99: during.p99, WaitDuringUSMax: during.most,
		WaitAfterUSP50: after.p50, WaitAfterUSP99: after.p99, WaitAfterUSMax: after.most,
		MessagesBefore: before.messages, MessagesDuring: during.messages, MessagesAfter: after.messages,
		DroppedBefore: before.dropped, DroppedDuring: during.dropped, DroppedAfter: after.dropped,
		OverlapDuringUS: during.overlapUS, OverlapAfterUS: after.overlapUS,
		NextEntryS: f.until(x.from, x.next), SilenceS: seconds(x.silence),
	}
	if f.epoch != nil {
		row.EpochBefore, row.EpochAfter = results.Count(x.old), results.Count(x.new)
		row.EpochsNew = results.Count(x.epochs)
	}
	if f.since != nil {
		row.FromS = seconds(x.from - f.line.from)
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
		row.Unfinished = results.Count(x.unfinished)
	}
	return row
}

// until returns how long it took from a time until somebody entered next. If nobody did though somebody
// waited, it is longer than the rest of the history; if nobody waited, it is not measured.
func (f *FaultFold) until(from, entered int64) results.Figure {
	switch {
	case entered != none:
		return seconds(entered - from)
	case f.waiting:
		return results.AtLeast(float64(f.sections.End-from) / 1e9)
	}
	return results.Figure{}
}
