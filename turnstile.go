// Package turnstile is the entry point of Turnstile, a benchmark and fault-injection testbed for distributed
// mutual exclusion and leader election. It has what a program needs to test an algorithm of its own.
//
// An algorithm is a machine of package [turnstile/nodes]. An [Algorithm] says how its machines are made and
// what it promises. With it, a program
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
	"cmp"
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
	"turnstile/nodes/algorithm"
	"turnstile/nodes/explore"
	"turnstile/nodes/replay"
	"turnstile/nodes/workload"
	"turnstile/option"
	"turnstile/results"
)

// An Algorithm says how the machines of an algorithm are made, and what it promises. One of your own needs
// Name, New, Messages, Safe and Live, the field of its Kind (Mutex, Elector or Detector), and Timers if its
// machines set any.
type Algorithm = algorithm.Algorithm

// A Verdict is the judgement whether a run kept the promises of its algorithm (valid, violated or
// inconclusive), with the reason.
type Verdict = check.Verdict

// An Exploration is what [Explore] explores, and an Explored is its result.
type (
	Exploration = explore.Space
	Explored    = explore.Result
)

// A Run is a run on virtual time. Without options it is as orchestrator simulate makes it.
type Run struct {
	Algorithm *Algorithm
	Beside    []*Algorithm // other algorithms of your own, which the options elect and detector may name

	// Options are the values of flags of orchestrator simulate, by name, among them the options of the
	// algorithm: {"latency": "exponential:1ms", "think": "5ms", "tree": "star"}.
	Options map[string]string
	Faults  []string // as --fault takes them: "kill: holder, at: 1s"

	// The fields below set the options nodes, duration, entries and seed, unless they are 0 or Options has them.
	N        int
	Duration time.Duration // on virtual time
	Entries  uint64        // the run ends after this number of entries, instead of Duration
	Seed     uint64        // of all random draws; 0: 1
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
	job, err := r.job()
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

// Schedule makes a run on virtual time, and returns its steps: a schedule that ends in the same states of all
// nodes. It returns an error if a schedule cannot tell what happened: if several algorithms run beside each
// other, for instance.
func Schedule(ctx context.Context, r Run) (*replay.Schedule, error) {
	job, err := r.job()
	if err != nil {
		return nil, err
	}
	return job.Schedule(ctx, job.Seed)
}

// job returns the job of the run.
func (r *Run) job() (*bench.Job, error) {
	if r.Algorithm == nil {
		return nil, errors.New("a run without an algorithm: set Algorithm")
	}
	table, err := tableOf(append(slices.Clip(r.Beside), r.Algorithm)...)
	if err != nil {
		return nil, err
	}
	o, err := r.options()
	if err != nil {
		return nil, err
	}
	return bench.Resolve(table, *o, r.Algorithm, true)
}

// tableOf returns the algorithms of Turnstile together with the given algorithms, which may be among them.
func tableOf(algos ...*Algorithm) (catalog.Table, error) {
	t := catalog.Table{}
	theirs := append(t.Algorithms(), t.Detectors()...)
	return catalog.With(slices.DeleteFunc(slices.Clone(algos), func(algo *Algorithm) bool {
		return slices.Contains(theirs, algo)
	})...)
}

// options returns the options of the run.
func (r *Run) options() (*bench.Options, error) {
	o := option.Defaults()
	o.Algorithm, o.Latency = r.Algorithm.Name, chance.Constant(time.Millisecond)
	o.Config.N, o.Seed = cmp.Or(r.N, o.Config.N), cmp.Or(r.Seed, o.Seed)
	if r.Duration != 0 || r.Entries > 0 {
		o.Duration, o.Entries, o.Warmup, o.WarmupLimit = r.Duration, r.Entries, r.Duration/10, 0
	}
	if check.ProblemOf(r.Algorithm).Leads {
		o.Workload = workload.Workload{Load: workload.Campaign, Initiators: workload.AllInitiate}
		o.Warmup, o.WarmupLimit = 0, 0
	} else if _, thinks := r.Options["think"]; thinks {
		o.Workload.Load = workload.Closed
	} else if _, open := r.Options["rate"]; open {
		o.Workload.Load = workload.Open
	}
	for _, name := range slices.Sorted(maps.Keys(r.Options)) {
		if err := r.set(&o, name, r.Options[name]); err != nil {
			return nil, fmt.Errorf("the option %s: %w", name, err)
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

// set sets an option of simulate, or of the algorithm.
func (r *Run) set(o *option.Run, name, text string) error {
	switch of := option.Find(name); {
	case of == nil:
		o.Config = o.Config.With(name, text) // bench.Resolve refuses an option that the algorithm lacks
		return nil
	case of.Elsewhere || of.Real || name == "trials":
		return errors.New("a simulated run of one trial has no such option here; Faults takes faults")
	}
	return option.Set(o, name, text)
}

// Explore tries every order of deliveries, timers, requests and allowed faults in a small cluster, breadth
// first. A violation is not an error, but part of the result; its schedule and its story show how it comes
// about.
func Explore(x Exploration) (*Explored, error) { return explore.Run(x) }
