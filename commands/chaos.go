package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"turnstile/bench/plans"
	"turnstile/bench/study"
	"turnstile/internal/english"
	"turnstile/internal/terminal"
	"turnstile/judge/check"
	"turnstile/option"
)

const chaosHelp = `Run every algorithm, of mutual exclusion and of election, under many random plans of
faults, and judge each run.

Exit status: 0 nothing is wrong, 1 something is wrong, 2 interrupted or all runs inconclusive, 64 bad usage.`

const chaosMore = `Half of the plans of an algorithm have only faults that keep its assumptions, the others
have any faults. No sound algorithm may be violated inside its model, and each algorithm that is known to be
broken must be found violated. At least a third of the plans of each must stay inside its model. A simulated
run that fails is shrunk to the fewest faults with which it still fails.

Then come runs without faults, drawn from a grid of all sound algorithms, 1 to 64 nodes, latencies up to 2 s,
holds up to 1.5 s and all loads. None may be violated, or inconclusive unless that was announced before the
run. Then real runs of mutual exclusion are compared with simulated ones, under one fault and with one
request at a time: the verdicts must be the same and, without timers or circulating messages, the messages
too.

The last line sums up, with the runs that are inconclusive, and the algorithms known to be broken that were
not caught.`

const chaosExample = `  orchestrator chaos
  orchestrator chaos --simulated 10000 --real 0 --seed 7
  orchestrator chaos --algo maekawa --simulated 100 --real 5
  orchestrator chaos --algo bully,raft-election --simulated 1000 --real 0
  orchestrator chaos services --plans 3000 --limit 6h --only redis,etcd`

// A chaosCall is one call of chaos.
type chaosCall struct {
	known known
	study.Campaign
	algorithms []string
	grid       study.Calm // configurations for runs without faults
	calm       int        // how many runs of the grid are made
	compared   int        // how many real runs are compared with simulated ones
	noProgress bool
	json       bool
	tallies    []map[string]any
}

func chaosCommand(k known) Command {
	c := &chaosCall{known: k}
	c.Known = k.Table
	c.compared = 3 * study.Comparisons
	c.Seed, c.Real, c.Setup.Set = 1, 50, "chaos"
	return Command{
		Name:    "chaos",
		Short:   "Run every algorithm under many random plans of faults, and judge each run",
		Help:    chaosHelp,
		More:    chaosMore,
		Example: chaosExample,
		Options: c.addTo,
		Check:   c.check,
		Notes:   true,
		Run:     c.run,
		Below:   []Command{huntCommand()},
	}
}

func (c *chaosCall) addTo(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringSliceVar(&c.algorithms, "algo", nil, "only plans for these algorithms, by their `names` or aliases")
	f.IntVar(&c.Simulated, "simulated", 0, "how many plans are carried out on virtual time "+
		"(default 60 for each algorithm, at least 2,520)")
	f.IntVar(&c.Real, "real", c.Real, "how many plans are carried out on real processes")
	f.IntVar(&c.calm, "calm", c.calm, fmt.Sprintf(
		"how many runs of the grid without faults are made on virtual time (default %d for each algorithm)",
		study.CalmForEach))
	f.IntVar(&c.compared, "compare", c.compared,
		"how many real runs are compared with simulated ones: each has one fault, and requests come one at a time")
	f.Uint64Var(&c.Seed, "seed", c.Seed, "of the random plans, loads and latencies")
	addOption(f, option.Find("receive"), &c.Receive)
	addSetup(f, &c.Setup, "the real runs")
	addJSON(f, &c.json)
	addNoProgress(f, &c.noProgress)
	common(f, "algo", "simulated", "real", "seed", "set", "json")
	cmd.RegisterFlagCompletionFunc("algo", c.known.completeAlgorithm)
}

// check completes the call from its flags. It returns an error for flags that contradict each other.
func (c *chaosCall) check(s settings) (err error) {
	if err := cmp.Or(plans.CheckReceive(c.Receive), checkSet(&c.Setup)); err != nil {
		return err
	}
	c.Algorithms, err = algorithmsNamed(c.algorithms, c.known.findAlgorithm, c.known.Table.Algorithms())
	if !s.given("simulated") {
		c.Simulated = study.UsualPlans(len(c.Algorithms))
	}
	if c.grid = study.CalmOf(c.Algorithms, study.CalmNodes); !s.given("calm") {
		c.calm = c.grid.Fewest()
	}
	switch counts := []int{c.Simulated, c.Real, c.calm, c.compared}; {
	case err != nil:
		return err
	case s.given("algo") && len(c.algorithms) == 0:
		return errors.New("--algo: no algorithm is named: leave it out for all, or name some, as in bully,maekawa")
	case slices.Min(counts) < 0:
		return fmt.Errorf("--simulated %d, --real %d, --calm %d, --compare %d: write numbers from 0",
			c.Simulated, c.Real, c.calm, c.compared)
	case slices.Max(counts) == 0:
		return errors.New("--simulated, --real, --calm and --compare are all 0: no run would be made")
	case len(c.Comparable()) > 0:
	case s.given("compare") && c.compared > 0:
		return errors.New("--compare: the messages of an election depend on its timers, so that a real run " +
			"differs from a simulated one: leave out --compare, or add an algorithm of mutual exclusion")
	default:
		c.compared = 0
	}
	return nil
}

