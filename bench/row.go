package bench

import (
	"fmt"
	"time"

	"turnstile/bench/measure"
	"turnstile/internal/chance"
	"turnstile/nodes"
	"turnstile/nodes/workload"
	"turnstile/results"
)

// rowOf returns the measures of a trial as a row of runs.csv, with what the run was asked to be. delay is the
// published synchronization delay. The name of the run, the trial and all that is judged rather than
// measured are left to whoever knows them.
func rowOf(m *measure.Measures, o Options, delay nodes.Range) results.Row {
	row := results.Row{
		Algorithm: o.Algorithm,
		Nodes:     o.Config.N,
		Slots:     1,
		Resources: 1,
		Workload:  describe(o),
		HoldUS:    meanUS(o.Workload.Hold),
		LatencyUS: meanUS(o.Latency),
		Multicast: o.Multicast,
		Seed:      o.Seed,
	}
	if !o.Regions.None() {
		row.LatencyUS = results.Figure{} // there is no one latency
	}
	switch o.Workload.Load {
	case workload.Closed:
		row.ThinkUS = meanUS(o.Workload.Think)
	case workload.Open:
		row.RatePerS = results.Number(o.Workload.Rate)
	}
	row.UtilisationPredicted, row.EntriesPerSPredicted = Predict(o, delay)
	m.Fill(&row)
	return row
}

// describe names the workload and those of its spans that a mean says too little of.
func describe(o Options) string {
	text := string(o.Workload.Load)
	for _, s := range []struct {
		name string
		span chance.Distribution
	}{{"hold", o.Workload.Hold}, {"think", o.Workload.Think}, {"latency", o.Latency}} {
		if !s.span.IsConstant() {
			text += fmt.Sprintf(" %s=%v", s.name, s.span)
		}
	}
	if !o.Regions.None() {
		text += " " + o.Regions.String()
	}
	if o.Workload.Load == workload.Open && o.Workload.Evenly {
		text += " evenly"
	}
	return text
}

func meanUS(s chance.Distribution) results.Figure {
	return results.Number(float64(s.Mean()) / float64(time.Microsecond))
}

// Predict returns the utilisation and the entries per second that theory expects: under a saturated
// load, each entry takes its hold and a synchronization delay of so many hops, each of the injected
// latency. They are absent unless that is a known number of hops and the latency always the same.
func Predict(o Options, delay nodes.Range) (utilisation, entriesPerS results.Figure) {
	if o.Workload.Load != workload.Saturated || o.Config.N < 2 || !delay.Exact() || delay.Min <= 0 ||
		o.Latency.Zero() || !o.Latency.IsConstant() || !o.Regions.None() {
		return results.Figure{}, results.Figure{}
	}
	hold := o.Workload.Hold.Mean().Seconds()
	cycle := hold + delay.Min*o.Latency.Mean().Seconds()
	return results.Ratio(hold, cycle), results.Ratio(1, cycle)
}
