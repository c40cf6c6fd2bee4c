package bench

import (
	"fmt"
	"math"
	"time"

	"turnstile/bench/check"
	"turnstile/bench/measure"
	"turnstile/internal/chance"
	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/mutex"
	"turnstile/nodes/sim"
	"turnstile/nodes/workload"
)

// A Claim is a figure that was published of an algorithm, and how to reproduce it in a simulated run: all
// links take a hop of one millisecond, and nothing but the hold takes time besides.
type Claim struct {
	Figure    Quantity
	Algorithm string
	Source    string // who says so
	Published nodes.Range
	How       Strength

	N         int
	Load      workload.Load
	Hold      time.Duration
	Think     time.Duration
	Options   map[string]string // of the algorithm
	Multicast bool
	Entries   uint64
}

// A Quantity is what a claim is about.
type Quantity string

// The quantities.
const (
	MessagesPerEntry         Quantity = "messages per entry"
	PublishesPerEntry        Quantity = "publishes per entry"
	SynchronizationDelayHops Quantity = "synchronization delay, hops"
	ClientDelayHops          Quantity = "client delay, hops"
	Utilisation              Quantity = "utilisation"
	Rate                     Quantity = "entries per second"
)

// A Strength says how near a figure has to come.
type Strength int

// The strengths.
const (
	Exact  Strength = iota // within the range, but for rounding
	Mean                   // a mean of draws: within four standard errors, by fifty batches
	Steady                 // of a run that has settled: within one hundredth, since its first entries differ
	Fitted                 // a curve that was fitted to simulations: within three hundredths
)

// A Reproduced is what came of a claim.
type Reproduced struct {
	Claim
	Measured float64
	Error    float64 // standard error of a mean; otherwise zero
	Holds    bool
}

// Ratio returns measured / published, the published figure being the middle of its range.
func (r *Reproduced) Ratio() float64 {
	if math.IsInf(r.Published.Max, 1) {
		return math.NaN()
	}
	return r.Measured / ((r.Published.Min + r.Published.Max) / 2)
}

// hop is the latency of every link.
const hop = time.Millisecond

// Reproduce makes the run that a claim is about.
func (c Claim) Reproduce(seed uint64) (*Reproduced, error) {
	spec, err := mutex.Find(c.Algorithm)
	if err != nil {
		return nil, err
	}
	o := Options{Algorithm: spec.Name, Config: nodes.Config{N: c.N, Options: c.Options},
		Workload: workload.Workload{Load: c.Load, Hold: chance.Constant(c.Hold), Think: chance.Constant(c.Think)},
		Latency:  chance.Constant(hop), Multicast: c.Multicast, Entries: c.Entries, Seed: seed}
	result, err := sim.Run(*simulation(o, Simulated{}, spec, seed))
	if err != nil {
		return nil, fmt.Errorf("%s of %s: %w", c.Figure, c.Algorithm, err)
	}
	h := result.History
	if v := check.Judge(h, setting(o, spec, spec.Codec().Names())); v.Outcome == check.Violated {
		return nil, fmt.Errorf("%s of %s: the run is violated: %s", c.Figure, c.Algorithm, v.Reason)
	}
	r := &Reproduced{Claim: c}
	m := measure.Of(h, o.Workload.Load)
	switch c.Figure {
	case MessagesPerEntry:
		r.Measured, _ = m.Messages.PerEntry.Value()
		if c.How == Mean {
			r.Measured, r.Error = settledMean(h, 5*c.N)
		}
	case PublishesPerEntry:
		r.Measured, _ = m.Messages.PublishesPerEntry.Value()
	case SynchronizationDelayHops:
		r.Measured = m.SynchronizationDelay.Hist.Mean() / float64(hop)
	case ClientDelayHops:
		r.Measured = m.ClientDelay.Hist.Mean() / float64(hop)
	case Utilisation:
		r.Measured, _ = m.Utilisation.Value()
	case Rate:
		r.Measured, _ = m.EntriesPerS.Value()
	}
	r.Holds = c.holds(r.Measured, r.Error)
	return r, nil
}

// holds reports whether what was measured is what was published. Histograms keep three digits, and the
// window of a run cuts its first and last entries off.
func (c *Claim) holds(measured, standardError float64) bool {
	slack := 0.0
	switch {
	case c.How == Mean:
		slack = 4 * standardError
	case c.How == Steady:
		slack = 0.01 * c.Published.Max
	case c.How == Fitted:
		slack = 0.03 * c.Published.Max
	case c.Figure != MessagesPerEntry && c.Figure != PublishesPerEntry:
		slack = 0.005 * c.Published.Max
	}
	return nodes.Between(c.Published.Min-slack, c.Published.Max+slack).Has(measured)
}

// settledMean returns the mean messages of single requests, the first few left out, and its standard error by
// the means of fifty batches, since what one request costs depends on the one before.
func settledMean(h *history.History, burnIn int) (mean, standardError float64) {
	var costs []float64
	for e := range h.All() {
		if e.Kind == history.Settled {
			costs = append(costs, float64(e.Value))
		}
	}
	if len(costs) <= burnIn {
		return math.NaN(), 0
	}
	costs = costs[burnIn:]
	const batches = 50
	size := len(costs) / batches
	var sum, squares float64
	for b := range batches {
		batch := 0.0
		for _, x := range costs[b*size : (b+1)*size] {
			batch += x
		}
		batch /= float64(size)
		sum, squares = sum+batch, squares+batch*batch
	}
	mean = sum / batches
	variance := max(0, squares/batches-mean*mean) * batches / (batches - 1)
	return mean, math.Sqrt(variance / batches)
}
