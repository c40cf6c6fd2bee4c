package commands

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"turnstile/internal/chance"
	"turnstile/judge/check"
	"turnstile/option"
)

const simulateHelp = `Run one algorithm under one load on virtual time, and judge its history.

It runs the same nodes as bench, but all in one loop. Only latency and critical sections take time, and the
same seed always gives the same history.

Exit status: 0 valid, 1 violated or a --require not met, 2 inconclusive, 3 under- or overloaded,
64 bad usage.`

const simulateExample = `  orchestrator simulate --algo ricart -n 32
  orchestrator simulate --algo maekawa -n 1000 --latency exponential:1ms --entries 2000
  orchestrator simulate --algo lamport -n 2 --hold 1ms --think 2ms --latency 100us --reorder exponential:2ms
  orchestrator simulate --algo ricart -n 5 --kill 2 --at 1s --for 10ms --forget
  orchestrator simulate --algo maekawa -n 7 --plan random:7 --shrink
  orchestrator explore --algo naive -n 2 --save naive.txt; orchestrator simulate --replay naive.txt`

// simulatedLatency is the default latency of simulated links.
var simulatedLatency = chance.Constant(time.Millisecond)

// A simulateCall is one call of simulate.
type simulateCall struct {
	benchCall
	schedule string // path of the schedule to replay; empty: not given
	asked    string // the algorithm that the schedule must have; empty: any
	shrink   bool
}

func simulateCommand(k known) Command {
	c := &simulateCall{benchCall: benchCall{runCommand: anyRuns(k)}}
	c.Latency = simulatedLatency
	c.setup.Set = "simulate"
	c.Simulated = true
	return Command{
		Name:    "simulate",
		Short:   "Run an algorithm on virtual time, measure it and judge it",
		Help:    simulateHelp,
		More:    loadsHelp,
		Example: simulateExample,
		Options: c.addTo,
		Check:   c.check,
		Run:     c.run,
	}
}

func (c *simulateCall) addTo(cmd *cobra.Command) {
	f := cmd.Flags()
	c.addRunFlags(f)
	f.StringVar(&c.schedule, "replay", "",
		"play the schedule in a `file`, as explore --save writes it; takes no other flags but --algo and --json")
	f.BoolVar(&c.shrink, "shrink", false,
		"if the run is not valid, print a plan with the fewest of its faults that still make it fail")
	group(f, option.Running)
	common(f, "replay", "shrink")
	forOneCall(cmd, "shrink", "require", "junit")
	c.completeFlags(cmd, c.table())
}

// check completes the call from its flags. It returns an error for flags that contradict each other.
func (c *simulateCall) check(s settings) error {
	if c.schedule != "" {
		if s.typed("algo") {
			c.asked = c.Algorithm
		}
		return c.nothingElse(s)
	}
	if err := c.resolve(s); err != nil {
		return err
	}
	if c.shrink && (c.json || len(c.Faults) == 0) {
		return errors.New("--shrink prints the fewest faults with which a run fails: add faults, as by --plan " +
			"random:7, and leave out --json")
	}
	return nil
}

// nothingElse refuses the flags of runs beside --replay, since a schedule determines the whole run.
func (c *simulateCall) nothingElse(s settings) error {
	may := []string{"replay", "algo", "json", "no-progress", "config"}
	var extra []string
	for name := range s {
		if s.typed(name) && !slices.Contains(may, name) {
			extra = append(extra, "--"+name)
		}
	}
	if len(extra) == 0 {
		return nil
	}
	slices.Sort(extra)
	return fmt.Errorf("--replay: the schedule determines the whole run: leave out %s, or change the file",
		strings.Join(extra, ", "))
}

// run makes the run on virtual time, or replays the schedule.
func (c *simulateCall) run(ctx context.Context, a *app) error {
	if c.schedule != "" {
		return c.replay(a)
	}
	made, err := c.make(ctx, a)
	if err != nil || made == nil || !c.shrink {
		return err
	}
	for i, t := range made.Trials {
		if t.Verdict.Outcome != check.Valid {
			j := *made.Job
			j.Trials, j.Seed = 1, made.Record.Trials[i].Seed
			a.printShrunk(ctx, &j)
			break
		}
	}
	return nil
}
