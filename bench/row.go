package bench

import (
	"math"
	"time"

	"turnstile/bench/option"
	"turnstile/internal/chance"
	"turnstile/internal/figure"
	"turnstile/nodes/row"
	"turnstile/nodes/workload"
	"turnstile/results"
)

// row returns what runs.csv says of a trial.
func (r *Run) row(t *Trial) results.Row {
	o := &r.Record.Options
	row := results.Row{
		Run:     r.Folder.Name(),
		Trial:   t.Number,
		Version: r.Record.Versions["turnstile"],
		Seed:    r.Record.Trials[t.Number-1].Seed,
		Asked:   r.Record.asked(),
		HoldUS:  meanUS(o.Workload.Hold),
		Figures: t.Measures.Columns(),
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
	if cost, renewals := r.published(); known(cost) {
		row.PublishedMin = figure.Number(cost.Min + renewals.Min)
		row.PublishedMax = figure.Number(cost.Max + renewals.Max)
	}
	row.UtilisationPredicted, row.EntriesPerSPredicted = predict(*o, r.Spec.CostOf(o.Config).Delay)
	if !clients {
		row.HoldUS, row.EntriesPerS = figure.Figure{}, figure.Figure{}
	}
	return row
}

// asked returns what the run was asked to be, for runs.csv. A test checks that it has everything that makes
// two runs differ.
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
	return figure.Number(float64(s.Mean()) / float64(time.Microsecond))
}

// predict returns the utilisation and the entries per second that theory expects: under a saturated
// load, each entry takes its hold and a synchronization delay of so many hops, each of the injected
// latency. They are unknown unless the number of hops is exact, the latency constant, and the unit one, and
// no message waits for an application.
func predict(o Options, delay row.Range) (utilisation, entriesPerS figure.Figure) {
	several := o.Config.Capacity() > 1 || o.ResourceCount() > 1
	if o.Workload.Load != workload.Saturated || o.Config.N < 2 || several || !delay.Exact() || delay.Min <= 0 ||
		o.Latency.Zero() || !o.Even() {
		return figure.Figure{}, figure.Figure{}
	}
	hold := o.Workload.Hold.Mean().Seconds()
	cycle := hold + delay.Min*o.Latency.Mean().Seconds()
	return figure.Ratio(hold, cycle), figure.Ratio(1, cycle)
}

// published returns what the algorithm was published to cost under the run's load, by holds of no length, and
// what the renewals of its holds add to that. Real processes may be late with these.
func (j *Job) published() (cost, renewals row.Range) {
	published, _ := j.Stack.Published()
	if published.Cost == nil {
		return row.Unbounded(0), row.Range{}
	}
	of := published.Cost(j.Config)
	if of.Renewal > 0 {
		shortest, longest, bounded := j.Workload.Hold.Bounds()
		if renewals = row.Unbounded(0); bounded {
			renewals.Max = of.Renewals(longest).Max
		}
		if j.Simulated {
			renewals.Min = of.Renewals(shortest).Min
		}
	}
	return costUnder(j.Workload.Load, of), renewals
}

// known reports whether a range says anything.
func known(r row.Range) bool { return r.Min > 0 || !math.IsInf(r.Max, 1) }
