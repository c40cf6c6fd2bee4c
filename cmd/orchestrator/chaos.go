package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"turnstile/bench"
	"turnstile/bench/campaign"
	"turnstile/bench/check"
	"turnstile/internal/english"
	"turnstile/nodes/catalog"
)

const chaosHelp = `Run every algorithm, of mutual exclusion and of election, under many plans of what goes
wrong, drawn by seeds, and judge each run.

Half of the plans of an algorithm are of faults that break nothing that it rests on, the others of any. No
sound algorithm may be violated inside its model; each that is known to be broken must be caught. A third of
the plans of each must leave its model whole. What fails in a simulation is shrunk to the fewest faults with
which it still does. Then come runs in which nothing goes wrong, drawn from a grid of all sound algorithms, 1
to 64 nodes, latencies up to 2 s, holds up to 1.5 s and all loads: none may be violated, nor inconclusive
without a word before the run. Then real runs of mutual exclusion are compared with simulated ones, under one
fault and with requests that come one at a time: the verdicts are the same, and so are the messages.

The last line says what was shown, and what was not: runs that are inconclusive, and algorithms known to be
broken that were not caught.

Exit status: 0 all that holds, 1 it does not, 2 interrupted or no run shows anything, 64 bad usage.`

const chaosExample = `  orchestrator chaos
  orchestrator chaos --simulated 10000 --real 0 --seed 7
  orchestrator chaos --algo maekawa --simulated 100 --real 5
  orchestrator chaos --algo bully,raft-election --simulated 1000 --real 0`

// A chaosCall is one call of chaos.
type chaosCall struct {
	campaign.Campaign
	calm       int // runs without faults
	compared   int // real runs that are compared with simulated ones
	noProgress bool
}

