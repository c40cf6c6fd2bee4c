package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"turnstile/bench/runs"
	"turnstile/bench/study"
	"turnstile/chaos"
	"turnstile/internal/english"
	"turnstile/internal/format"
	"turnstile/internal/terminal"
	"turnstile/judge/check"
	"turnstile/nodes"
	"turnstile/option"
	"turnstile/results"
)

const matrixHelp = `Run every algorithm under every built-in plan, and compare the outcome with the one that
is expected of it. Five clients think and request, or five nodes elect a leader, on real processes
or, with --simulated, on virtual time.

Exit status: 0 all cells are as expected, 1 a cell differs, 2 a cell is inconclusive, a fault hit nothing
although a hit is expected, no cell was hit, or interrupted, 64 bad usage or nothing can be run.`

const matrixMore = `Each outcome is a letter. Mutual exclusion: L every waiting client that is up enters
once all faults are healed; P some clients wait for ever while others go on; B all wait for
ever; X two are inside together (with fence numbers: the resource accepts what it should
refuse). Election: L all nodes that are up agree on one of them at the end; P one leads, and
some nodes that are up never learn of it; B no node that is up leads at the end or ever will;
X two lead in one term or, without terms, for longer than a take-over takes, or for ever.
Both: - the fault hits nothing. list NAME says which outcomes are expected under each plan.
The table is matrix.csv in the folder of the set.

Given again, the command makes only the runs that its set lacks; simulated runs are not stored, and take
seconds.`

const matrixExample = `  orchestrator matrix
  orchestrator matrix --simulated --runs 20
  orchestrator matrix --algo central,raymond --faults dead-holder,lost-token
  orchestrator matrix --algo bully,raft-election --faults split-brain,stopped-leader
  orchestrator matrix failures --only 9,nats-kv
  orchestrator matrix failover --only redis,etcd --ttl 1s,2s`

// A matrixCall is one call of matrix.
type matrixCall struct {
	known  known
	dryRun bool
	study.Matrix
	algorithms            []string
	simulated, noProgress bool
	json                  bool
	flags                 *pflag.FlagSet
}

func matrixCommand(k known) Command {
	c := &matrixCall{known: k}
	c.Known = k.Table
	c.Seed, c.Setup.Set = 1, "matrix"
	return Command{
		Name:    "matrix",
		Short:   "Run every algorithm under every plan, and compare the outcomes with the expected ones",
		Help:    matrixHelp,
		More:    matrixMore,
		Example: matrixExample,
		Options: c.addTo,
		Check:   c.check,
		Notes:   true,
		Run:     c.run,
		Below:   []Command{failuresCommand(), failoverCommand()},
	}
}

func (c *matrixCall) addTo(cmd *cobra.Command) {
	f := cmd.Flags()
	c.flags = f
	f.StringSliceVar(&c.algorithms, "algo", nil,
		"only these algorithms, by `names` or aliases, with commas between")
	f.StringSliceVar(&c.Faults, "faults", nil, "only these built-in plans, by `names`, with commas between")
	f.BoolVar(&c.simulated, "simulated", false, "on virtual time")
	f.IntVar(&c.Runs, "runs", 0, fmt.Sprintf("how many runs each cell has, each of the next seed (default 1, "+
		"simulated %d)", runsSimulated))
	noZero(f, "runs", "would make no run: write a number from 1, or leave it out")
	f.Uint64Var(&c.Seed, "seed", c.Seed, "of the first run of each cell")
	addMixed(f, &c.Mixed, "")
	addDryRun(f, &c.dryRun)
	addOption(f, option.Find("hosts"), &c.Hosts)
	addOption(f, option.Find("place"), &c.Place)
	addControl(f, &c.Setup.Control, &c.Setup.ControlKey)
	addSetup(f, &c.Setup, "the table and the real runs")
	addJSON(f, &c.json)
	addNoProgress(f, &c.noProgress)
	common(f, "algo", "faults", "simulated", "runs", "set", "json")
	cmd.RegisterFlagCompletionFunc("algo", c.known.completeAlgorithm)
	completeWith(cmd, "faults", chaos.PlanNames())
}

