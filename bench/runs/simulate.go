package runs

import (
	"context"
	"errors"
	"fmt"
	"time"

	"turnstile/bench"
	"turnstile/bench/trial"
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
			return trial.ErrInterrupted
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

// simulate makes one trial. If the trial ends early, simulate judges it all the same, and returns an error.
func (r *Run) simulate(ctx context.Context, number int) error {
	record := TrialRecord{Seed: bench.TrialSeed(r.Seed, number),
		Started: time.Now().UTC().Round(time.Microsecond)}
	header := history.Header{Nodes: r.Total(), Origin: r.Record.origin(number)}
	file, err := history.CreateFile(r.Folder.HistoryFile(number), header)
	if err != nil {
		return err
	}
	t, err := r.SimulateTrial(ctx, number, record.Seed, header, file)
	if errors.As(err, new(bench.StuckError)) {
		return err
	}
	saved := file.Save()
	if err != nil {
		return fmt.Errorf("simulating: %w", err)
	}
	cut := t.Result.Cut
	if errors.Is(cut, sim.ErrInterrupted) {
		cut = trial.ErrInterrupted
	}
	if cut != nil {
		record.Trouble = cut.Error()
	}
	record.Faults = t.Carried
	r.Record.Trials = append(r.Record.Trials, record)
	r.conclude(number, t.Judgement, t.Result.Stall)
	return errors.Join(cut, saved)
}

// Try makes a run of one trial. If it is simulated, Try stores nothing. If the run could not be made as
// asked, Try returns an error and, for a run of processes, what there is of the result.
func Try(ctx context.Context, j *bench.Job, s Setup) (*bench.Tried, error) {
	if !j.Simulated {
		return tryReal(ctx, j, s)
	}
	t, err := bench.Simulate(ctx, j)
	if err != nil {
		return nil, err
	}
	t.Simulated.Lead()
	if faults := t.Simulated.OfFaults; faults != nil {
		t.Rows = faults.Rows(bench.FaultIn(t.Faults), t.Measures.Leaders)
	}
	return t, nil
}

// tryReal is Try for a run of processes.
func tryReal(ctx context.Context, j *bench.Job, s Setup) (*bench.Tried, error) {
	r, err := Make(ctx, j, s)
	if r == nil {
		return nil, err
	}
	t := r.Tried()
	if t == nil {
		return &bench.Tried{Folder: r.Folder.Ref()}, errors.Join(err, errors.New("it has no trial"))
	}
	if trouble := r.Trials[0].Trouble; err == nil && trouble != "" {
		err = errors.New(trouble)
	}
	return t, err
}

// Tried returns the result of the first trial; nil if the run has no trial.
func (r *Run) Tried() *bench.Tried {
	if len(r.Trials) == 0 {
		return nil
	}
	one := r.Trials[0]
	t := &bench.Tried{Folder: r.Folder.Ref(), Verdict: one.Verdict, Measures: one.Measures,
		Faults: r.Record.Trials[0].Faults}
	for i := range one.Faults {
		t.Rows = append(t.Rows, one.Faults[i].OfFault)
	}
	return t
}
