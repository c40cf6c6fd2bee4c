package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"turnstile/bench"
	"turnstile/bench/plans"
	"turnstile/bench/service"
	"turnstile/bench/study"
	"turnstile/internal/english"
	"turnstile/internal/terminal"
	"turnstile/judge/check"
	"turnstile/nodes"
	"turnstile/option"
	"turnstile/results"
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
not caught.

With --services it draws plans and options of services that people use instead, makes a run of each on real
processes, and judges it by the promises in the documentation of the service. A finding is a promise that was
broken although its assumptions held, a service in which no client entered again after all faults were over,
a client that died, a fence number that fell, or an error of ours. One finding of each kind is shrunk and
printed. Given again, the same command goes on from the journal services.jsonl in the folder of the set.`

const chaosExample = `  orchestrator chaos
  orchestrator chaos --simulated 10000 --real 0 --seed 7
  orchestrator chaos --algo maekawa --simulated 100 --real 5
  orchestrator chaos --algo bully,raft-election --simulated 1000 --real 0
  orchestrator chaos --services --plans 3000 --limit 6h --only redis,etcd`

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
	services   serviceHunt // if asked for, it replaces the campaign about algorithms
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
	c.services.Plans, c.services.Workers, c.services.Tries = 100, 1, 40
	f.BoolVar(&c.services.asked, "services", false,
		"run services such as etcd and redis instead, in the set "+huntSet)
	f.StringSliceVar(&c.services.only, "only", nil,
		"with --services: only these `services`, with commas between (default all with a program here)")
	f.IntVar(&c.services.Plans, "plans", c.services.Plans, "with --services: how many plans are drawn")
	f.IntVar(&c.services.First, "first", 0, "with --services: the `number` of the first of them, from 0")
	f.DurationVar(&c.services.Limit, "limit", 0,
		"with --services: no plan begins after this `time` (default no limit)")
	f.IntVar(&c.services.Workers, "workers", c.services.Workers, "with --services: runs at a time")
	f.IntVar(&c.services.Tries, "shrink", c.services.Tries,
		"with --services: how many runs it may take to shrink a finding; 0: findings are not shrunk")
	addSetup(f, &c.Setup, "the real runs")
	addJSON(f, &c.json)
	addNoProgress(f, &c.noProgress)
	common(f, "algo", "simulated", "real", "seed", "services", "only", "plans", "limit", "set", "json")
	cmd.RegisterFlagCompletionFunc("algo", c.known.completeAlgorithm)
}

// check completes the call from its flags. It returns an error for flags that contradict each other.
func (c *chaosCall) check(s settings) (err error) {
	if c.services.asked {
		return c.checkServices(s)
	}
	for _, name := range huntFlags {
		if s.rank(name) == byFlag {
			return fmt.Errorf("--%s is for plans about services: add --services, or leave it out", name)
		}
	}
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
	if c.services.asked {
		return c.hunt(ctx, a)
	}
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

// A serviceHunt has the settings of a call of chaos with --services.
type serviceHunt struct {
	study.Hunt
	asked bool
	only  []string // services to hunt in; empty: all
}

// huntSet is the default name of the set of a hunt.
const huntSet = "hunt"

// huntFlags are allowed only with --services, and campaignFlags only without it.
var (
	huntFlags     = []string{"only", "plans", "first", "limit", "workers", "shrink"}
	campaignFlags = []string{"algo", "simulated", "real", "calm", "compare", "receive"}
)

// checkServices completes a call with --services. It returns an error for flags that do not go with it.
func (c *chaosCall) checkServices(s settings) error {
	x := &c.services
	for _, name := range campaignFlags {
		if s.rank(name) == byFlag {
			return fmt.Errorf("--%s is for algorithms: leave it out, or leave out --services", name)
		}
	}
	switch {
	case x.Plans < 1:
		return fmt.Errorf("--plans: %d: write a number from 1", x.Plans)
	case x.First < 0:
		return fmt.Errorf("--first: %d: plans count from 0", x.First)
	case x.Workers < 1 || x.Workers > 64:
		return fmt.Errorf("--workers: %d: write a number from 1 to 64", x.Workers)
	case x.Limit < 0:
		return fmt.Errorf("--limit: %v: write a length of time, as in 6h, or 0 for none", x.Limit)
	case x.Tries < 0:
		return fmt.Errorf("--shrink: %d: write a number from 0", x.Tries)
	}
	known := study.HuntServices()
	for _, name := range x.only {
		if !slices.Contains(known, name) {
			return fmt.Errorf("--only: no plans are drawn for %q: write one of %s", name,
				strings.Join(known, ", "))
		}
	}
	x.Services = distinct(x.only)
	x.Seed, x.Setup = c.Seed, c.Setup
	if !s.given("set") {
		x.Setup.Set = huntSet
	}
	return checkSet(&x.Setup)
}

// subjectNamed asks a service for its promises with some options.
func subjectNamed(ctx context.Context, name string, words []string, n int) (*study.ServiceSubject,
	error) {
	program, err := serviceProgram(name)
	if err != nil {
		return nil, err
	}
	subject, _, err := subjectOf(ctx, &service.Program{Command: program, Name: name, Words: words},
		nodes.Config{N: n})
	return subject, err
}

// hunt makes the runs of plans about services, and prints their findings.
func (c *chaosCall) hunt(ctx context.Context, a *app) error {
	h := &c.services.Hunt
	if err := a.equipFor(&h.Setup, true); err != nil {
		return err
	}
	h.Subject = subjectNamed
	h.Command = func(j *bench.Job, plan string) string { return commandOf(j.Spec, &j.Options, true, plan) }
	if h.Services == nil {
		for _, name := range study.HuntServices() {
			if _, err := subjectNamed(ctx, name, nil, 2); err != nil {
				fmt.Fprintf(a.stdout, "not run: %s: %v\n", name, err)
				continue
			}
			h.Services = append(h.Services, name)
		}
		if h.Services == nil {
			return errors.New("no service can be run: see the lines before")
		}
	} else {
		for _, name := range h.Services {
			if _, err := subjectNamed(ctx, name, nil, 2); err != nil {
				return err
			}
		}
	}
	unlock, err := results.LockSet(h.Setup.Results, h.Setup.Set)
	if err != nil {
		return err
	}
	defer unlock()
	if err := h.Read(); err != nil {
		return unreadable(err)
	}
	before, began := len(h.Done), time.Now()
	bar := a.newBarFrom(c.noProgress, time.Minute)
	findings := 0
	h.Told = func(done int, one *study.Hunted) {
		if one.Class == study.HuntFinding {
			findings++
		}
		bar.show(float64(done)/float64(h.Plans), fmt.Sprintf("plan %d of %d, %s", done, h.Plans,
			english.Count(findings, "finding", "findings")))
	}
	interrupted := h.Run(ctx)
	bar.clear()
	if err := unstored(interrupted); err != nil {
		return err
	}
	if c.json {
		all := []*study.Hunted{}
		for _, number := range slices.Sorted(maps.Keys(h.Done)) {
			all = append(all, h.Done[number])
		}
		terminal.PrintJSON(a.document, all)
	}
	c.services.print(a, before, time.Since(began))
	if interrupted != nil {
		fmt.Fprintln(a.trouble(), "interrupted: the same command goes on with the plans that are left")
		a.status = cmp.Or(a.status, check.Inconclusive.ExitCode())
	}
	return nil
}

// print prints how many plans of each service have which result, then each finding.
func (h *serviceHunt) print(a *app, before int, took time.Duration) {
	counts := map[string]map[study.HuntClass]int{}
	refused := map[string]int{}
	total := map[study.HuntClass]int{}
	for _, one := range h.Done {
		if counts[one.Service] == nil {
			counts[one.Service] = map[study.HuntClass]int{}
		}
		counts[one.Service][one.Class]++
		total[one.Class]++
		if one.Refused > 0 {
			refused[one.Service]++
		}
	}
	t := terminal.Table{Head: []string{"service", "plans", "valid", "outside", "inconclusive", "busy",
		"findings", "refused"}}
	for _, name := range h.Services {
		n, sum := counts[name], 0
		for _, k := range n {
			sum += k
		}
		t.Add(name, sum, n[study.HuntValid], n[study.HuntOutside],
			n[study.HuntInconclusive], n[study.HuntBusy], n[study.HuntFinding], refused[name])
	}
	t.Print(a.stdout)
	fmt.Fprintln(a.stdout, `outside: an assumption of the service's promise did not hold.
