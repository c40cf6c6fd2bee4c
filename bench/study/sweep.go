package study

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"sync"
	"time"

	"go.yaml.in/yaml/v3"

	"turnstile/bench"
	"turnstile/bench/runs"
	"turnstile/internal/chance"
	"turnstile/results"
)

// A Sweep makes a set of runs over configurations, each so many times. A run has one trial. The runs are made
// in rounds, a trial of each configuration in a round, in an order that the seed draws for each round, so
// that a machine that becomes slower or faster favours no configuration. A run that the set has already is
// not made again, so a sweep that was interrupted goes on where it stopped.
type Sweep struct {
	Experiment
	Cells  []*bench.Job // the configurations, with one trial each; all simulated, or none
	Trials int
	Mixed  bool // the set may have runs that another commit made
	// Parallel is how many runs of processes are made at a time; 0: one.
	Parallel int
	// Command makes the sweep again, with the file that it names, if it names one, whose text is Grid.
	Command, Grid string

	rows    map[string]results.Row     // of the runs that are over, by their names
	changed map[string]error           // of those whose tables were changed, by the same names: they have no row
	folders map[string]*results.Folder // of all these, by the same names
	left    []sweepRun                 // in the order in which they are made
	// vary changes the job of a run of its own, as its seed says; nil: all runs of a configuration are alike.
	vary func(r sweepRun, j *bench.Job)
	cut  []*results.Folder // of runs that were cut short, and are made again

	mu      sync.Mutex // of rows, and of writing them
	next    time.Time  // when they are written next at the earliest
	unwrote error      // the first error of writing them
}

// An UnreadableError says that a file of a set cannot be read.
type UnreadableError struct{ error }

func (e UnreadableError) Unwrap() error { return e.error }

// A sweepRun is one run of a sweep.
type sweepRun struct {
	cell, trial int // from 0 and from 1
	name        string
}

// job returns the job of a trial of a configuration.
func (s *Sweep) job(of *bench.Job, trial int) *bench.Job {
	j := *of
	j.Trials, j.Seed = 1, bench.TrialSeed(s.Seed, trial)
	return &j
}

// Prepare reads what the set has already, and returns how many runs it has and how many are left. It is an
// error if the set was made by another commit, unless Mixed, or with another seed.
func (s *Sweep) Prepare() (made, left int, err error) {
	if err := s.readSet(); err != nil {
		return 0, 0, err
	}
	s.left = nil
	for trial := 1; trial <= s.Trials; trial++ {
		for _, cell := range s.order(trial) {
			r := sweepRun{cell: cell, trial: trial}
			if r.name, err = runName(s.Cells[cell], trial); err != nil {
				return 0, 0, err
			}
			if _, is := s.rows[r.name]; is || s.changed[r.name] != nil {
				made++
			} else {
				s.left = append(s.left, r)
			}
		}
	}
	return made, len(s.left), nil
}

// order returns the order of the configurations in a round, which the seed draws.
func (s *Sweep) order(trial int) (cells []int) {
	for cell := range s.Cells {
		cells = append(cells, cell)
	}
	dice := chance.Dice(s.Seed)
	slices.SortFunc(cells, func(a, b int) int {
		return cmp.Or(cmp.Compare(dice.Bits(turn(a, trial)), dice.Bits(turn(b, trial))), a-b)
	})
	return cells
}

// turn is the roll for the place of a cell in a round.
func turn(cell, trial int) chance.Roll {
	return chance.Roll{Purpose: chance.ForTrial, Kind: uint64(trial), Count: uint64(cell)}
}

// runName returns the name of the folder of a run. Equal trials of equal configurations have equal names.
func runName(j *bench.Job, trial int) (string, error) {
	o := j.Options
	o.Trials, o.Seed = 1, 0
	text, err := yaml.Marshal([]any{o, j.Simulated})
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return fmt.Sprintf("%s-n%d-%s-t%02d", o.Algorithm, o.Config.N, hex.EncodeToString(sum[:4]), trial), nil
}

// readSet reads the rows of the runs of the set that are over.
func (s *Sweep) readSet() error {
	s.rows, s.changed, s.cut = map[string]results.Row{}, map[string]error{}, nil
	s.folders = map[string]*results.Folder{}
	if _, err := results.Makings(s.Setup.Results, s.Setup.Set); err != nil {
		return UnreadableError{err}
	}
	set := results.OpenSet(s.Setup.Results, s.Setup.Set)
	if set == nil {
		return nil
	}
	for _, folder := range set.Runs {
		record, err := runs.ReadRecord(folder)
		if err != nil {
			return UnreadableError{fmt.Errorf("%w; remove the folder to have the run made again", err)}
		}
		run := record.Sweep
		switch was, is := madeBy(record.Versions), madeBy(s.Setup.Versions); {
		case run == nil:
			continue // it was made alone
		case record.CutShort():
			s.cut = append(s.cut, folder)
			continue
		case was != is && !s.Mixed:
			return fmt.Errorf("the set %s has runs that Turnstile %s made, and this is %s: use another set, or "+
				"say --mixed to have both in one, where the column version tells them apart", s.Setup.Set, was, is)
		case record.Options.Seed != bench.TrialSeed(s.Seed, run.Trial):
			return fmt.Errorf("the set %s was made with another seed than %d: %s has %d; give the same --seed, or "+
				"another --set", s.Setup.Set, s.Seed, folder.Name(), record.Options.Seed)
		}
		s.folders[run.Name] = folder
		if err := record.CheckRows(folder); err != nil {
			s.changed[run.Name] = fmt.Errorf("%s: %w", folder.Ref(), err)
			continue
		}
		rows, err := folder.Rows()
		if err != nil {
			return UnreadableError{err}
		}
		s.keep(run, rows)
	}
	return nil
}

