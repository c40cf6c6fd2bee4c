package commands

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"turnstile/bench/bare"
	"turnstile/bench/option"
	"turnstile/bench/runs"
	"turnstile/internal/english"
	"turnstile/internal/terminal"
	"turnstile/judge/check"
)

const overheadHelp = `Find out what the testbed itself costs: run the same algorithm, saturated and with no
hold, in the testbed with all its records and checks, and in a bare loop that has none of them, in turn,
and compare the entries per second. The ratio of the two is what counts: each figure alone depends on the
machine.

A pair of which a run fails, or is not valid, is made again, and counted; after as many of them as there are
to be pairs, the command gives up.

The ratio of a row is that of the two figures beside it, but in the last row it is the median of the
ratios. The interval behind it holds the median of all possible pairs, with the probability beside it.

Exit status: 0 measured, 2 given up or interrupted, 64 bad usage, 74 if the output could not be written.`

const overheadExample = `  orchestrator overhead
  orchestrator overhead -n 8 --pairs 15 --duration 1s`

// fewestPairs is how many pairs it takes for an interval of 95% (of 98%, to be precise).
const fewestPairs = 7

// quiet is the share of the machine that others may use without a remark.
const quiet = 0.1

// An overheadCall is one call of overhead.
type overheadCall struct {
	runs.OverheadOptions
	setup runs.Setup
	json  bool
}

func overheadCommand() Command {
	c := &overheadCall{}
	c.Seed = 1
	return Command{
		Name:    "overhead",
		Short:   "Measure what the testbed costs, against a bare loop",
		Help:    overheadHelp,
		Example: overheadExample,
		Options: c.addTo,
		Check:   c.check,
		Notes:   true,
		Run:     c.run,
	}
}

func (c *overheadCall) addTo(cmd *cobra.Command) {
	f := cmd.Flags()
	f.IntVarP(&c.Nodes, "nodes", "n", 32, "how many nodes")
	f.IntVar(&c.Pairs, "pairs", fewestPairs, "how many pairs of runs for each algorithm, 7 at least")
	f.DurationVar(&c.Duration, "duration", 2*time.Second, "how long to measure each")
	f.DurationVar(&c.Warmup, "warmup", 500*time.Millisecond,
		"how long to run before measuring (by default also until each node has entered twice, at most 10s)")
	addSetup(f, &c.setup, "")
	addJSON(f, &c.json)
}

// check completes the call, and says what is wrong with it, if anything is.
func (c *overheadCall) check(s settings) error {
	if !s.given("warmup") {
		c.WarmupLimit = option.WarmupLimit
	}
	switch {
	case c.Nodes < 2:
		return fmt.Errorf("--nodes: %d: it takes at least 2 to send a message", c.Nodes)
	case c.Pairs < fewestPairs:
		return fmt.Errorf("--pairs: %d: it takes at least %d to tell a ratio from noise", c.Pairs, fewestPairs)
	case c.Duration <= 0:
		return fmt.Errorf("--duration %v: it takes a time to measure for, such as 2s", c.Duration)
	case c.Warmup < 0:
		return fmt.Errorf("--warmup %v: time does not run backwards", c.Warmup)
	}
	return nil
}

func (c *overheadCall) run(ctx context.Context, a *app) error {
	a.equip(&c.setup)
	if err := c.Validate(c.setup); err != nil {
		return err
	}
	c.setup.Set = "overhead"
	var all []*runs.OverheadResult
	algorithms := []string{bare.Ring, bare.Ricart}
	each := 2 * time.Duration(c.Pairs) * (c.Warmup + c.Duration) // a pair is two measurements
	bar := a.newBar(false, time.Duration(len(algorithms))*each)
	defer bar.clear()
	for at, algorithm := range algorithms {
		if !c.json {
			fmt.Fprintf(a.stdout, "%s, %d nodes, saturated, hold 0: entries per second\n", algorithm, c.Nodes)
			fmt.Fprintf(a.stdout, "  %4s %10s %10s %8s\n", "pair", "testbed", "bare", "ratio")
		}
		c.Algorithm = algorithm
		r, err := runs.Overhead(ctx, c.OverheadOptions, c.setup, func(i int, p runs.Pair) {
			if c.json {
				bar.show((float64(at)+float64(i)/float64(c.Pairs))/float64(len(algorithms)),
					fmt.Sprintf("%s, pair %d of %d", algorithm, i, c.Pairs))
			} else {
				fmt.Fprintf(a.stdout, "  %4d %10.0f %10.0f %8.3f\n", i, p.Testbed, p.Bare, p.Ratio())
			}
		})
		if err != nil {
			return failure{err, check.Inconclusive.ExitCode()}
		}
		all = append(all, r)
		if r.Unlucky > 0 {
			fmt.Fprintf(a.stderr, "orchestrator: %s of %s made again, since a run failed; the last: %s\n",
				english.Count(r.Unlucky, "pair", "pairs"), algorithm, r.LastFailure)
		}
		if !c.json {
			fmt.Fprintf(a.stdout, "%6s %10.0f %10.0f %8.3f  (%.3f to %.3f, %.0f%%)\n", "median",
				r.Testbed, r.Bare, r.Ratio, r.Low, r.High, 100*r.Coverage)
			if r.Others > quiet {
				fmt.Fprintf(a.stdout, "%6s others used %.0f%% of the machine: repeat it when they are done\n", "",
					100*r.Others)
			}
			fmt.Fprintln(a.stdout)
		}
	}
	if c.json {
		return terminal.PrintJSON(a.stdout, all)
	}
	return nil
}
