package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"turnstile/chaos"
	"turnstile/internal/chance"
	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/sim"
)

// Simulated are the faults that are injected into a simulated run.
type Simulated struct {
	Reordering  bool    `yaml:"reordering,omitempty"`  // messages of one link may arrive in any order
	Loss        float64 `yaml:"loss,omitempty"`        // share of messages that are lost
	Duplication float64 `yaml:"duplication,omitempty"` // share of messages that arrive twice

	Crashes []sim.Crash `yaml:"crashes,omitempty"`
}

// The kinds of runs, as runs.csv names them.
const (
	kindBench    = "bench"
	kindSimulate = "simulate"
)

// Simulate makes a run on virtual time. Its result set is that of a run of real processes, made by the same
// measures and checks.
func Simulate(ctx context.Context, spec *nodes.Spec, o Options, f Simulated, s Setup) (*Run, error) {
	if err := o.Validate(spec); err != nil {
		return nil, err
	}
	if err := errors.Join(f.check(), simulation(o, f, spec, o.Seed).Validate()); err != nil {
		return nil, err
	}
	r, err := s.begin(Record{Options: o, Simulated: &f}, spec)
	if err != nil {
		return nil, err
	}
	return r, r.simulateAll(ctx, s)
}

// simulateAll makes the trials, one after the other, and saves their results even after an error.
func (r *Run) simulateAll(ctx context.Context, s Setup) (err error) {
	defer func() {
		r.Record.Status = statusOver
		err = errors.Join(err, r.save())
	}()
	for number := 1; number <= r.Record.Options.Trials; number++ {
		if ctx.Err() != nil {
			return errInterrupted
		}
		if s.Progress != nil {
			s.Progress(Progress{Trial: number, Phase: "simulating"})
		}
		err := r.simulate(ctx, number)
		if s.OnTrial != nil && len(r.Trials) == number {
			s.OnTrial(r.Trials[number-1])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// check says what is wrong with the shares, if anything is.
func (f *Simulated) check() error {
	network := chaos.Network{Loss: f.Loss, Duplication: f.Duplication}
	return network.Validate()
}

// faultless reports whether nothing goes wrong.
func (f *Simulated) faultless() bool {
	return !f.Reordering && f.Loss == 0 && f.Duplication == 0 && len(f.Crashes) == 0
}

// simulation returns the options of the simulator for a trial.
func simulation(o Options, f Simulated, spec *nodes.Spec, seed uint64) *sim.Options {
	network := o.network()
	network.Loss, network.Duplication = f.Loss, f.Duplication
	asked := &sim.Options{
		Spec: spec, Config: o.Config, Workload: o.Workload, Seed: seed,
		Warmup: o.Warmup, WarmupLimit: o.warmupLimit(), Duration: o.Duration, Entries: o.Entries,
		Multicast: o.Multicast, Reordering: f.Reordering, Crashes: f.Crashes,
	}
	for _, m := range o.moments(0) {
		at := time.Duration(m.at)
		asked.Marks = append(asked.Marks, sim.Mark{At: at, Event: m.event(0)})
		for _, id := range m.fault.Pause {
			if m.begins {
				asked.Pauses = append(asked.Pauses, sim.Pause{Node: id, At: at, For: m.fault.For})
			}
		}
	}
	asked.Latency, asked.Shaper = network.Simulated(chance.Dice(seed))
	return asked
}

// simulate makes one trial. One that ends early is an error, and judged all the same.
func (r *Run) simulate(ctx context.Context, number int) error {
	o, seed := r.Record.Options, trialSeed(r.Record.Options.Seed, number)
	record := TrialRecord{Seed: seed, Started: time.Now().UTC().Round(time.Microsecond)}
	asked := simulation(o, *r.Record.Simulated, r.Spec, seed)
	asked.Interrupt = ctx.Done()
	header := history.Header{Nodes: o.Config.N + r.Spec.ServerCount(o.Config),
		Origin: r.Record.origin(number)}
	file, err := history.CreateFile(r.Folder.HistoryFile(number), header)
	if err != nil {
		return err
	}
	j := r.judgement(header)
	result, err := simulateWatched(ctx, *asked, stuckAfter, j, file)
	if errors.As(err, new(stuckError)) {
		return err // the folds are still in use
	}
	saved := file.Save()
	if err != nil {
		return fmt.Errorf("simulating: %w", err)
	}
	cut := result.Cut
	if errors.Is(cut, sim.ErrInterrupted) {
		cut = errInterrupted
	}
	if cut != nil {
		record.Trouble = cut.Error()
	}
	r.Record.Trials = append(r.Record.Trials, record)
	if result.Stall != "" {
		if err := r.Folder.WriteText(stallFile(number), result.Stall); err != nil {
			return err
		}
	}
	r.conclude(number, j)
	return errors.Join(cut, saved)
}
