package runs

import (
	"strings"
	"time"

	"turnstile/bench"
	"turnstile/internal/chance"
	"turnstile/internal/figure"
	"turnstile/judge/leadership"
	"turnstile/judge/measure"
	"turnstile/nodes"
	"turnstile/nodes/workload"
	"turnstile/option"
	"turnstile/results"
)

// row returns the row of a trial in runs.csv.
func (r *Run) row(t *TrialResult, m *measure.Measures) results.Row {
	o := &r.Record.Options
	row := results.Row{
		Run:     r.Folder.Name(),
		Trial:   t.Number,
		Version: r.Record.Versions["turnstile"],
		Seed:    r.Record.Trials[t.Number-1].Seed,
		Asked:   r.Record.asked(),
		HoldUS:  meanUS(o.Workload.Hold),
		Figures: m.Columns(),
		Verdict: t.Verdict.Outcome.String(),
		Reason:  t.Verdict.Reason,
	}
	row.Violations, row.Lost = figure.Count(t.Verdict.Violations), figure.Count(t.Verdict.LostUnintended)
	if p := t.Verdict.PassedOver; p != nil {
		row.PassedOverMax = figure.Count(p.Times)
		if p.Open {
			row.PassedOverMax = figure.AtLeast(float64(p.Times))
		}
	}
	clients := len(r.Stack.Mutexes()) > 0
	if clients && (o.Faulty() || t.Verdict.EntriesInMinority > 0) {
		row.EntriesInMinority = figure.Count(t.Verdict.EntriesInMinority)
	}
	if lost := t.Verdict.LostWithBroker; lost > 0 {
		row.LostWithBroker = figure.Count(lost)
	}
	if lost := t.Verdict.LostToDeaths; lost > 0 {
		row.LostToDeaths = figure.Count(lost)
	}
	faults := o.FaultsOf(t.Number)
	row.Asked = row.With(option.FaultsColumn, faults)
	if faults != "" {
		row.FaultsMissed = figure.Count(uint64(len(t.Verdict.Misses)))
	}
	if o.Regions.None() {
		row.LatencyUS = meanUS(o.Latency)
	}
	if o.Workload.Load == workload.Closed {
		row.ThinkUS = meanUS(o.Workload.Think)
	}
	if cost, renewals := r.PublishedCost(); cost.Known() {
		row.PublishedMin = figure.Number(cost.Min + renewals.Min)
		row.PublishedMax = figure.Number(cost.Max + renewals.Max)
	}
	row.UtilisationPredicted, row.EntriesPerSPredicted = bench.Predict(*o, r.Spec.CostOf(o.Config).Delay)
	if !clients {
		row.HoldUS, row.EntriesPerS = figure.Figure{}, figure.Figure{}
	}
	return row
}

// AskedOf returns what runs.csv says of the options of a job with one trial.
func AskedOf(j *bench.Job) results.Asked {
	r := Record{Options: j.Options, Simulated: j.Simulated}
	return r.asked().With(option.FaultsColumn, j.Options.FaultsOf(1))
}

// asked returns the options of the run, for runs.csv. A test checks that it includes every option in which
// two runs may differ.
func (r *Record) asked() results.Asked {
	o := &r.Options
	a := results.Asked{Kind: kindBench, Algorithm: o.Algorithm, Nodes: o.Config.N, Options: o.Config.Options,
		Cells: o.Cells(!r.Simulated)}
	if r.Simulated {
		a.Kind = kindSimulate
	}
	return a
}

func meanUS(s chance.Distribution) figure.Figure {
	if s.Mean() == chance.Longest { // it has no mean
		return figure.Figure{}
	}
	return figure.Number(float64(s.Mean()) / float64(time.Microsecond))
}

// ledger adds the beliefs of the nodes about the leader to a trial of a run about leaders, as in beliefs.csv.
func (r *Run) ledger(t *TrialResult, j bench.Judgement) {
	leaders := j.Checks.Leaders()
	if leaders == nil || !j.Window.Known() {
		return
	}
	asked := bench.CheckedFaults(r.faults(t.Number), false)
	var faults []leadership.Fault
	for i := range j.Faults {
		f := leadership.Fault{Number: int(j.Faults[i].Number), From: j.Faults[i].From, To: j.Faults[i].To}
		if f.Number >= 1 && f.Number <= len(asked) && asked[f.Number-1].Separates != nil {
			cut, victim := asked[f.Number-1].Separates, j.Faults[i].Victim
			f.Separates = func(a, b nodes.ID) bool { return cut(a, b, victim) }
		}
		faults = append(faults, f)
	}
	for _, e := range leaders.Ledger(faults, r.Total(), j.Window.From, leaders.End) {
		t.Beliefs = append(t.Beliefs, r.beliefRow(t.Number, &e, j.Window.From))
	}
	t.Beliefs = results.AsStored(t.Beliefs)
}

// beliefRow returns the row of beliefs.csv for an entry of the ledger, with times relative to zero.
func (r *Run) beliefRow(trial int, e *leadership.Entry, zero int64) results.BeliefRow {
	seconds := func(ns int64) figure.Figure { return figure.Number(float64(ns) / 1e9) }
	row := results.BeliefRow{Run: r.Folder.Name(), Trial: trial, Node: int(e.Node), State: e.State,
		FromS: seconds(e.From - zero), ToS: seconds(e.To - zero), TwoS: seconds(e.TwoLeaders),
		Side: nodes.Group(e.Side).String()}
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

// divide adds the figures of kinds of messages, sizes of requests and resources to a trial.
func (r *Run) divide(t *TrialResult, m *measure.Measures) {
	run := r.Folder.Name()
	for _, of := range m.OfMessages(r.Stack.Codec()) {
		t.Messages = append(t.Messages, results.MessageRow{Run: run, Trial: t.Number, OfMessages: of})
	}
	for _, of := range m.OfSizes() {
		t.Sizes = append(t.Sizes, results.SizeRow{Run: run, Trial: t.Number, OfSize: of})
	}
	for _, of := range m.OfResources() {
		t.Resources = append(t.Resources, results.ResourceRow{Run: run, Trial: t.Number, OfResource: of})
	}
	t.Messages, t.Sizes, t.Resources = results.AsStored(t.Messages), results.AsStored(t.Sizes),
		results.AsStored(t.Resources)
}

// measureFaults adds the effects of faults to a trial, as in faults.csv and timeline.csv. The fold is nil if
// the run has no faults, and leaders if it is not about leaders.
func (r *Run) measureFaults(t *TrialResult, f *measure.FaultFold, leaders *measure.Leaders) {
	if f == nil {
		return
	}
	t.Faults, t.Timeline = nil, nil
	for _, x := range f.Rows(bench.FaultIn(r.faults(t.Number)), leaders) {
		x.SilenceTextbookS = r.Silence()
		t.Faults = append(t.Faults, results.FaultRow{Run: r.Folder.Name(), Trial: t.Number, OfFault: x})
	}
	if len(r.Stack.Mutexes()) > 0 { // without an algorithm of mutual exclusion, nobody enters
		for _, x := range f.Timeline() {
			t.Timeline = append(t.Timeline, results.IntervalRow{Run: r.Folder.Name(), Trial: t.Number, OfInterval: x})
		}
	}
	t.Faults, t.Timeline = results.FaultsAsStored(t.Faults), results.AsStored(t.Timeline)
}