busy: it would be a finding, but the machine was late meanwhile, so that processes may have stood still.
refused: a lock was refused while no client was inside`)
	h.tell(a, total, before, took)
}

// tell prints each finding and the counts, and sets the exit status.
func (h *serviceHunt) tell(a *app, total map[study.HuntClass]int, before int,
	took time.Duration) {
	for _, number := range slices.Sorted(maps.Keys(h.Done)) {
		switch one := h.Done[number]; one.Class {
		case study.HuntFinding:
			tellHunted(a.stdout, one)
		case study.HuntBusy:
			fmt.Fprintf(a.stdout, "\nBUSY  plan %d, %s: %s\n", number, one.Service, one.Says)
			if one.Command != "" {
				fmt.Fprintf(a.stdout, "  run it again: %s\n", one.Command)
			}
		}
	}
	rate := ""
	if made := len(h.Done) - before; made > 0 && took > 0 {
		rate = fmt.Sprintf(", %.1f a minute", float64(made)/took.Minutes())
	}
	found := total[study.HuntFinding]
	unknown := total[study.HuntInconclusive] + total[study.HuntBusy]
	fmt.Fprintf(a.stdout, "\n%s of %d have run with seed %d, %d of them in this call%s.\n",
		english.Count(len(h.Done), "plan", "plans"), h.Plans, h.Seed, len(h.Done)-before, rate)
	fmt.Fprintf(a.stdout, "%s, %d inconclusive or busy, %d outside the model, %d valid.\n",
		english.Count(found, "finding", "findings"), unknown, total[study.HuntOutside],
		total[study.HuntValid])
	switch {
	case found > 0:
		a.status = check.Violated.ExitCode()
	case len(h.Done) == unknown || total[study.HuntBusy] > 0:
		a.status = check.Inconclusive.ExitCode()
	}
}

// tellHunted prints a finding, in its shrunk form if it has one.
func tellHunted(out io.Writer, one *study.Hunted) {
	fmt.Fprintf(out, "\nFINDING  plan %d, %s: %s\n", one.Plan, one.Service, one.Says)
	if one.Shown != "" {
		fmt.Fprintf(out, "  %s\n", one.Shown)
	}
	if one.Shrunk != nil {
		fmt.Fprintf(out, "  shrunk from %s\n", english.Count(len(one.Faults), "fault", "faults"))
		one = one.Shrunk
	}
	fmt.Fprintf(out, "  %s %s\n", one.Service, strings.Join(one.With, " "))
	for _, f := range one.Faults {
		fmt.Fprintf(out, "  %s\n", f)
	}
	for _, line := range one.Story {
		fmt.Fprintf(out, "    %s\n", line)
	}
	fmt.Fprintf(out, "  run it again: %s\n", one.Command)
}