// runsSimulated is how many simulated runs a cell has unless the user says otherwise.
const runsSimulated = 10

// check completes the call from its flags. It returns an error for flags that contradict each other.
func (c *matrixCall) check(s settings) (err error) {
	c.Command = s.recorded(c.flags, runs.Program, "matrix")
	c.Algorithms, err = algorithmsNamed(c.algorithms, c.known.findAlgorithm, c.known.Table.Algorithms())
	if err == nil {
		err = checkPlans(c.Faults)
	}
	if err == nil {
		err = checkSet(&c.Setup)
	}
	if err == nil {
		err = c.Check()
	}
	if err == nil && c.Runs < 0 {
		err = fmt.Errorf("--runs: %d: write a number from 1", c.Runs)
	}
	if err != nil {
		return err
	}
	if c.Real = !c.simulated; c.Runs == 0 {
		c.Runs = 1
		if c.simulated {
			c.Runs = runsSimulated
		}
	}
	if len(c.Cells()) == 0 {
		return errors.New("none of these plans applies to these algorithms: docs/plans.md lists the plans for " +
			"mutual exclusion and for elections, and list NAME the messages of an algorithm")
	}
	return nil
}

// checkPlans returns an error for the first name that is not a built-in plan.
func checkPlans(names []string) error {
	known := chaos.PlanNames()
	for _, name := range names {
		switch {
		case strings.ContainsAny(name, "/."):
			return fmt.Errorf("--faults: %s is a file: write names of built-in plans, as in "+
				"dead-holder,lost-token; see plans", name)
		case !slices.Contains(known, name):
			return fmt.Errorf("--faults: there is no plan %s%s", name, chaos.HintAtPlan(name))
		}
	}
	return nil
}

func (c *matrixCall) run(ctx context.Context, a *app) error {
	a.onlyRows(c.json)
	if err := a.equipFor(&c.Setup, c.Real); err != nil {
		return err
	}
	if c.dryRun {
		return a.tellDryRun(len(c.Cells())*c.Runs, c.Takes())
	}
	unlock, err := c.Continue(len(c.Cells()), c.Runs)
	if err != nil {
		return unreadable(err)
	}
	defer unlock()
	bar := a.follow(&c.Experiment, c.noProgress, c.Takes(), "run")
	cells, interrupted := c.Make(ctx)
	bar.clear()
	if err := unstored(interrupted); err != nil {
		return err
	}
	var rows []results.MatrixRow
	for _, cell := range cells {
		rows = append(rows, cell.Row(c.Real))
	}
	path, err := results.WriteSetTable(c.Setup.Results, c.Setup.Set, results.MatrixFile, rows)
	writeRows(a, rows)
	printMatrix(a.stdout, cells, rows)
	c.printDiffering(a, cells)
	if err != nil {
		return failure{err, unwritten}
	}
	fmt.Fprintf(a.stdout, "The table is %s.\n", path)
	if interrupted != nil {
		fmt.Fprintln(a.trouble(), "interrupted: some cells have no run; the same command goes on with them")
		a.status = cmp.Or(a.status, check.Inconclusive.ExitCode())
	}
	return nil
}

// printDiffering prints the cells that are wrong, with the command that repeats a run of each, and the
// counts. Cells that no fault hit, and cells without an expectation, have counts of their own. If no cell was
// hit, the exit status is inconclusive.
func (c *matrixCall) printDiffering(a *app, cells []*study.Cell) {
	var t expectations
	for _, cell := range cells {
		r := cell.Wrong()
		switch {
		case len(cell.Runs) == 0: // the user interrupted it
			t.left++
		case r != nil && cell.Differs():
			t.differ++
		case cell.NotHit():
			t.missed++
		case r != nil:
			t.unknown++
		case len(cell.Spec.Faults) == 0 && cell.Shown() == 0:
			t.unknown++
			a.status = cmp.Or(a.status, check.Inconclusive.ExitCode())
		case len(cell.Spec.Faults) == 0:
			t.free++
		default:
			t.met++
		}
		if r == nil {
			continue
		}
		if a.status = cmp.Or(a.status, check.Inconclusive.ExitCode()); cell.Differs() {
			a.status = check.Violated.ExitCode()
		}
		o := cell.Options(r.Seed)
		a.printWrong(&c.Experiment, cell.Spec.Name+" under "+cell.Plan.Name,
			commandOf(cell.Spec, &o, c.Real, o.Plan), r)
	}
	if t.missed == len(cells) {
		a.status = cmp.Or(a.status, check.Inconclusive.ExitCode())
	}
	fmt.Fprintf(a.stdout, "%s: %v.\n", english.Count(len(cells), "cell", "cells"), t)
}

