package bench

import (
	"cmp"
	"math"
	"strings"
	"time"

	"turnstile/internal/chance"
	"turnstile/nodes"
	"turnstile/nodes/workload"
	"turnstile/results"
)

// row returns what runs.csv says of a trial.
func (r *Run) row(t *Trial) results.Row {
	o := &r.Record.Options
	row := results.Row{
		Run:        r.Folder.Name(),
		Trial:      t.Number,
		Version:    r.Record.Versions["turnstile"],
		Seed:       r.Record.Trials[t.Number-1].Seed,
		Asked:      r.Record.asked(),
		HoldUS:     meanUS(o.Workload.Hold),
		Violations: results.Count(t.Verdict.Violations),
		Lost:       results.Count(t.Verdict.LostUnintended),
		Verdict:    t.Verdict.Outcome.String(),
		Reason:     t.Verdict.Reason,
	}
	if p := t.Verdict.PassedOver; p != nil {
		row.PassedOverMax = results.Count(p.Times)
		if p.Open {
			row.PassedOverMax = results.AtLeast(float64(p.Times))
		}
	}
	if r.Spec.Leads == nil && (o.faulty() || t.Verdict.EntriesInMinority > 0) {
		row.EntriesInMinority = results.Count(t.Verdict.EntriesInMinority)
	}
	if lost := t.Verdict.LostWithBroker; lost > 0 {
		row.LostWithBroker = results.Count(lost)
	}
	if lost := t.Verdict.LostToDeaths; lost > 0 {
		row.LostToDeaths = results.Count(lost)
	}
	if row.Faults = o.faultsOf(t.Number); row.Faults != "" {
		row.FaultsMissed = results.Count(uint64(len(t.Verdict.Misses)))
	}
	if o.Regions.None() {
		row.LatencyUS = meanUS(o.Latency)
	}
	if o.Workload.Load == workload.Closed {
		row.ThinkUS = meanUS(o.Workload.Think)
	}
	if cost := published(*o, r.Spec); known(cost) {
		row.PublishedMin, row.PublishedMax = results.Number(cost.Min), results.Number(cost.Max)
	}
	if r.Spec.Cost != nil {
		delay := r.Spec.Cost(o.Config).Delay
		row.UtilisationPredicted, row.EntriesPerSPredicted = Predict(*o, delay)
	}
	t.Measures.Fill(&row)
	if r.Spec.Leads != nil {
		row.HoldUS, row.EntriesPerS = results.Figure{}, results.Figure{}
	}
	return row
}

// faultsOf says in words which faults were asked for in a trial.
func (o *Options) faultsOf(number int) string {
	if injected := o.Injected[number]; injected != nil {
		return strings.Join(textsOf(injected), "; ")
	}
	return strings.Join(textsOf(o.Faults), "; ")
}

// asked returns what the run was asked to be, for runs.csv. A test checks that it has everything that makes
// two runs differ.
func (r *Record) asked() results.Asked {
	o := &r.Options
	w := &o.Workload
	a := results.Asked{
		Kind:      kindBench,
		Algorithm: o.Algorithm,
		Options:   o.Config.Options,
		Nodes:     o.Config.N,
		Hosts:     1,
		Units:     o.Config.Capacity(),
		Resources: 1,
		Load:      string(w.Load),
		Whole:     results.Number(w.Whole),
		Hold:      w.Hold.String(),
		Latency:   o.Latency.String(),
		Multicast: o.Multicast,
		Detector:  o.Detector,
		Elect:     o.Config.Elect,
		Fenced:    o.Config.Fenced,
		NATS:      o.NATS,
		Proxies:   o.Proxies,
		WarmupS:   results.Number(o.Warmup.Seconds()),
	}
	switch w.Load {
	case workload.Campaign:
		a.Initiators = cmp.Or(string(w.Initiators), string(workload.AllInitiate))
		if w.CampaignEvery > 0 {
			a.CampaignEveryS = results.Number(w.CampaignEvery.Seconds())
		}
		a.Hold = ""
	case workload.Closed:
		a.Think = w.Think.String()
	case workload.Open:
		a.RatePerS, a.Arrivals = results.Number(w.Rate), "poisson"
		if w.Evenly {
			a.Arrivals = "even"
		}
	}
	if !o.Regions.None() {
		a.Latency, a.Regions = "", o.Regions.Matrix()
	}
	if limit := o.warmupLimit(); limit > 0 {
		a.WarmupLimitS = results.Number(limit.Seconds())
	}
	if o.Entries > 0 {
		a.EntriesAsked = results.Count(o.Entries)
	} else {
		a.DurationAskedS = results.Number(o.Duration.Seconds())
	}
	if r.Simulated {
		a.Kind = kindSimulate
	} else {
		if o.NATS == "" {
			a.Brokers = results.Count(uint64(o.brokerCount()))
		}
		a.PatienceS = results.Number(o.Patience.Seconds())
	}
	a.Plan, a.Faults = o.Plan, strings.Join(o.FaultTexts(), "; ")
	return a
}

func meanUS(s chance.Distribution) results.Figure {
	return results.Number(float64(s.Mean()) / float64(time.Microsecond))
}

// Predict returns the utilisation and the entries per second that theory expects: under a saturated
// load, each entry takes its hold and a synchronization delay of so many hops, each of the injected
// latency. They are unknown unless the number of hops is exact and the latency constant.
func Predict(o Options, delay nodes.Range) (utilisation, entriesPerS results.Figure) {
	if o.Workload.Load != workload.Saturated || o.Config.N < 2 || !delay.Exact() || delay.Min <= 0 ||
		o.Latency.Zero() || !o.Latency.IsConstant() || !o.Regions.None() {
		return results.Figure{}, results.Figure{}
	}
	hold := o.Workload.Hold.Mean().Seconds()
	cycle := hold + delay.Min*o.Latency.Mean().Seconds()
	return results.Ratio(hold, cycle), results.Ratio(1, cycle)
}

// published returns what the algorithm was published to cost under the run's load.
func published(o Options, spec *nodes.Spec) nodes.Range {
	if spec.Cost == nil || o.Config.Elect != "" { // what an elector sends is in no published cost
		return nodes.Unbounded(0)
	}
	return costUnder(o.Workload.Load, spec.Cost(o.Config))
}

// known reports whether a range says anything.
func known(r nodes.Range) bool { return r.Min > 0 || !math.IsInf(r.Max, 1) }
