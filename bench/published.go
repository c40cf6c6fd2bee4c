package bench

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"time"

	"turnstile/bench/check"
	"turnstile/internal/chance"
	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/workload"
)

// A Reproduced is a published figure of an algorithm, and what a simulated run measured.
type Reproduced struct {
	nodes.Claim
	Spec      *nodes.Spec
	Config    nodes.Config
	Load      workload.Load
	Published nodes.Range
	Measured  float64
	Error     float64 // standard error of a mean; otherwise zero
	Holds     bool    // it is judged, and as published
}

// Judged reports whether the figure has a verdict.
func (r *Reproduced) Judged() bool { return r.Within != nodes.Beside }

// Reproduce makes the runs that the rows' claims are about. It calls onFigure, which may be nil, before each
// figure, with how many there are before it and how many in all. If ctx is done, it returns an error with the
// figures that it has by then.
func Reproduce(ctx context.Context, rows []*nodes.Spec, seed uint64, onFigure func(before, all int)) (
	all []*Reproduced, err error) {
	for _, row := range rows {
		for _, claim := range row.Published {
			for _, config := range claim.Configs() {
				all = append(all, &Reproduced{Claim: claim, Spec: row, Config: config})
			}
		}
	}
	for i, r := range all {
		if onFigure != nil {
			onFigure(i, len(all))
		}
		switch err := r.reproduce(ctx, seed); {
		case ctx.Err() != nil:
			return all[:i], errInterrupted
		case err != nil:
			return nil, fmt.Errorf("%s of %s, %d nodes: %w", r.Figure, r.Spec.Name, r.Config.N, err)
		}
	}
	return all, nil
}

// Ratio returns measured / published, the published figure being the middle of its range.
func (r *Reproduced) Ratio() float64 {
	if math.IsInf(r.Published.Max, 1) {
		return math.NaN()
	}
	return r.Measured / ((r.Published.Min + r.Published.Max) / 2)
}

// reproduce makes the run that the claim is about.
func (r *Reproduced) reproduce(ctx context.Context, seed uint64) error {
	switch {
	case r.Claim.Election != nil:
		return r.reproduceElections(ctx, seed)
	case r.Spec.Detector:
		return r.reproduceDetection(ctx, seed)
	}
	const least = 10 * time.Microsecond // negligible beside a hop
	c, row, config := &r.Claim, r.Spec, r.Config
	r.Published, r.Load = c.Value(config), workload.Load(cmp.Or(c.Load, string(workload.Saturated)))
	o := Options{Algorithm: row.Name, Config: config, Entries: r.entries(), Seed: seed,
		Multicast: c.Multicast, Latency: chance.Constant(nodes.Hop),
		Workload: workload.Workload{Load: r.Load, Hold: chance.Constant(max(c.Hold, least)),
			Think: chance.Constant(c.Think)}}
	j := judgementOf(history.Header{}, r.Load, setting(o, true, row, nil))
	var costs settledCosts
	asked, err := simulation(o, row, seed)
	if err != nil {
		return err
	}
	asked.Interrupt = ctx.Done()
	result, err := simulateWatched(ctx, *asked, stuckAfter, j, &costs)
	if err == nil {
		err = result.Cut
	}
	if err != nil {
		return err
	}
	if v := j.checks.Verdict(); v.Outcome == check.Violated {
		return fmt.Errorf("the run is violated: %s", v.Reason)
	}
	m := &j.measures.Measures
	switch c.Figure {
	case nodes.MessagesPerEntry:
		r.Measured, _ = m.Messages.PerEntry.Value()
		if c.Within == nodes.Mean {
			r.Measured, r.Error = costs.mean(5 * config.N)
		}
	case nodes.PublishesPerEntry:
		r.Measured, _ = m.Messages.PublishesPerEntry.Value()
	case nodes.SynchronizationDelayHops:
		r.Measured = m.SynchronizationDelay.Hist.Mean() / float64(nodes.Hop)
	case nodes.ClientDelayHops:
		r.Measured = m.ClientDelay.Hist.Mean() / float64(nodes.Hop)
	case nodes.Utilisation:
		r.Measured, _ = m.Utilisation.Value()
	case nodes.EntriesPerSecond:
		r.Measured, _ = m.EntriesPerS.Value()
	}
	r.Holds = r.holds()
	return nil
}

// entries returns how many entries the run makes.
func (r *Reproduced) entries() uint64 {
	switch r.Within {
	case nodes.Mean:
		return 20_000
	case nodes.Steady, nodes.Fitted:
		return 5000
	}
	return uint64(max(1000, 20*r.Config.N))
}

// holds reports whether the measured figure agrees with the published one. Histograms keep three digits, and
// the window of a run leaves out its first and last entries.
func (r *Reproduced) holds() bool {
	slack := 0.0
	switch {
	case !r.Judged():
		return false
	case r.Within == nodes.Mean:
		slack = 4 * r.Error
	case r.Within == nodes.Steady:
		slack = 0.01 * r.Published.Max
	case r.Within == nodes.Fitted:
		slack = 0.03 * r.Published.Max
	case r.Election != nil, r.Spec.Detector:
	case r.Figure != nodes.MessagesPerEntry && r.Figure != nodes.PublishesPerEntry:
		slack = 0.005 * r.Published.Max
	}
	return nodes.Between(r.Published.Min-slack, r.Published.Max+slack).Has(r.Measured)
}

// settledCosts are the messages of single requests.
type settledCosts []float64

// Add implements history.Fold.
func (costs *settledCosts) Add(e history.Event) {
	if e.Kind == history.Settled {
		*costs = append(*costs, float64(e.Value))
	}
}

// Close implements history.Fold.
func (costs *settledCosts) Close([]*history.NodeLog) {}

// mean returns the mean of all but the first few, and its standard error by the means of fifty groups, since
// the cost of a request depends on the one before.
func (costs settledCosts) mean(burnIn int) (mean, standardError float64) {
	if len(costs) <= burnIn {
		return math.NaN(), 0
	}
	costs = costs[burnIn:]
	const groups = 50
	size := len(costs) / groups
	var sum, squares float64
	for b := range groups {
		group := 0.0
		for _, x := range costs[b*size : (b+1)*size] {
			group += x
		}
		group /= float64(size)
		sum, squares = sum+group, squares+group*group
	}
	mean = sum / groups
	variance := max(0, squares/groups-mean*mean) * groups / (groups - 1)
	return mean, math.Sqrt(variance / groups)
}