func (c *chaosCall) run(ctx context.Context, a *app) error {
	a.onlyRows(c.json)
	if a.equip(&c.Setup); c.Real+c.compared > 0 {
		if err := a.equipFor(&c.Setup, true); err != nil {
			return err
		}
	}
	bar := a.follow(&c.Experiment, c.noProgress, c.Takes(), "plan")
	results, interrupted := c.Run(ctx)
	bar.clear()
	if err := unstored(interrupted); err != nil {
		return err
	}
	wrong := 0
	for _, real := range []bool{false, true} {
		var some []*study.Result
		for _, r := range results {
			if r.Simulated != real {
				some = append(some, r)
			}
		}
		if len(some) > 0 {
			wrong += c.printCampaign(ctx, a, some)
		}
	}
	if interrupted == nil && c.calm > 0 {
		wrong += c.calmRuns(ctx, a)
		interrupted = ctx.Err()
	}
	if interrupted == nil && c.compared > 0 {
		var differ int
		if differ, interrupted = c.compareRuns(ctx, a); unstored(interrupted) != nil {
			return unstored(interrupted)
		}
		wrong += differ
	}
	if interrupted != nil {
		fmt.Fprintf(a.trouble(), "interrupted: %s of %d plans were carried out\n",
			english.Thousands(float64(len(results))), c.Simulated+c.Real)
		a.status = check.Inconclusive.ExitCode()
	}
	c.conclude(a, study.ShownBy(c.Algorithms, results), wrong)
	if c.json {
		return terminal.PrintJSON(a.document,
			map[string]any{"algorithms": append([]map[string]any{}, c.tallies...), "wrong": wrong})
	}
	return nil
}

// conclude prints the last line, which sums up what the campaign shows, and sets the exit status.
func (c *chaosCall) conclude(a *app, shown study.Shown, wrong int) {
	says := "Nothing is wrong."
	switch {
	case wrong > 0:
		says = english.Count(wrong, "thing is", "things are") + " wrong."
		a.status = check.Violated.ExitCode()
	case shown.Nothing():
		says = "No run is conclusive."
		a.status = check.Inconclusive.ExitCode()
	}
	if shown.Plans > 0 {
		says += fmt.Sprintf(" %v.", &shown)
	}
	fmt.Fprintln(a.stdout, says)
}

// printCampaign prints the outcomes of the plans on virtual time, or on real processes, and returns how many
// things are wrong.
func (c *chaosCall) printCampaign(ctx context.Context, a *app, results []*study.Result) (wrong int) {
	where := "on virtual time"
	if !results[0].Simulated {
		where = "on real processes"
	}
	if !c.Receive.IsZero() {
		where += fmt.Sprintf(", receive %v", c.Receive)
	}
	fmt.Fprintf(a.stdout, "%s %s, seed %d:\n", english.Count(len(results), "plan", "plans"), where, c.Seed)
	tallies := study.Tallied(c.Algorithms, results)
	c.tallies = append(c.tallies, tallyEntries(tallies, results[0].Simulated)...)
	printTallies(a.stdout, tallies)
	for i := range tallies {
		if says := tallies[i].Lacks(); says != "" {
			wrong++
			fmt.Fprintf(a.trouble(), "WRONG  %s\n", says)
		}
	}
	shrunk := map[string]bool{}
	for _, r := range results {
		if r.Wrong == "" {
			continue
		}
		wrong++
		if r.Options.Algorithm == "" { // the plan failed before its run began
			a.printWrong(&c.Experiment, r.Spec.Name, "", r)
			continue
		}
		a.printWrong(&c.Experiment, r.Spec.Name, commandOf(r.Spec, &r.Options, !r.Simulated, r.Plan), r)
		if r.Simulated && !shrunk[r.Spec.Name] && a.document == nil { // shrinking is slow: one plan per algorithm
			shrunk[r.Spec.Name] = true
			a.printShrunk(ctx, r.Job)
		}
	}
	fmt.Fprintln(a.stdout)
	return wrong
}

