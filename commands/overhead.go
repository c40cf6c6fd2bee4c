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
	"turnstile/results"
)

const overheadHelp = `Measure the cost of the testbed itself: run the same algorithm, saturated and without
hold, in turn in the testbed with all records and checks, and in a bare loop without them, and compare the
entries per second. Only the ratio of the two counts, since each figure alone depends on the machine.

If a run of a pair fails or is not valid, the pair counts as failed and is made again. The command gives up
once as many pairs have failed as are asked for.

The ratio of each pair is that of the two figures beside it; in the last line it is the median of the
ratios. The interval behind it holds the true median with the probability beside it.

Exit status: 0 measured, 2 given up or interrupted, 64 bad usage, 74 if the output could not be written.`

const overheadExample = `  orchestrator overhead
  orchestrator overhead -n 8 --pairs 15 --duration 1s`

// fewestPairs is the least number of pairs of measurements. With it, the interval of the median covers 98%.
const fewestPairs = 7

// quiet is the share of the machine that other programs may use without a remark.
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
		Short:   "Measure the cost of the testbed against a bare loop",
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
	f.IntVar(&c.Pairs, "pairs", fewestPairs, "how many pairs of runs for each algorithm, at least 7")
	f.DurationVar(&c.Duration, "duration", 2*time.Second, "how long to measure each")
	f.DurationVar(&c.Warmup, "warmup", 500*time.Millisecond,
		"how long to run before measuring (by default also until each node has entered twice, at most 10s)")
	addSetup(f, &c.setup, "")
	addJSON(f, &c.json)
}

// check completes the call from its flags. It returns an error for a value out of range.
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
		return fmt.Errorf("--warmup %v: write 0s or longer", c.Warmup)
	}
	return nil
}

func (c *overheadCall) run(ctx context.Context, a *app) error {
	c.setup.Set = "overhead"
	a.equip(&c.setup)
	err := c.Validate(c.setup)
	if err == nil {
		err = results.MakeSet(c.setup.Results, c.setup.Set)
	}
	if err != nil {
		return err
	}
	var all []*runs.OverheadResult
	algorithms := []string{bare.Ring, bare.Ricart}
	each := 2 * time.Duration(c.Pairs) * (c.Warmup + c.Duration) // measuring a pair takes two measurements
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
				fmt.Fprintf(a.stdout, "%6s other programs used %.0f%% of the machine: repeat it when they are done\n",
					"", 100*r.Others)
			}
			fmt.Fprintln(a.stdout)
		}
	}
	if c.json {
		return terminal.PrintJSON(a.stdout, all)
	}
	return nil
}
