package bench

import (
	"strings"

	"turnstile/chaos/effect"
	"turnstile/internal/figure"
	"turnstile/judge/leadership"
	"turnstile/nodes"
	"turnstile/results"
)

// ledger adds to a trial of a run about leaders who believed what, as beliefs.csv has it.
func (r *Run) ledger(t *Trial, j judgement) {
	leaders := j.checks.Leaders()
	if leaders == nil || !j.Window.Known() {
		return
	}
	asked := checked(r.faults(t.Number))
	var faults []leadership.Fault
	for i := range j.Faults {
		f := leadership.Fault{Number: int(j.Faults[i].Number), From: j.Faults[i].From, To: j.Faults[i].To}
		if f.Number >= 1 && f.Number <= len(asked) && asked[f.Number-1].Separates != nil {
			cut, victim := asked[f.Number-1].Separates, j.Faults[i].Victim
			f.Separates = func(a, b nodes.ID) bool { return cut(a, b, victim) }
		}
		faults = append(faults, f)
	}
	for _, e := range leaders.Ledger(faults, r.total(), j.Window.From, leaders.End) {
		t.Beliefs = append(t.Beliefs, r.beliefRow(t.Number, &e, j.Window.From))
	}
	t.Beliefs = results.AsStored(t.Beliefs)
}

// beliefRow returns the row of an entry, whose times count from a zero.
func (r *Run) beliefRow(trial int, e *leadership.Entry, zero int64) results.BeliefRow {
	seconds := func(ns int64) figure.Figure { return figure.Number(float64(ns) / 1e9) }
	row := results.BeliefRow{Run: r.Folder.Name(), Trial: trial, Node: int(e.Node), State: e.State,
		FromS: seconds(e.From - zero), ToS: seconds(e.To - zero), TwoS: seconds(e.TwoLeaders),
		Side: effect.Group(e.Side).String()}
	if e.Leader >= 0 {
		row.Leader = figure.Count(uint64(e.Leader))
	}
	if e.Term > 0 {
		row.Term = figure.Count(e.Term)
	}
	var numbers []string
	for _, n := range e.Faults {
		numbers = append(numbers, figure.Count(uint64(n)).String())
	}
	row.Faults = strings.Join(numbers, " ")
	return row
}
