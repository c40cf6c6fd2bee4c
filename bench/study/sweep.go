package study

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
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
	"turnstile/judge/check"
	"turnstile/results"
)

// A Sweep makes a set of runs over configurations, several for each. A run has one trial. The runs are made
// in rounds: each round has a trial of every configuration, in an order drawn by the seed, so a machine that
// becomes slower or faster favours no configuration. A run that the set has is not made again, so an
// interrupted sweep can be continued.
type Sweep struct {
	Experiment
	Cells  []*bench.Job // one job for each configuration, with one trial; either all are simulated or none
	Trials int
	// Parallel is how many runs of real processes are made at once; 0 means one.
	Parallel int

	rows map[string]results.Row // rows of finished runs, by the name of the run
	// errors of runs whose tables were changed, by name: they have no row
	changed map[string]error
	folders map[string]*results.Folder // folders of the runs in rows and in changed, by name
	left    []sweepRun                 // runs that are still to be made, in this order
	// Only, if not nil, reports whether a run is to be made, by its name; the others are left out.
	Only func(name string) bool
	// vary changes the job of a single run; nil: all runs of a configuration are alike.
	vary func(r sweepRun, j *bench.Job)

	mu      sync.Mutex // guards rows, and the writing of the table of the set
	next    time.Time  // earliest time to write the table again
	unwrote error      // first error of writing the table
}

// A sweepRun is one run of a sweep.
type sweepRun struct {
	cell, trial int // cells count from 0, trials from 1
	name        string
}

// job returns the job of a trial of a configuration.
func (s *Sweep) job(of *bench.Job, trial int) *bench.Job {
	j := *of
	j.Trials, j.Seed = 1, bench.TrialSeed(s.Seed, trial)
	return &j
}

// Prepare reads the set, and returns how many runs it has and how many are left. It returns an error if the
// set was made with another seed or, unless Mixed, by another commit.
func (s *Sweep) Prepare() (made, left int, err error) {
	if err := s.readRows(); err != nil {
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
			} else if s.Only == nil || s.Only(r.name) {
				s.left = append(s.left, r)
			}
		}
	}
	return made, len(s.left), nil
}

// A Planned is a run that a sweep makes, or has made.
type Planned struct {
	Name string
	Job  *bench.Job
}

// Planned returns all runs of the sweep, configuration by configuration.
func (s *Sweep) Planned() (all []Planned, err error) {
	for _, cell := range s.Cells {
		for trial := 1; trial <= s.Trials; trial++ {
			name, err := runName(cell, trial)
			if err != nil {
				return nil, err
			}
			all = append(all, Planned{name, s.job(cell, trial)})
		}
	}
	return all, nil
}

// order returns the order of the configurations in a round, drawn by the seed.
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

// turn names the random decision that places a cell in the order of a round.
func turn(cell, trial int) chance.Roll {
	return chance.Roll{Purpose: chance.ForTrial, Kind: uint64(trial), Count: uint64(cell)}
}

// runName returns the name of the folder of a run. Equal trials of equal configurations have equal names.
func runName(j *bench.Job, trial int) (string, error) {
	o := j.Options
	o.Seed = 0 // all trials of a sweep have one name but for their number
	return nameOf(&bench.Job{Options: o, Simulated: j.Simulated, Spec: j.Spec}, trial)
}

// nameOf returns the name of the folder of a run: that of its algorithm and nodes, a digest of its options,
// and a number.
func nameOf(j *bench.Job, number int) (string, error) {
	o := j.Options
	o.Trials = 1
	text, err := yaml.Marshal([]any{o, j.Simulated})
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	name := runs.NameOf(o.Algorithm, o.Config.N)
	return fmt.Sprintf("%s-%s-t%02d", name, hex.EncodeToString(sum[:4]), number), nil
}

// readRows reads the rows of the finished runs of the set.
func (s *Sweep) readRows() error {
	s.rows, s.changed = map[string]results.Row{}, map[string]error{}
	s.folders = map[string]*results.Folder{}
	return s.readSet(func(record *runs.Record, folder *results.Folder) error {
		run := record.Sweep
		if record.Options.Seed != bench.TrialSeed(s.Seed, run.Trial) {
			return fmt.Errorf("the set %s was made with another seed than %d: %s has %d; give the same --seed, or "+
				"another --set", s.Setup.Set, s.Seed, folder.Name(), record.Options.Seed)
		}
		s.folders[run.Name] = folder
		if err := record.CheckRows(folder); err != nil {
			s.changed[run.Name] = fmt.Errorf("%s: %w", folder.Ref(), err)
			return nil
		}
		rows, err := folder.Rows()
		if err != nil {
			return UnreadableError{err}
		}
		s.keep(run, rows)
		return nil
	})
}