// expectations counts cases by whether their runs were as expected.
type expectations struct {
	met, differ int
	unknown     int // inconclusive cases
	missed      int // cases in which no fault hit anything
	free        int // cases of which nothing is expected
	left        int // cases that cannot be run here
}

// String lists the counts. It leaves out zeros, except for "as expected" and "not".
func (t expectations) String() string {
	text := fmt.Sprintf("%d as expected, %d not", t.met, t.differ)
	for _, more := range []struct {
		count int
		word  string
	}{{t.unknown, "inconclusive"}, {t.missed, "untested"},
		{t.free, "without an expectation"}, {t.left, "not run"}} {
		if more.count > 0 {
			text += fmt.Sprintf(", %d %s", more.count, more.word)
		}
	}
	return text
}

// A matrixOfSet is a matrix that stores its runs in a set, as a sweep does, so that it can go on with the
// runs that the set lacks.
type matrixOfSet interface {
	Resolve() error
	Takes() time.Duration
	Judge(context.Context) error
}

// errDryRun ends a dry run.
var errDryRun = errors.New("nothing was made")

// makeMatrix makes the runs of a matrix that its set lacks, and judges all runs. interrupted is not nil if
// runs are still missing. A dry run prints how many runs are missing, and returns errDryRun.
func (a *app) makeMatrix(ctx context.Context, m matrixOfSet, s *study.Sweep,
	noProgress, dry bool) (interrupted, err error) {
	if err := m.Resolve(); err != nil {
		return nil, err
	}
	if dry {
		_, left, err := s.Prepare()
		return nil, cmp.Or(err, a.tellDryRun(left, m.Takes()), errDryRun)
	}
	if len(s.Cells) > 0 {
		interrupted = a.makeSet(ctx, s, m.Takes, noProgress)
		if interrupted != nil && !errors.Is(interrupted, context.Canceled) {
			return nil, interrupted
		}
	}
	return interrupted, m.Judge(context.WithoutCancel(ctx))
}

// A notRun is a case of a matrix of services that cannot be run, with its service and the reason.
type notRun struct {
	service string
	err     error
}

// tellNotRun prints each reason for which cases cannot be run, once. It is an error if no case can be run.
func (a *app) tellNotRun(out []notRun, cases int) error {
	var all []string
	for _, x := range out {
		all = append(all, fmt.Sprintf("%s: %v", x.service, x.err))
	}
	if all = distinct(all); len(out) == cases {
		return fmt.Errorf("no case can be run: %s", strings.Join(all, "; "))
	}
	for _, why := range all {
		fmt.Fprintf(a.stdout, "not run  %s\n", why)
	}
	return nil
}

// tellTable prints the path of the table of a matrix, and whether runs are missing. wrong is the error of
// writing the table.
func (a *app) tellTable(path string, wrong, interrupted error) error {
	if wrong != nil {
		return failure{wrong, unwritten}
	}
	fmt.Fprintf(a.stdout, "The table is %s.\n", path)
	if interrupted != nil {
		fmt.Fprintln(a.trouble(), "interrupted: the same command goes on with the runs that are left")
		a.status = cmp.Or(a.status, check.Inconclusive.ExitCode())
	}
	return nil
}

