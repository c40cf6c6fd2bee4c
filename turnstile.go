// Package turnstile is the entry point of Turnstile, a benchmark and fault-injection testbed for distributed
// mutual exclusion and leader election. It has what a program needs to test an algorithm of its own.
//
// An algorithm is a machine of package [turnstile/nodes], and a [Algorithm] says what it promises. A program
// with such an algorithm
//
//   - simulates it on virtual time, under faults ([Simulate]),
//   - explores every order of events in a small cluster ([Explore]),
//   - checks whether it keeps its promises under many random faults ([Check]),
//   - becomes an orchestrator that knows this algorithm besides all others
//     ([turnstile/orchestrator.Main]): it runs the algorithm in processes over NATS, sweeps its parameters,
//     draws its runs, and includes it in the fault matrix.
//
// [Judge] judges a history that another program has recorded. This package imports neither NATS nor commands,
// so that a test which calls Check compiles soon.
//
// The page docs/extending.md begins with an example of a module with its own algorithm.
package turnstile

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"turnstile/algorithms/catalog"
	"turnstile/bench"
	"turnstile/chaos"
	"turnstile/internal/chance"
	"turnstile/judge/check"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/explore"
	"turnstile/nodes/workload"
	"turnstile/option"
	"turnstile/results"
)

// An Algorithm is an algorithm: how its machines are made, and what it promises. An algorithm of your own
// needs Name, New, Messages, Safe and Live, the field of its Kind (Mutex, Elector or Detector), and Timers,
// if its machines set any.
type Algorithm = algorithm.Algorithm

// A Verdict is the judgement whether a run kept the promises of its algorithm (valid, violated or
// inconclusive), with the reason.
type Verdict = check.Verdict

// An Exploration has the options of [Explore], and an Explored has its result.
type (
	Exploration = explore.Options
	Explored    = explore.Result
)

// A Run is a run on virtual time. A zero field means the default of the command line, unless its
// comment says otherwise.
type Run struct {
	Algorithm *Algorithm
	N         int               // number of clients; 0: 5
	Options   map[string]string // options of the algorithm, by name
	Beside    []*Algorithm      // other algorithms of your own, which Elect and Detector may name

	Elect    string // the election scheme that runs beside the algorithm, as in "bully:answer=50ms"
	Detector string // the failure detector that runs beside the algorithm, as in "heartbeat"

	Load    string   // saturated, closed, open, one or sequential; leave it empty for an election
	Rate    float64  // under an open load: requests per second and client
	Hold    string   // time inside, as in "1ms" or "exponential:1ms"; empty: none
	Think   string   // under a closed load: time between a release and the next request
	Latency string   // latency of every message; empty: 1ms
	Faults  []string // as --fault takes them: "kill: holder, at: 1s"

	Duration time.Duration // duration on virtual time; 0: 3s, unless Entries is set
	Entries  uint64        // end the run after this number of entries; 0: after Duration
	Seed     uint64        // seed of all random draws; 0: 1
}

// A Simulated is the result of a run: its verdict and its figures.
type Simulated struct {
	Verdict Verdict
	// Figures are the measured figures, by the names of the columns of runs.csv (docs/columns.md has their
	// units). An unknown figure is missing.
	Figures map[string]float64
}

// Simulate makes a run on virtual time and judges it. It returns an error if the run is not possible, or if a
// handler panics or does not return. A broken promise is not an error, but a violated [Verdict].
func Simulate(ctx context.Context, r Run) (*Simulated, error) {
	if r.Algorithm == nil {
		return nil, errors.New("a run without a row: set Row")
	}
	table, err := tableOf(append(slices.Clip(r.Beside), r.Algorithm)...)
	if err != nil {
		return nil, err
	}
	o, err := r.options()
	if err != nil {
		return nil, err
	}
	job, err := bench.Resolve(table, *o, r.Algorithm, true)
	if err != nil {
		return nil, err
	}
	tried, err := bench.Simulate(ctx, job)
	if err != nil {
		return nil, err
	}
	s := &Simulated{Verdict: tried.Verdict, Figures: map[string]float64{}}
	if tried.Led != nil {
		tried.Measures.AddLeaders(tried.Led, len(job.Stack.Mutexes()) == 0)
	}
	line := results.Row{Figures: tried.Measures.Columns()}
	for _, column := range results.FigureColumns() {
		if x, known := line.Figure(results.Column(column)).Value(); known {
			s.Figures[column] = x
		}
	}
	return s, nil
}

// tableOf returns the algorithms of Turnstile together with the given algorithms, which may be among them.
func tableOf(algos ...*Algorithm) (catalog.Table, error) {
	t := catalog.Table{}
	theirs := append(t.Algorithms(), t.Detectors()...)
	return catalog.With(slices.DeleteFunc(slices.Clone(algos), func(r *Algorithm) bool {
		return slices.Contains(theirs, r)
	})...)
}

// options returns the options of the run.
func (r *Run) options() (*option.Run, error) {
	o := option.Defaults()
	o.Algorithm, o.Latency = r.Algorithm.Name, chance.Constant(time.Millisecond)
	o.Config = nodes.Config{N: r.N, Options: maps.Clone(r.Options), Elect: r.Elect}
	o.Detector, o.Entries, o.Workload.Rate = r.Detector, r.Entries, r.Rate
	if r.N == 0 {
		o.Config.N = 5
	}
	if r.Seed != 0 {
		o.Seed = r.Seed
	}
	if r.Duration != 0 || r.Entries > 0 {
		o.Duration, o.Warmup, o.WarmupLimit = r.Duration, r.Duration/10, 0
	}
	var err error
	switch {
	case check.ProblemOf(r.Algorithm).Leads:
		o.Workload = workload.Workload{Load: workload.Campaign, Initiators: workload.AllInitiate}
		o.Warmup, o.WarmupLimit = 0, 0
	case r.Load != "":
		if o.Workload.Load, err = workload.ParseLoad(r.Load); err != nil {
			return nil, err
		}
	}
	for _, d := range []struct {
		name, text string
		to         *chance.Distribution
	}{{"Hold", r.Hold, &o.Workload.Hold}, {"Think", r.Think, &o.Workload.Think},
		{"Latency", r.Latency, &o.Latency}} {
		if d.text == "" {
			continue
		}
		if *d.to, err = chance.ParseDistribution(d.text); err != nil {
			return nil, fmt.Errorf("%s: %w", d.name, err)
		}
	}
	for _, text := range r.Faults {
		f, err := chaos.ParseFault(text)
		if err != nil {
			return nil, fmt.Errorf("the fault %q: %w", text, err)
		}
		o.Faults = append(o.Faults, f)
	}
	return &o, nil
}

// Explore tries every order of deliveries, timers, requests and allowed faults in a small cluster, breadth
// first. A violation is not an error, but part of the result; its schedule and its story show how it comes
// about.
func Explore(x Exploration) (*Explored, error) { return explore.Run(x) }
