package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"turnstile/bench/experiment"
	"turnstile/internal/english"
	"turnstile/internal/format"
	"turnstile/internal/input"
	"turnstile/judge/check"
	"turnstile/results"
)

const sweepHelp = `Make a set of runs over many configurations, each several times, with one table of all.

Every flag of bench, elect and, with --simulated, simulate may be a list: --nodes 4,8,16. A flag
whose values may hold commas, such as --fault, --detector or --latency uniform:1ms,3ms, is given
several times instead. FILE has the same settings as lists, and may have named parts and exclude:

  trials: 6                             # a sweep's own: trials, seed, set
  latency: [0s, 1ms]                    # of all parts
  parts:
    permission: {algo: [ricart, lamport, maekawa], nodes: [4, 9, 16]}
    token: {algo: [suzuki, token-ring], nodes: [4, 16, 64]}
  exclude:
    - {algo: lamport, nodes: 16}

Runs are made in rounds, one trial of each configuration in an order that the seed draws, so that a
machine that changes its speed favours nobody. A sweep that was interrupted goes on with the first
run that is missing when the same command is given again; with more values, it makes what is new.
The table is runs.csv in the folder of the set.

--rate find looks, for each configuration, for the highest rate of an open load that it serves: at
least 95% of the requests that are due are issued, as many enter, and the 99th percentile of waits
is at most --wait-bound. Each trial is a search of its own, each probe a run of the set. The answer
is rates.csv in the folder of the set.

Exit status: 0 all runs valid (or a rate found for all), 1 some violated, 2 some inconclusive, interrupted, or
a file of the set cannot be read, 64 bad usage.`

const sweepExample = `  orchestrator sweep --algo ricart,suzuki,maekawa -n 4,8,16 --latency 0s,1ms --trials 6
  orchestrator sweep --simulated --algo ricart,raymond -n 64,256 --latency exponential:1ms --set large
  orchestrator sweep --algo bully,raft-election -n 5,9 --plan leader-crashes,split-brain --set leaders
  orchestrator sweep --simulated --algo ricart,suzuki -n 8,16 --rate find --hold 1ms --set rates
  orchestrator sweep lan.yaml`

// A sweepCall is one call of sweep.
type sweepCall struct {
	experiment.RateSweep // its Sweep alone, unless a rate is to be found
	find                 bool
	lists                map[string]*listFlag
	simulated            bool
	anyLength            bool
	noProgress           bool

	trialsInFile bool

	refused map[string][]string // configurations that cannot be run, by the reason
}

// mostRuns is how many runs a sweep has at most.
const mostRuns = 100_000

// longSweep is what takes so long that a user has to ask for it.
const longSweep = 24 * time.Hour

