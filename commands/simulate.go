package commands

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"turnstile/bench/option"
	"turnstile/internal/chance"
	"turnstile/judge/check"
)

const simulateHelp = `Run one algorithm under one load on virtual time, and judge what happened.

The nodes are those that bench runs in processes, in one loop, where only latency and critical sections take
time, and a seed gives the same history every time.

Exit status: 0 valid, 1 violated or not as --require has it, 2 inconclusive, 3 under- or overloaded,
64 bad usage.`

const simulateExample = `  orchestrator simulate --algo ricart -n 32
  orchestrator simulate --algo maekawa -n 1000 --latency exponential:1ms --entries 2000
  orchestrator simulate --algo lamport -n 2 --hold 1ms --think 2ms --latency 100us --reorder exponential:2ms
  orchestrator simulate --algo ricart -n 5 --kill 2 --at 1s --for 10ms --forget
  orchestrator simulate --algo maekawa -n 7 --plan random:7 --shrink
  orchestrator explore --algo naive -n 2 --save naive.txt; orchestrator simulate --replay naive.txt`

// simulatedLatency is the latency of simulated links unless told otherwise.
var simulatedLatency = chance.Constant(time.Millisecond)

// A simulateCall is one call of simulate.
type simulateCall struct {
	benchCall
	schedule string // to play again; empty: none
	asked    string // the algorithm that the schedule is to be of; empty: any
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
		"if the run is not valid, print the fewest of its faults with which it still fails so, as a plan")
	group(f, option.Running)
	common(f, "replay", "shrink")
	forOneCall(cmd, "shrink", "require")
	c.completeFlags(cmd, c.table())
}

// check completes the call, and says what is wrong with it, if anything is.
func (c *simulateCall) check(s settings) error {
	if c.schedule != "" {
		if s.rank("algo") == byFlag {
			c.asked = c.Algorithm
		}
		return c.nothingElse(s)
	}
	if err := c.resolve(s); err != nil {
		return err
	}
	if c.shrink && (c.json || len(c.Faults) == 0) {
		return errors.New("--shrink prints what is left of the faults of a run: ask for some, as by --plan " +
			"random:7, and leave out --json")
	}
	return nil
}

// nothingElse refuses the flags of runs beside --replay, since a schedule says all that happens.
func (c *simulateCall) nothingElse(s settings) error {
	may := []string{"replay", "algo", "json", "no-progress", "config"}
	var extra []string
	for name := range s {
		if s.rank(name) == byFlag && !slices.Contains(may, name) {
			extra = append(extra, "--"+name)
		}
	}
	if len(extra) == 0 {
		return nil
	}
	slices.Sort(extra)
	return fmt.Errorf("--replay: what happens is all in the schedule: leave out %s, or change the file",
		strings.Join(extra, ", "))
}

// run makes the run that c asks for, on virtual time.
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
