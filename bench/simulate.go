package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"turnstile/chaos"
	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/sim"
)

// The kinds of runs, as runs.csv names them.
const (
	kindBench    = "bench"
	kindSimulate = "simulate"
)

// Simulate makes a run on virtual time. Its result set is that of a run of real processes, made by the same
// measures and checks.
func Simulate(ctx context.Context, spec *nodes.Spec, o Options, s Setup) (*Run, error) {
	if _, err := o.validSimulation(spec); err != nil {
		return nil, err
	}
	r, err := s.begin(Record{Options: o, Simulated: true}, spec)
	if err != nil {
		return nil, err
	}
	return r, r.simulateAll(ctx, s)
}

// simulateAll makes the trials, one after the other, and saves their results even after an error.
func (r *Run) simulateAll(ctx context.Context, s Setup) (err error) {
	defer func() { err = errors.Join(err, r.end()) }()
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

// validSimulation completes the options as Validate does, and returns those of the simulator for the first
// trial. It is an error if something is wrong with either.
func (o *Options) validSimulation(spec *nodes.Spec) (*sim.Options, error) {
	if err := o.Validate(spec); err != nil {
		return nil, err
	}
	s, err := simulation(*o, spec, o.Seed)
	if err == nil {
		err = s.Validate()
	}
	return s, err
}

// simulation returns the options of the simulator for a trial, faults included.
func simulation(o Options, spec *nodes.Spec, seed uint64) (*sim.Options, error) {
	faults, err := o.resolve(spec, 0, seed, true)
	if err != nil {
		return nil, err
	}
	network := o.network()
	s, err := network.Simulated(faults, o.scene(spec, true), seed)
	return &sim.Options{
		Spec: spec, Config: o.Config, Beside: o.beside(), Workload: o.Workload, Seed: seed,
		Warmup: o.Warmup, WarmupLimit: o.warmupLimit(), Duration: o.Duration, Entries: o.Entries,
		Multicast: o.Multicast, Counts: o.faulty(), Latency: s.Latency, Shaper: s.Shaper,
		Saboteur: s.Saboteur,
	}, err
}

// cameTo returns faults that a simulation has carried out, with those whom they hit.
func cameTo(s *sim.Options) []chaos.Fault {
	if driver, faulty := s.Saboteur.(*chaos.Driver); faulty {
		return driver.CameTo()
	}
	return nil
}

// simulate makes one trial. One that ends early is an error, and judged all the same.
func (r *Run) simulate(ctx context.Context, number int) error {
	o, seed := r.Record.Options, trialSeed(r.Record.Options.Seed, number)
	record := TrialRecord{Seed: seed, Started: time.Now().UTC().Round(time.Microsecond)}
	asked, err := simulation(o, r.Spec, seed)
	if err != nil {
		return err
	}
	asked.Interrupt = ctx.Done()
	header := history.Header{Nodes: o.total(r.Spec), Origin: r.Record.origin(number)}
	file, err := history.CreateFile(r.Folder.HistoryFile(number), header)
	if err != nil {
		return err
	}
	j := r.judgement(header, number)
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
	record.Faults = cameTo(asked)
	r.Record.Trials = append(r.Record.Trials, record)
	if result.Stall != "" {
		if err := r.Folder.WriteText(stallFile(number), result.Stall); err != nil {
			return err
		}
	}
	r.conclude(number, j)
	return errors.Join(cut, saved)
}
