package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"turnstile/chaos"
	"turnstile/nodes/history"
	"turnstile/nodes/sim"
)

// The kinds of runs, as runs.csv names them.
const (
	kindBench    = "bench"
	kindSimulate = "simulate"
)

// simulateAll makes the trials, one after the other, and saves their results even after an error.
func (r *Run) simulateAll(ctx context.Context, s Setup) (err error) {
	defer func() { err = errors.Join(err, r.end()) }()
	for number := 1; number <= r.Options.Trials; number++ {
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

// simulation returns the options of the simulator for a trial, given its number and its seed, and the faults
// of the trial.
func (j *Job) simulation(number int, seed uint64) (*sim.Options, []chaos.Fault, error) {
	faults, err := j.resolve(number, seed)
	if err != nil {
		return nil, nil, err
	}
	network := j.network()
	s, err := network.Simulated(faults, j.Scene(), seed)
	return &sim.Options{
		Stack: j.Stack, Workload: j.Workload, Seed: seed,
		Warmup: j.Warmup, WarmupLimit: j.WarmsUpTo(), Duration: j.Duration, Entries: j.Entries,
		Multicast: j.Multicast, Counts: j.Faulty(), Trace: j.Trace, Latency: s.Latency, Shaper: s.Shaper,
		FaultDriver: s.FaultDriver,
	}, faults, err
}

// A simulatedTrial is a trial on virtual time that has been judged.
type simulatedTrial struct {
	judgement
	result *sim.Result
	faults []chaos.Fault // that were carried out, with those whom they hit
}

// simulated makes a trial on virtual time, given its number and its seed, and judges it. Its history, which
// has the header h, goes to other folds too. After a stuckError the folds are still in use.
func (j *Job) simulated(ctx context.Context, number int, seed uint64, h history.Header,
	folds ...history.Fold) (*simulatedTrial, error) {
	asked, faults, err := j.simulation(number, seed)
	if err != nil {
		return nil, err
	}
	asked.Interrupt = ctx.Done()
	t := &simulatedTrial{judgement: j.judgementOf(h, j.setting(faults))}
	t.result, err = simulateWatched(ctx, *asked, stuckAfter, append([]history.Fold{t.judgement}, folds...)...)
	if err != nil {
		return nil, err
	}
	if driver, faulty := asked.FaultDriver.(*chaos.Driver); faulty {
		t.faults = driver.CameTo()
	}
	return t, nil
}

// simulate makes one trial. One that ends early is an error, and judged all the same.
func (r *Run) simulate(ctx context.Context, number int) error {
	record := TrialRecord{Seed: TrialSeed(r.Seed, number), Started: time.Now().UTC().Round(time.Microsecond)}
	header := history.Header{Nodes: r.total(), Origin: r.Record.origin(number)}
	file, err := history.CreateFile(r.Folder.HistoryFile(number), header)
	if err != nil {
		return err
	}
	t, err := r.simulated(ctx, number, record.Seed, header, file)
	if errors.As(err, new(stuckError)) {
		return err
	}
	saved := file.Save()
	if err != nil {
		return fmt.Errorf("simulating: %w", err)
	}
	cut := t.result.Cut
	if errors.Is(cut, sim.ErrInterrupted) {
		cut = errInterrupted
	}
	if cut != nil {
		record.Trouble = cut.Error()
	}
	record.Faults = t.faults
	r.Record.Trials = append(r.Record.Trials, record)
	r.conclude(number, t.judgement, t.result.Stall)
	return errors.Join(cut, saved)
}
