package study

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"turnstile/algorithms/catalog"
	"turnstile/bench"
	"turnstile/bench/plans"
	"turnstile/bench/runs"
	"turnstile/internal/figure"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/workload"
	"turnstile/results"
)

// An Experiment has the algorithms to run, and settings for all runs.
type Experiment struct {
	Algorithms []*algorithm.Algorithm
	Known      catalog.Table // algorithms that may run beside Algorithms
	Seed       uint64
	Setup      runs.Setup // for the runs of processes
	// Receive is how applications receive messages in drawn runs.
	Receive workload.Receive
	// Progress is called after each run, from several goroutines, one at a time; it may be nil.
	Progress func(done, all int, r *Result)

	// Command is the command that repeats the study. Grid is the text of the file that it names, if any.
	Command, Grid string
	Mixed         bool // the set may have runs made by another commit

	unwritten error // why results can be written no more, which ends the study
	// finished are the runs that the set has, by their names in a sweep; nil: runs are not continued.
	finished map[string]*results.Folder
	cut      []*results.Folder // folders of runs that ended early; these runs are made again
}

// draw draws the run with a number: see plans.Source.
func (e *Experiment) draw(number int, real bool) (*bench.Job, error) {
	s := plans.Source{Algorithms: e.Algorithms, Known: e.Known, Seed: e.Seed, Receive: e.Receive}
	return s.Job(number, real)
}

// An UnreadableError is the error for a file of a set that cannot be read.
type UnreadableError struct{ error }

func (e UnreadableError) Unwrap() error { return e.error }

// readSet calls each for every finished run of the set, and keeps the runs that ended early. It returns an
// error if a run cannot be read or, unless Mixed is set, was made by another commit.
func (e *Experiment) readSet(each func(*runs.Record, *results.Folder) error) error {
	e.cut = nil
	if _, err := results.Makings(e.Setup.Results, e.Setup.Set); err != nil {
		return UnreadableError{err}
	}
	set := results.OpenSet(e.Setup.Results, e.Setup.Set)
	if set == nil {
		return nil
	}
	for _, folder := range set.Runs {
		record, err := runs.ReadRecord(folder)
		if err != nil {
			return UnreadableError{fmt.Errorf("%w; remove the folder to have the run made again", err)}
		}
		switch was, is := madeBy(record.Versions), madeBy(e.Setup.Versions); {
		case record.Sweep == nil:
			continue // the run was made on its own
		case record.CutShort():
			e.cut = append(e.cut, folder)
			continue
		case was != is && !e.Mixed:
			return fmt.Errorf("the set %s has runs made by Turnstile %s, and this is %s: use another set, or "+
				"say --mixed to keep both in one set, with their versions in the column version", e.Setup.Set, was, is)
		}
		if err := each(record, folder); err != nil {
			return err
		}
	}
	return nil
}

// madeBy returns the commit that made a run or, if that is unknown, the version.
func madeBy(versions map[string]string) string {
	return cmp.Or(versions["revision"], versions["turnstile"])
}

// Lock gives this process the sole right to make runs of the set, until unlock is called. It hides the
// folders of runs that ended early, by a dot before their names.
func (e *Experiment) Lock() (unlock func() error, err error) {
	if unlock, err = results.LockSet(e.Setup.Results, e.Setup.Set); err != nil {
		return nil, err
	}
	for _, folder := range e.cut {
		if err := folder.Hide(); err != nil {
			return nil, errors.Join(err, unlock())
		}
	}
	return unlock, nil
}

// Continue locks the set, and has the study go on with the runs that the set lacks: one that it has is judged
// again instead. It records the command of the study, which makes so many trials of each of its cells.
func (e *Experiment) Continue(cells, trials int) (unlock func() error, err error) {
	e.finished = map[string]*results.Folder{}
	err = e.readSet(func(r *runs.Record, folder *results.Folder) error {
		e.finished[r.Sweep.Name] = folder
		return nil
	})
	if err != nil {
		return nil, err
	}
	if unlock, err = e.Lock(); err != nil {
		return nil, err
	}
	return unlock, e.describe(cells, trials)
}

// describe records the command and the machine that make the runs.
func (e *Experiment) describe(cells, trials int) error {
	return results.AddMaking(e.Setup.Results, e.Setup.Set, results.Making{Command: e.Command, Grid: e.Grid,
		Seed: e.Seed, Trials: trials, Cells: cells, Started: time.Now().Round(time.Second).UTC(),
		Versions: e.Setup.Versions, Machine: results.ThisMachine()})
}

// ended returns why the study has ended early: results cannot be written, or ctx is done.
func (e *Experiment) ended(ctx context.Context) error { return cmp.Or(e.unwritten, ctx.Err()) }

// stops reports whether the run of a result ends the study.
func (e *Experiment) stops(r *Result) bool {
	if results.Unwritable(r.Err) {
		e.unwritten = cmp.Or(e.unwritten, r.Err)
	}
	return e.unwritten != nil
}

// simulating returns about how long simulated runs take on this machine: 3 ms of CPU time each, as measured
// in runs of chaos and matrix.
func simulating(count int) time.Duration {
	return time.Duration(count) * 3 * time.Millisecond / time.Duration(runtime.GOMAXPROCS(0))
}

// latency is the latency of messages in simulations.
const latency = time.Millisecond

// byKind groups algorithms by the kind of their machines.
func byKind(algos []*algorithm.Algorithm) map[nodes.Kind][]*algorithm.Algorithm {
	of := map[nodes.Kind][]*algorithm.Algorithm{}
	for _, algo := range algos {
		of[algo.Kind] = append(of[algo.Kind], algo)
	}
	return of
}

// entryFigures computes for how long two clients were inside at once.
func (c *Cell) entryFigures(out *results.MatrixRow) {
	for _, r := range c.Runs {
		out.OverlapUS = figure.Max(out.OverlapUS, figure.Number(float64(r.Verdict.Overlap.Nanoseconds())/1e3))
	}
}

// leaderFigures computes for how long two nodes led, or no node, and when all agreed again.
func (c *Cell) leaderFigures(out *results.MatrixRow) {
	for _, r := range c.Runs {
		if r.Err == nil {
			out.TwoLeadersUS = figure.Max(out.TwoLeadersUS, figure.Number(float64(r.Leaders.TwoLeaders)/1e3))
		}
	}
	out.AgreedS = c.median((*Result).agreed)
	out.LeaderlessUS = c.median(func(r *Result) figure.Figure {
		return figure.Number(float64(r.Leaders.Leaderless) / 1e3)
	})
}