func (a *app) sweepCommand() *cobra.Command {
	var c sweepCall
	c.Seed, c.Trials, c.Setup.Set, c.WaitBound = 1, 5, "sweep", time.Second
	cmd := &cobra.Command{
		Use:     "sweep [FILE]",
		Short:   "Make a set of runs over lists of algorithms, sizes, loads and faults",
		Long:    sweepHelp,
		Example: sweepExample,
		Args:    atMostOne,
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := settingsOf(cmd)
			if err == nil {
				err = a.resolveSweep(cmd, &c, s, args)
			}
			if err != nil {
				return err
			}
			return a.sweep(cmd.Context(), &c)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.SetNormalizeFunc(longN)
	f.BoolVar(&c.simulated, "simulated", false, "on virtual time, as simulate")
	f.IntVar(&c.Trials, "trials", c.Trials, "how many runs each configuration has, each with a seed of its own")
	noZero(f, "trials", "would make no run: write a number from 1, or leave it out")
	f.Uint64Var(&c.Seed, "seed", c.Seed, "of all that is drawn at random")
	f.DurationVar(&c.WaitBound, "wait-bound", c.WaitBound,
		"with --rate find: the longest 99th percentile of waits at a rate that is served")
	noZero(f, "wait-bound", "is shorter than any wait: write a longer time, or leave it out")
	addMixed(f, &c.Mixed, ", or go on with one that another commit of Turnstile began")
	f.BoolVar(&c.anyLength, "any-length", false, "start even if it takes more than a day")
	forOneCall(cmd, "simulated", "trials", "seed", "wait-bound", "mixed", "any-length")
	addSetup(f, &c.Setup, "the runs")
	addNoProgress(f, &c.noProgress)
	c.addLists(cmd)
	cmd.RegisterFlagCompletionFunc("algo", completeAlgorithm)
	return cmd
}

// resolveSweep works out the configurations of a sweep. What is wrong with a value is an error; what one
// algorithm refuses is left out, and kept for the user.
func (a *app) resolveSweep(cmd *cobra.Command, c *sweepCall, s settings, args []string) error {
	g := &grid{parts: []part{{lists: map[string][]string{}}}}
	given := map[string][]string{}
	for name, l := range c.lists {
		if len(l.values) > 0 {
			given[name] = l.values
		}
	}
	if len(args) == 0 && len(given) == 0 {
		return fmt.Errorf("there is nothing to sweep over: give a file, or lists of values, as in %s",
			"orchestrator sweep --algo ricart,suzuki -n 4,8 --trials 6")
	}
	if len(args) > 0 {
		var err error
		g, err = readGrid(args[0], c.listNames(), func(flag string, value *yaml.Node) (bool, error) {
			return c.own(cmd.Flags(), flag, value, s)
		})
		if err != nil {
			return err
		}
	}
	g.override(given)
	if err := c.resolveOwn(g, s); err != nil {
		return err
	}
	if count := g.count() * float64(c.Trials); count > mostRuns {
		return fmt.Errorf("these lists and trials make %.0f runs, and a sweep has at most %d: give fewer values, "+
			"fewer trials, or several sweeps of one --set", count, mostRuns)
	}
	cells, err := g.cells()
	if err == nil {
		err = checkSet(&c.Setup, &c.Mixed)
	}
	if err != nil {
		return err
	}
	c.refused = map[string][]string{}
	made := map[string]bool{}
	for _, cell := range cells {
		j, err := resolveCell(cell, c)
		switch {
		case errors.As(err, new(valueProblem)):
			return err
		case err != nil:
			c.refused[err.Error()] = append(c.refused[err.Error()], cmp.Or(flagText(cell), "the defaults"))
		case !made[jobText(j)]:
			made[jobText(j)] = true
			c.Cells = append(c.Cells, j)
		}
	}
	if len(c.Cells) == 0 {
		return fmt.Errorf("no configuration can be run: %s",
			strings.Join(slices.Sorted(maps.Keys(c.refused)), "; "))
	}
	c.Command = sweepCommandOf(c, args)
	if len(args) > 0 {
		text, err := input.Read(args[0])
		if err != nil {
			return err
		}
		c.Grid = string(text)
	}
	return nil
}

// A runMaker makes the runs of a sweep, of lists or of a search.
type runMaker interface {
	Prepare() (made, left int, err error)
	Takes(ctx context.Context) experiment.Length
	DiskSpace() uint64
	Make(ctx context.Context) ([]*experiment.Result, error)
}

// maker returns what makes the runs.
func (c *sweepCall) maker() runMaker {
	if c.find {
		return &c.RateSweep
	}
	return &c.Sweep
}

// sweep makes the runs.
func (a *app) sweep(ctx context.Context, c *sweepCall) error {
	if err := equipFor(&c.Setup, !c.simulated); err != nil {
		return err
	}
	maker := c.maker()
	before, left, err := maker.Prepare()
	if err != nil {
		return unreadable(err)
	}
	takes := maker.Takes(ctx)
	a.printPlan(c, before, left, takes)
	a.warnOfNoCommit()
	if takes.High > longSweep && !c.anyLength {
		return fmt.Errorf("it takes more than a day: give fewer values or trials, or say --any-length")
	}
	if left > 0 {
		unlock, err := c.Lock()
		if err != nil {
			return err
		}
		defer unlock()
		if before, left, err = maker.Prepare(); err != nil { // another may have made some meanwhile
			return unreadable(err)
		}
	}
	bar := a.newBarFrom(c.noProgress, firstLine(takes.Low))
	began := time.Now()
	c.Progress = func(done, all int, r *experiment.Result) {
		a.checkDisk(r.Err)
		if bar.due() || !r.Simulated {
			bar.show(float64(done)/float64(all), c.progressText(done, all, before, began, r))
		}
	}
	runs, err := maker.Make(ctx)
	bar.clear()
	a.printChanged(c)
	if c.find {
		return a.tellRates(c, runs, err)
	}
	return a.tellSweep(c, runs, left-len(runs), err)
}

// unreadable gives the error of a set that cannot be read its exit status.
func unreadable(err error) error {
	if errors.As(err, new(experiment.UnreadableError)) {
		return failure{err, check.Inconclusive.ExitCode()}
	}
	return err
}

// progressText says in one line how far the sweep has come, and what the last run showed.
func (c *sweepCall) progressText(done, all, before int, began time.Time, r *experiment.Result) string {
	rest := time.Since(began) / time.Duration(max(1, done-before)) * time.Duration(all-done)
	text := fmt.Sprintf("run %d of %d, %s left", done, all, format.Duration(rest.Round(time.Second)))
	if r.Err == nil {
		text += fmt.Sprintf(": %s n=%d %s", r.Spec.Name, r.Config.N, r.Verdict.Outcome)
	}
	return text
}

// tellSweep says what came of the runs, of which some are left.
func (a *app) tellSweep(c *sweepCall, runs []*experiment.Result, left int, err error) error {
	outcomes := map[string]int{}
	for _, r := range runs {
		if r.Err != nil {
			outcomes["could not be made"]++
			a.status = max(a.status, check.Inconclusive.ExitCode())
			continue
		}
		outcomes[r.Verdict.Outcome.String()]++
		a.status = max(a.status, min(r.Verdict.Outcome.ExitCode(), check.Inconclusive.ExitCode()))
		if r.Verdict.Outcome == check.Violated {
			a.status = check.Violated.ExitCode()
		}
	}
	var says []string
	for _, outcome := range slices.Sorted(maps.Keys(outcomes)) {
		says = append(says, fmt.Sprintf("%d %s", outcomes[outcome], outcome))
	}
	if len(runs) == 0 && err == nil {
		says = []string{"the set has them all"}
	}
	if len(says) > 0 {
		fmt.Fprintf(a.stdout, "%s: %s.\n", english.Count(len(runs), "run", "runs"), strings.Join(says, ", "))
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		return failure{err, unwritten}
	}
	if n := c.Disturbed(); n > 0 {
		fmt.Fprintf(a.stdout, "In %s of the set, others took more than %.0f%% of the machine: see others_cpu.\n",
			english.Count(n, "run", "runs"), results.OthersAbove*100)
	}
	fmt.Fprintf(a.stdout, "The table is %s.\n", filepath.Join(c.Setup.Results, c.Setup.Set, results.RowsFile))
	if err != nil {
		fmt.Fprintf(a.stdout, "interrupted: %s left; the same command goes on with them\n",
			english.Count(left, "run is", "runs are"))
		a.status = cmp.Or(a.status, check.Inconclusive.ExitCode())
	}
	return nil
}