func (a *app) chaosCommand() *cobra.Command {
	c := chaosCall{Campaign: campaign.Campaign{Rows: catalog.All(), Seed: 1, Simulated: 2520, Real: 50},
		calm: 100, compared: 3 * campaign.Comparisons}
	var algorithms []string
	cmd := &cobra.Command{
		Use:     "chaos",
		Short:   "Run every algorithm under many random plans of what goes wrong, and judge each run",
		Long:    chaosHelp,
		Example: chaosExample,
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := settingsOf(cmd)
			if err != nil {
				return err
			}
			if s.given("algo") {
				if c.Rows, err = findAll(algorithms); err != nil {
					return err
				}
			}
			if min(c.Simulated, c.Real, c.calm, c.compared) < 0 {
				return fmt.Errorf("--simulated %d, --real %d, --calm %d, --compare %d: write numbers from 0",
					c.Simulated, c.Real, c.calm, c.compared)
			}
			if max(c.Simulated, c.Real, c.calm, c.compared) == 0 {
				return errors.New("--simulated, --real, --calm and --compare are all 0: no run would be made")
			}
			if !c.Comparable() {
				if s.given("compare") && c.compared > 0 {
					return errors.New("compare: what electors send depends on when their timers run out, so a real run " +
						"is not the same as a simulated one: leave out --compare, or add an algorithm of mutual exclusion")
				}
				c.compared = 0
			}
			a.note(s)
			return a.chaos(cmd.Context(), &c)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringSliceVar(&algorithms, "algo", nil, "only plans for these algorithms, by their `names` or aliases")
	f.IntVar(&c.Simulated, "simulated", c.Simulated, "how many plans are carried out on virtual time")
	f.IntVar(&c.Real, "real", c.Real, "how many plans are carried out on real processes")
	f.IntVar(&c.calm, "calm", c.calm, "how many runs of the grid without faults are made on virtual time")
	f.IntVar(&c.compared, "compare", c.compared,
		"how many real runs are compared with simulated ones: each has one fault, and requests come one at a time")
	f.Uint64Var(&c.Seed, "seed", c.Seed, "that plans, loads and latencies are drawn by")
	f.StringVar(&c.Setup.Results, "results", "results", "`folder` of all result sets")
	f.StringVar(&c.Setup.Set, "set", "chaos", "`name` of the result set that the real runs belong to")
	f.StringVar(&c.Setup.Node, "node-program", "",
		"`path` of the program of a node (default node, beside this program)")
	addNoProgress(cmd, &c.noProgress)
	cmd.RegisterFlagCompletionFunc("algo", completeAlgorithm)
	return cmd
}

// findAll returns the rows of algorithms of these names.
func findAll(names []string) (all []*spec, err error) {
	for _, name := range names {
		row, err := catalog.Find(strings.TrimSpace(name))
		if err != nil {
			return nil, err
		}
		if !slices.Contains(all, row) {
			all = append(all, row)
		}
	}
	if len(all) == 0 {
		return nil, errors.New("algo: it names no algorithm: leave it out for all, or name some, as in " +
			"bully,maekawa")
	}
	return all, nil
}

func (a *app) chaos(ctx context.Context, c *chaosCall) error {
	c.Setup.Versions = versions()
	c.Setup.Broker = append([]string{ownPath()}, brokerArgs...)
	c.Setup.Proxy = append([]string{ownPath()}, proxyArgs...)
	if c.Setup.Node == "" {
		c.Setup.Node = ownSibling("node")
	}
	bar, bad := a.newBar(c.noProgress, c.Takes()), 0
	c.Progress = func(done, all int, r *campaign.Result) {
		if a.checkDisk(r.Err); r.Wrong != "" {
			bad++
		}
		if bar.due() || r.Real {
			bar.show(float64(done)/float64(all), fmt.Sprintf("plan %d of %d, %d wrong", done, all, bad))
		}
	}
	results, interrupted := c.Run(ctx)
	bar.clear()
	wrong := 0
	for _, real := range []bool{false, true} {
		var some []*campaign.Result
		for _, r := range results {
			if r.Real == real {
				some = append(some, r)
			}
		}
		if len(some) > 0 {
			wrong += a.printCampaign(ctx, c, some)
		}
	}
	if interrupted == nil && c.calm > 0 {
		wrong += a.calmRuns(ctx, c)
		interrupted = ctx.Err()
	}
	if interrupted == nil && c.compared > 0 {
		wrong += a.compareRuns(ctx, c)
		interrupted = ctx.Err()
	}
	switch {
	case interrupted != nil:
		fmt.Fprintf(a.stdout, "interrupted: %s of %d plans were carried out\n",
			english.Thousands(float64(len(results))), c.Simulated+c.Real)
		a.status = check.Inconclusive.ExitCode()
	}
	a.concludeChaos(campaign.ShownBy(c.Rows, results), wrong)
	return nil
}

// concludeChaos says in the last line what a campaign shows and what it does not.
func (a *app) concludeChaos(shown campaign.Shown, wrong int) {
	says := "Nothing is wrong."
	switch {
	case wrong > 0:
		says = english.Count(wrong, "thing is", "things are") + " wrong."
		a.status = check.Violated.ExitCode()
	case shown.Nothing():
		says = "Nothing is shown."
		a.status = check.Inconclusive.ExitCode()
	}
	if shown.Plans > 0 {
		says += fmt.Sprintf(" %v.", &shown)
	}
	fmt.Fprintln(a.stdout, says)
}

// printCampaign prints what came of plans that were carried out in one way, and returns how many things are
// wrong with that.
func (a *app) printCampaign(ctx context.Context, c *chaosCall, results []*campaign.Result) (wrong int) {
	where := "on virtual time"
	if results[0].Real {
		where = "on real processes"
	}
	fmt.Fprintf(a.stdout, "%s %s, seed %d:\n", english.Count(len(results), "plan", "plans"), where, c.Seed)
	tallies := campaign.Tallied(c.Rows, results)
	printTallies(a.stdout, tallies)
	for i := range tallies {
		if says := tallies[i].Lacks(); says != "" {
			wrong++
			fmt.Fprintf(a.stdout, "WRONG  %s\n", says)
		}
	}
	shrunk := map[string]bool{}
	for _, r := range results {
		if r.Wrong == "" {
			continue
		}
		wrong++
		fmt.Fprintf(a.stdout, "WRONG  %s: %s\n", r.Spec.Name, r.Wrong)
		if r.Options.Algorithm == "" {
			continue // nothing was run
		}
		fmt.Fprintf(a.stdout, "       repeat it: %s\n", commandOf(r.Spec, &r.Options, r.Real, r.Options.Plan))
		if r.Folder != "" {
			fmt.Fprintf(a.stdout, "       what came of it: %s\n",
				callOn("show", filepath.Join(c.Setup.Results, r.Folder)))
		}
		if !r.Real && !shrunk[r.Spec.Name] { // one of each is enough to begin with
			shrunk[r.Spec.Name] = true
			a.printShrunk(ctx, r.Spec, r.Options)
		}
	}
	fmt.Fprintln(a.stdout)
	return wrong
}

// compareRuns compares real runs with simulated ones, and returns how many do not agree.
func (a *app) compareRuns(ctx context.Context, c *chaosCall) (wrong int) {
	bar := a.newBar(c.noProgress, 0)
	var all []*campaign.Agreement
	for number := range c.compared {
		bar.show(float64(number)/float64(c.compared), fmt.Sprintf("comparison %d of %d", number+1, c.compared))
		one := c.Compare(ctx, number)
		if ctx.Err() != nil {
			break
		}
		a.checkDisk(one.Err)
		if all = append(all, one); !one.Holds() {
			wrong++
		}
	}
	bar.clear()
	fmt.Fprintf(a.stdout, "%s of a real run with a simulated one: %d agree\n",
		english.Count(len(all), "comparison", "comparisons"), len(all)-wrong)
	for _, one := range all {
		if one.Holds() {
			continue
		}
		fmt.Fprintf(a.stdout, "WRONG  %s, %s:\n", one.Case.Spec.Name, one.Fault)
		if one.Err != nil {
			fmt.Fprintf(a.stdout, "       %v\n", one.Err)
		} else {
			fmt.Fprintf(a.stdout, "       simulated: %s\n       real:      %s\n", one.Simulated, one.Real)
		}
		for _, real := range []bool{false, true} {
			fmt.Fprintf(a.stdout, "       repeat it: %s --fault %q\n", commandOf(one.Case.Spec, &one.Case.Options,
				real, ""), one.Fault)
		}
	}
	fmt.Fprintln(a.stdout)
	return wrong
}

// printTallies prints a line for each algorithm, those that elect leaders in a table of their own.
func printTallies(out io.Writer, tallies []campaign.Tally) {
	for _, elect := range []bool{false, true} {
		var some []campaign.Tally
		for i := range tallies {
			if t := &tallies[i]; t.Plans > 0 && (t.Spec.Leads != nil) == elect {
				some = append(some, *t)
			}
		}
		if len(some) > 0 {
			printTable(out, some, elect)
		}
	}
	for i := range tallies {
		if t := &tallies[i]; t.Spec.Broken != "" && t.Plans > 0 {
			fmt.Fprintf(out, "* %s is known to be broken: %s shown in %s\n", t.Spec.Name, t.Spec.Broken,
				english.Count(t.Caught, "run", "runs"))
		}
	}
}

// printTable prints the tallies of algorithms of one kind.
func printTable(out io.Writer, tallies []campaign.Tally, elect bool) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	count := "entries"
	if elect {
		count = "elections"
	}
	fmt.Fprintf(w, "\tplans\tinside\toutside\t%s\tvalid\tas its model\tinconclusive\tviolated\tviolated\t"+
		"faults that\t\n", count)
	fmt.Fprintln(w, "\t\tits model\tits model\t\t\tallows\t\tinside\toutside\thit nothing\t")
	for i := range tallies {
		t := &tallies[i]
		name, made := t.Spec.Name, t.Entries
		if t.Spec.Broken != "" {
			name += "*"
		}
		if elect {
			made = t.Elected
		}
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t\n", name, t.Plans, t.Inside, t.Plans-t.Inside,
			made, t.Of[campaign.Valid], t.Of[campaign.Expected], t.Of[campaign.Inconclusive],
			t.Of[campaign.ViolatedInside], t.Of[campaign.ViolatedOutside], t.Missed)
	}
	w.Flush()
}

// printShrunk shrinks the plan of a simulated run that failed, and prints it as a file.
func (a *app) printShrunk(ctx context.Context, row *spec, o bench.Options) {
	s, err := campaign.Shrink(ctx, row, o)
	if err == nil && s == nil {
		return // it is valid
	}
	text := ""
	if err == nil {
		text, err = s.File(
			fmt.Sprintf("Of %s, %d is left after %s.", english.Count(s.From, "fault", "faults"), len(s.Faults),
				english.Count(s.Tries, "run", "runs")),
			"Save this as shrunk.yaml, and run:", commandOf(row, &o, false, "./shrunk.yaml"))
	}
	if err != nil {
		fmt.Fprintf(a.stderr, "orchestrator: shrinking the plan: %v\n", err)
		return
	}
	fmt.Fprintf(a.stdout, "\n%s\n", text)
}