// calmRuns makes runs without faults, prints their verdicts, and returns how many are wrong.
func (c *chaosCall) calmRuns(ctx context.Context, a *app) (wrong int) {
	bar := a.follow(&c.Experiment, c.noProgress, 0, "run without faults")
	results, _ := c.grid.Run(ctx, &c.Experiment, 0, c.calm)
	bar.clear()
	outcomes := map[check.Outcome]int{}
	for _, r := range results {
		outcomes[r.Verdict.Outcome]++
	}
	var counts []string
	for outcome := check.Valid; outcome <= check.Violated; outcome++ {
		if outcomes[outcome] > 0 {
			counts = append(counts, fmt.Sprintf("%d %v", outcomes[outcome], outcome))
		}
	}
	fmt.Fprintf(a.stdout, "%s without faults, drawn with seed %d from %d settings, on virtual time: %s\n",
		english.Count(len(results), "run", "runs"), c.Seed, c.grid.Cells(), strings.Join(counts, ", "))
	if outcomes[check.Overloaded] > 0 {
		fmt.Fprintln(a.stdout,
			"Overloaded: the load asked for more entries than could be served, which is not wrong.")
	}
	for _, r := range results {
		if r.Wrong != "" {
			wrong++
			a.printWrong(&c.Experiment, r.String(), commandOf(r.Spec, &r.Options, false, ""), r)
		}
	}
	fmt.Fprintln(a.stdout)
	return wrong
}

// compareRuns compares real runs with simulated ones, and returns how many differ, and why it ended early.
func (c *chaosCall) compareRuns(ctx context.Context, a *app) (wrong int, ended error) {
	bar := a.follow(&c.Experiment, c.noProgress, 0, "comparison")
	all, ended := c.Compare(ctx, c.compared)
	bar.clear()
	if unstored(ended) != nil {
		return 0, ended
	}
	for _, r := range all {
		if r.Wrong != "" {
			wrong++
		}
	}
	fmt.Fprintf(a.stdout, "%s of a real run with a simulated one: %d agree\n",
		english.Count(len(all), "comparison", "comparisons"), len(all)-wrong)
	for _, r := range all {
		if r.Wrong == "" {
			continue
		}
		fmt.Fprintf(a.trouble(), "WRONG  %s, %s:\n       %s\n", r.Spec.Name, r.Says, r.Wrong)
		for _, real := range []bool{false, true} {
			fmt.Fprintf(a.stdout, "       repeat it: %s --fault %q\n", commandOf(r.Spec, &r.Options, real, ""), r.Says)
		}
	}
	fmt.Fprintln(a.stdout)
	return wrong, ended
}

// printTallies prints a line for each algorithm, in a table for each problem.
func printTallies(out io.Writer, tallies []study.Tally) {
	for _, problem := range check.Problems {
		var some []study.Tally
		for i := range tallies {
			if t := &tallies[i]; t.Plans > 0 && check.ProblemOf(t.Spec) == problem {
				some = append(some, *t)
			}
		}
		if len(some) > 0 {
			printTable(out, some, problem)
		}
	}
	for i := range tallies {
		if t := &tallies[i]; t.Spec.Flaw != nil && t.Plans > 0 {
			fmt.Fprintf(out, "* %s is known to be broken: %s shown in %s\n", t.Spec.Name, t.Spec.Broken().Check,
				english.Count(t.Caught, "run", "runs"))
		}
	}
}

// tallyEntries returns the lines of the tables of tallies as --json prints them.
func tallyEntries(tallies []study.Tally, simulated bool) (all []map[string]any) {
	for i := range tallies {
		if t := &tallies[i]; t.Plans > 0 {
			problem := check.ProblemOf(t.Spec)
			all = append(all, map[string]any{"algorithm": t.Spec.Name, "simulated": simulated, "plans": t.Plans,
				"inside_its_model": t.Inside, problem.Many: kindOf(t.Spec).tallied(t), "valid": t.Of[study.Valid],
				"as_its_model_allows": t.Of[study.Expected], "inconclusive": t.Of[study.Inconclusive],
				"violated_inside": t.Of[study.ViolatedInside], "violated_outside": t.Of[study.ViolatedOutside],
				"faults_that_hit_nothing": t.Missed, "caught": t.Caught})
		}
	}
	return all
}

// printTable prints the tallies of algorithms of one problem.
func printTable(out io.Writer, tallies []study.Tally, problem *check.Problem) {
	t := terminal.Table{Head: []string{"", "plans", "inside the model", "outside", problem.Many, "valid",
		"stalled or unfair outside", "inconclusive", "violated inside", "violated outside",
		"faults that hit nothing"}}
	for i := range tallies {
		of := &tallies[i]
		name := of.Spec.Name
		if of.Spec.Flaw != nil {
			name += "*"
		}
		t.Add(name, of.Plans, of.Inside, of.Plans-of.Inside, kindOf(of.Spec).tallied(of), of.Of[study.Valid],
			of.Of[study.Expected], of.Of[study.Inconclusive], of.Of[study.ViolatedInside],
			of.Of[study.ViolatedOutside], of.Missed)
	}
	t.Print(out)
}