// makeSet makes the runs of a matrix of services that its set does not have.
func (a *app) makeSet(ctx context.Context, m *study.Sweep,
	takes func() time.Duration, noProgress bool) error {
	before, left, err := m.Prepare()
	if err != nil {
		return unreadable(err)
	}
	fmt.Fprintf(a.stdout, "%s, %d of them in the set", english.Count(before+left, "run", "runs"), before)
	if left == 0 {
		fmt.Fprintln(a.stdout)
		return nil
	}
	about := takes()
	fmt.Fprintf(a.stdout, "; %d to make take about %s\n", left, format.Duration(about.Round(time.Second)))
	unlock, err := m.Lock()
	if err != nil {
		return err
	}
	defer unlock()
	if _, _, err = m.Prepare(); err != nil { // another process may have made some of the runs before the lock
		return unreadable(err)
	}
	bar := a.newBarFrom(noProgress, firstLine(about))
	m.Progress = func(done, all int, r *study.Result) {
		bar.show(float64(done)/float64(all), fmt.Sprintf("run %d of %d", done, all))
	}
	runs, err := m.Make(ctx)
	bar.clear()
	for _, r := range runs {
		if r.Err != nil {
			fmt.Fprintf(a.trouble(), "TROUBLE  %s: %v\n", r.Config.Options["service"], r.Err)
		}
	}
	return cmp.Or(unstored(err), err)
}

// printMatrix prints a table of cells and a table of outcomes for each problem.
func printMatrix(out io.Writer, cells []*study.Cell, rows []results.MatrixRow) {
	for _, problem := range check.Problems {
		kind := nodes.OfKind(kinds(), problem.Kind).matrix
		var its []*study.Cell
		var t terminal.Table
		for i, c := range cells {
			if check.ProblemOf(c.Spec) != problem {
				continue
			}
			if its = append(its, c); len(its) == 1 || its[len(its)-2].Spec != c.Spec {
				t.Add(append([]any{c.Spec.Name, "may", "shown", "safe"}, kind.head...)...)
			}
			r, differs := &rows[i], ""
			if r.Differs {
				differs = "DIFFERS"
			}
			judged := r.Runs - r.Inconclusive
			t.Add(slices.Concat([]any{r.Fault, r.May, r.Shown, share(judged-r.Broke, judged),
				share(r.Recovered, judged-r.Unhit)}, kind.line(r), []any{differs})...)
		}
		if len(its) > 0 {
			t.Print(out)
			fmt.Fprintln(out)
			printShown(out, its, kind.plans())
			fmt.Fprintf(out, "%s, ? inconclusive, ! wrong\n\n", kind.legend)
		}
	}
}

// share describes a count of runs, out of all: yes (all), no (none), "2 of 3", or "-" if there are no runs.
func share(count, all int) string {
	if all == 0 {
		return "-"
	}
	switch count {
	case all:
		return "yes"
	case 0:
		return "no"
	}
	return fmt.Sprintf("%d of %d", count, all)
}

// mutualLine returns the figures of a cell of mutual exclusion.
func mutualLine(r *results.MatrixRow) []any {
	return []any{format.Seconds(r.NextEntryS), format.Seconds(r.WaitMaxS), format.Plain(r.MessagesBefore, 1),
		format.Plain(r.MessagesDuring, 1), format.Plain(r.MessagesAfter, 1)}
}

// electionLine returns the figures of a cell of an election.
func electionLine(r *results.MatrixRow) []any {
	return []any{format.Seconds(r.AgreedS), format.Micros(r.LeaderlessUS), format.Micros(r.TwoLeadersUS)}
}

// printShown prints the outcomes of cells, a line for each plan and a column for each algorithm.
func printShown(out io.Writer, cells []*study.Cell, plans []*chaos.Plan) {
	t := terminal.Table{Head: []string{""}}
	var algos []*spec
	for _, c := range cells {
		if !slices.Contains(algos, c.Spec) {
			algos = append(algos, c.Spec)
			fmt.Fprintf(out, "%d %s\n", len(algos), c.Spec.Name)
			t.Head = append(t.Head, strconv.Itoa(len(algos)))
		}
	}
	for _, plan := range plans {
		outcomes, any := make([]string, len(algos)), false
		for _, c := range cells {
			if c.Plan.Name != plan.Name || len(c.Runs) == 0 {
				continue
			}
			any = true
			column := slices.Index(algos, c.Spec)
			if outcomes[column] = c.Shown().String(); c.Wrong() != nil {
				outcomes[column] += "!"
			}
		}
		if any {
			t.Rows = append(t.Rows, append([]string{plan.Name}, outcomes...))
		}
	}
	t.Print(out)
}