// Disturbed counts the known runs of the set in which other processes took more than results.OthersAbove of
// the machine.
func (s *Sweep) Disturbed() (runs int) {
	for _, row := range s.rows {
		if row.Disturbed() {
			runs++
		}
	}
	return runs
}

// madeBy says which Turnstile made a run: its commit, where that is known.
func madeBy(versions map[string]string) string {
	return cmp.Or(versions["revision"], versions["turnstile"])
}

// keep keeps the row of a run that is over.
func (s *Sweep) keep(run *runs.SweepRun, rows []results.Row) {
	for _, row := range rows {
		row.Trial = run.Trial
		s.rows[run.Name] = row
	}
}

// DiskSpace returns how many bytes of disk space the largest run takes while it goes on.
func (s *Sweep) DiskSpace() (most uint64) {
	for _, j := range s.Cells {
		most = max(most, j.DiskSpace().Bytes)
	}
	return most
}

// Lock has this process alone make runs of the set, until unlock is called, and sets aside those that were
// cut short, which are kept in folders with a dot before their names.
func (s *Sweep) Lock() (unlock func() error, err error) {
	if unlock, err = results.LockSet(s.Setup.Results, s.Setup.Set); err != nil {
		return nil, err
	}
	for _, folder := range s.cut {
		if err := folder.Hide(); err != nil {
			return nil, errors.Join(err, unlock())
		}
	}
	return unlock, nil
}

// Changed says which runs of the set have tables that were changed after they were written. Such a run has
// no row in the table of the set, and is not made again.
func (s *Sweep) Changed() (all []error) {
	for _, name := range slices.Sorted(maps.Keys(s.changed)) {
		all = append(all, s.changed[name])
	}
	return all
}

// Make makes the runs that are left, and writes their rows to the table of the set as they come. If ctx is
// done, it returns what there is, with the error of ctx. Another error says what could not be written.
func (s *Sweep) Make(ctx context.Context) (results []*Result, err error) {
	if len(s.left) > 0 {
		if err := s.describe(); err != nil {
			return nil, err
		}
	}
	before := len(s.rows)
	all := s.run(ctx, s.workers(), len(s.left), before, before+len(s.left), func(number int) *Case {
		r := s.left[number]
		j := s.job(s.Cells[r.cell], r.trial)
		if s.vary != nil {
			s.vary(r, j)
		}
		return s.caseOf(r.name, r.trial, j)
	})
	return made(all), cmp.Or(s.writeAll(), ctx.Err())
}

// workers returns how many runs are made at a time.
func (s *Sweep) workers() int {
	if s.Cells[0].Simulated {
		return runtime.GOMAXPROCS(0)
	}
	return max(1, s.Parallel)
}

// caseOf returns a run of the set. Its row is kept unless it is cut short.
func (s *Sweep) caseOf(name string, trial int, j *bench.Job) *Case {
	c := &Case{Job: j, Stored: true, Name: name, Sweep: &runs.SweepRun{Name: name, Trial: trial}}
	c.Expect = func(r *Result) {
		if r.tried == nil || r.run.Record.Trials[0].Interrupted() {
			return
		}
		r.Shown, r.Says = r.Verdict.Shown() // also of one that ended early
		s.mu.Lock()
		defer s.mu.Unlock()
		s.folders[name] = r.run.Folder
		if s.keep(c.Sweep, r.run.Rows()); time.Now().After(s.next) {
			s.unwrote = cmp.Or(s.unwrote, s.write())
		}
	}
	return c
}

// reopen judges the runs of a configuration again that the set has, in the order of their trials. The error
// is that of ctx.
func (s *Sweep) reopen(ctx context.Context, cell int,
	judge func(folder *results.Folder, run *runs.Run, err error)) error {
	for trial := 1; trial <= s.Trials; trial++ {
		name, err := runName(s.Cells[cell], trial)
		if err != nil {
			return err
		}
		folder := s.folders[name]
		if folder == nil {
			continue // it was not made
		}
		run, err := runs.Reopen(ctx, s.Known, folder)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		judge(folder, run, err)
	}
	return nil
}

// writeAll writes the table of the set, and returns the first error of writing it.
func (s *Sweep) writeAll() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return cmp.Or(s.unwrote, s.write())
}

// write writes the table of the set. A large one takes its time, which is a small share of that of the runs.
func (s *Sweep) write() error {
	began := time.Now()
	var rows []results.Row
	for _, name := range slices.Sorted(maps.Keys(s.rows)) {
		rows = append(rows, s.rows[name])
	}
	_, err := results.WriteSetTable(s.Setup.Results, s.Setup.Set, results.RowsFile, rows)
	s.next = time.Now().Add(max(time.Second, 50*time.Since(began)))
	return err
}

// describe puts on record by what the runs are made.
func (s *Sweep) describe() error {
	return results.AddMaking(s.Setup.Results, s.Setup.Set, results.Making{Command: s.Command, Grid: s.Grid,
		Seed: s.Seed, Trials: s.Trials, Cells: len(s.Cells), Started: time.Now().Round(time.Second).UTC(),
		Versions: s.Setup.Versions, Machine: results.ThisMachine()})
}
