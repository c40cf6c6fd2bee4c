package experiment

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime"
	"time"

	"turnstile/bench"
	"turnstile/bench/option"
	"turnstile/internal/chance"
	"turnstile/judge/check"
	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/row"
	"turnstile/nodes/workload"
)

// A Reproduced is a published figure of an algorithm, and what a simulated run measured.
type Reproduced struct {
	row.Claim
	Spec      *row.Row
	Config    nodes.Config
	Load      workload.Load
	Published row.Range
	Measured  float64
	Error     float64 // standard error of a mean; otherwise zero
	Holds     bool    // it is judged, and as published
}

// Judged reports whether the figure has a verdict.
func (r *Reproduced) Judged() bool { return r.Within != row.Beside }

// Reproduce makes the runs that the claims of the rows are about. It returns the figures of which there is a
// run, and how many are listed in all. If ctx is done, the error is that of ctx.
func (e *Experiment) Reproduce(ctx context.Context) (figures []*Reproduced, listed int, err error) {
	var all []*Reproduced
	for _, spec := range e.Rows {
		for _, claim := range spec.Published {
			for _, config := range claim.Configs() {
				all = append(all, &Reproduced{Claim: claim, Spec: spec, Config: config})
			}
		}
	}
	results := e.run(ctx, runtime.GOMAXPROCS(0), len(all), 0, len(all), func(number int) *Result {
		r := all[number]
		result := &Result{Job: &bench.Job{Spec: r.Spec, Simulated: true}, Figure: r}
		if result.Err = r.reproduce(ctx, e.Seed); r.Judged() && !r.Holds {
			result.Wrong = "it is off"
		}
		return result
	})
	for _, r := range made(results) {
		if r.Err != nil {
			f := r.Figure
			return nil, len(all), fmt.Errorf("%s of %s, %d nodes: %w", f.Figure, f.Spec.Name, f.Config.N, r.Err)
		}
		figures = append(figures, r.Figure)
	}
	return figures, len(all), ctx.Err()
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
	return map[nodes.Kind]func(*Reproduced, context.Context, uint64) error{
		nodes.MutualExclusion: (*Reproduced).reproduceEntries, nodes.Election: (*Reproduced).reproduceElections,
		nodes.Detection: (*Reproduced).reproduceDetection}[r.Spec.Kind](r, ctx, seed)
}

// reproduceEntries makes the run that a claim about entries is about.
func (r *Reproduced) reproduceEntries(ctx context.Context, seed uint64) error {
	const least = 10 * time.Microsecond // negligible beside a hop
	c, spec, config := &r.Claim, r.Spec, r.Config
	r.Published, r.Load = c.Value(config), workload.Load(cmp.Or(c.Load, string(workload.Saturated)))
	o := bench.Options{Config: spec.Explicit(config), Entries: r.entries(), Seed: seed,
		Multicast: c.Multicast, Latency: chance.Constant(row.Hop),
		Detector: option.NoDetector, Workload: workload.Workload{Load: r.Load, Think: chance.Constant(c.Think),
			Hold: chance.Constant(max(c.Hold, least))}}
	if c.Take != "" {
		if err := o.Workload.Take.Set(c.Take); err != nil {
			return err
		}
	}
	var costs settledCosts
	t, err := tried(ctx, o, spec, eachEvent(func(e history.Event) {
		if e.Kind == history.Settled {
			costs = append(costs, float64(e.Value))
		}
	}))
	if err != nil {
		return err
	}
	if t.Verdict.Outcome == check.Violated {
		return fmt.Errorf("the run is violated: %s", t.Verdict.Reason)
	}
	m := t.Measures
	switch c.Figure {
	case row.MessagesPerEntry:
		r.Measured, _ = m.MessagesPerEntry.Value()
		if c.Within == row.Mean {
			r.Measured, r.Error = costs.mean(5 * config.N)
		}
	case row.PublishesPerEntry:
		r.Measured, _ = m.PublishesPerEntry.Value()
	case row.SynchronizationDelayHops:
		r.Measured = m.SynchronizationDelay.Hist.Mean() / float64(row.Hop)
	case row.ClientDelayHops:
		r.Measured = m.Wait.Hist.Mean() / float64(row.Hop)
	case row.Utilisation:
		r.Measured, _ = m.Utilisation.Value()
	case row.EntriesPerSecond:
		r.Measured, _ = m.EntriesPerS.Value()
	}
	r.Holds = r.holds()
	return nil
}

// tried makes the simulated run that options describe, which need not be complete for one that is stored.
func tried(ctx context.Context, o bench.Options, row *row.Row, folds ...history.Fold) (*bench.Tried, error) {
	j, err := bench.Draft(o, row, true)
	if err != nil {
		return nil, err
	}
	return bench.Simulate(ctx, j, folds...)
}

// eachEvent is called with each event of a run.
type eachEvent func(history.Event)

// Add implements history.Fold.
func (each eachEvent) Add(e history.Event) { each(e) }

// Close implements history.Fold.
func (eachEvent) Close([]*history.NodeLog) {}

// entries returns how many entries the run makes.
func (r *Reproduced) entries() uint64 {
	switch r.Within {
	case row.Mean:
		return 20_000
	case row.Steady, row.Fitted:
		return 5000
	}
	return uint64(max(1000, 20*r.Config.N))
}

// rounded is by which part a figure may be off that is of a histogram or of a window.
var rounded = map[row.Figure]float64{row.SynchronizationDelayHops: 0.005, row.ClientDelayHops: 0.005,
	row.Utilisation: 0.005, row.EntriesPerSecond: 0.005}

// holds reports whether the measured figure agrees with the published one. Histograms keep three digits, and
// the window of a run leaves out its first and last entries.
func (r *Reproduced) holds() bool {
	slack := 0.0
	switch {
	case !r.Judged():
		return false
	case r.Within == row.Mean:
		slack = 4 * r.Error
	case r.Within == row.Steady:
		slack = 0.01 * r.Published.Max
	case r.Within == row.Fitted:
		slack = 0.03 * r.Published.Max
	default:
		slack = rounded[r.Figure] * r.Published.Max
	}
	return row.Between(r.Published.Min-slack, r.Published.Max+slack).Has(r.Measured)
}

// settledCosts are the messages of single requests.
type settledCosts []float64

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