// Disturbed counts the known runs of the set in which other processes used more than results.OthersAbove of
// the machine.
func (s *Sweep) Disturbed() (runs int) {
	for _, row := range s.rows {
		if row.Disturbed() {
			runs++
		}
	}
	return runs
}

// Outcomes counts the runs of the sweep that the set has, by their verdicts. A run that ended early is
// inconclusive.
func (s *Sweep) Outcomes() map[check.Outcome]int {
	all := map[check.Outcome]int{}
	for trial := 1; trial <= s.Trials; trial++ {
		for _, cell := range s.Cells {
			name, err := runName(cell, trial)
			row, is := s.rows[name]
			outcome := check.Inconclusive
			if err == nil && is && outcome.UnmarshalText([]byte(row.Verdict)) == nil {
				all[outcome]++
			}
		}
	}
	return all
}

// keep keeps the row of a finished run.
func (s *Sweep) keep(run *runs.SweepRun, rows []results.Row) {
	for _, row := range rows {
		row.Trial = run.Trial
		s.rows[run.Name] = row
	}
}

// DiskSpace returns how many bytes of disk space the largest run needs while it goes on.
func (s *Sweep) DiskSpace() (most uint64) {
	for _, j := range s.Cells {
		most = max(most, j.DiskSpace().Bytes)
	}
	return most
}

// aroundRun is about how long it takes to start and end the processes of a run, and to judge the run.
const aroundRun = 500 * time.Millisecond

// Takes returns about how long the remaining runs of processes take; 0 for simulated runs: not known.
func (s *Sweep) Takes() (sum time.Duration) {
	if s.Cells[0].Simulated {
		return 0
	}
	for _, r := range s.left {
		sum += aroundRun + s.Cells[r.cell].Warmup + s.Cells[r.cell].Duration
	}
	return sum
}

// Changed returns errors for the runs of the set whose tables were changed after they were written. Such a
// run has no row in the table of the set, and is not made again.
func (s *Sweep) Changed() (all []error) {
	for _, name := range slices.Sorted(maps.Keys(s.changed)) {
		all = append(all, s.changed[name])
	}
	return all
}

// Make makes the remaining runs, and writes their rows to the table of the set as they finish. If ctx is
// done, it returns the results so far, with the error of ctx. Any other error names a file that could not be
// written.
func (s *Sweep) Make(ctx context.Context) (results []*Result, err error) {
	if len(s.left) > 0 {
		if err := s.describe(len(s.Cells), s.Trials); err != nil {
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
	return made(all), cmp.Or(s.unwritten, s.writeAll(), ctx.Err())
}

// workers returns how many runs are made at once.
func (s *Sweep) workers() int {
	if s.Cells[0].Simulated {
		return runtime.GOMAXPROCS(0)
	}
	return max(1, s.Parallel)
}

// caseOf returns the case of a run of the set. The set keeps the row of the run unless the run is cut short.
func (s *Sweep) caseOf(name string, trial int, j *bench.Job) *Case {
	c := &Case{Job: j, Stored: true, Name: name, Sweep: &runs.SweepRun{Name: name, Trial: trial}}
	c.Expect = func(r *Result) {
		if r.tried == nil || r.run.Record.Trials[0].Interrupted() {
			return
		}
		r.Shown, r.Says = r.Verdict.Shown() // Shown and Says are set even if the trial ended early
		s.mu.Lock()
		defer s.mu.Unlock()
		s.folders[name] = r.run.Folder
		if s.keep(c.Sweep, r.run.Rows()); time.Now().After(s.next) {
			s.unwrote = cmp.Or(s.unwrote, s.write())
		}
	}
	return c
}

// reopen judges the stored runs of a configuration again, in the order of their trials. It returns an error
// only if ctx is done.
func (s *Sweep) reopen(ctx context.Context, cell int,
	judge func(folder *results.Folder, run *runs.Run, err error)) error {
	for trial := 1; trial <= s.Trials; trial++ {
		name, err := runName(s.Cells[cell], trial)
		if err != nil {
			return err
		}
		folder := s.folders[name]
		if folder == nil {
			continue // the run is not made yet
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

// write writes the table of the set. It sets next so that writing takes a small share of the time.
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
