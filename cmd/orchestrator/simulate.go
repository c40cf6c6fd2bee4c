package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"turnstile/bench"
	"turnstile/internal/chance"
	"turnstile/nodes/sim"
)

const simulateHelp = `Run one algorithm under one load on virtual time, and judge what happened.

The nodes are those that bench runs in processes. Here they run in one loop, in which only latency and
critical sections take time, and a seed gives the same history every time. So there may be ten thousand
nodes, and every fault can be reproduced.

The loads, the measures, the checks and the result set are those of bench.

Exit status: 0 valid, 1 violated, 2 inconclusive, 3 under- or overloaded, 64 bad usage.`

const simulateExample = `  orchestrator simulate --algo ricart -n 32
  orchestrator simulate --algo maekawa -n 1000 --latency exponential:1ms --entries 2000
  orchestrator simulate --algo lamport -n 2 --think exponential:2ms --latency exponential:2ms --reordering
  orchestrator simulate --algo suzuki -n 8 --duplication 0.05 --trials 20 --seed 1
  orchestrator simulate --algo ricart -n 5 --crash 2@1s --crash 0@2s+10ms,amnesia
  orchestrator explore --algo naive -n 2 --save naive.txt; orchestrator simulate --replay naive.txt`

// A simulateCall is one call of simulate.
type simulateCall struct {
	benchCall
	faults   bench.Simulated
	crashes  []string
	schedule string // to play again; empty: none
}

func (a *app) simulateCommand() *cobra.Command {
	var c simulateCall
	c.Latency = chance.Constant(time.Millisecond)
	c.setup.Set = "simulate"
	cmd := &cobra.Command{
		Use:     "simulate",
		Short:   "Run an algorithm on virtual time, measure it and judge it",
		Long:    simulateHelp,
		Example: simulateExample,
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := settingsOf(cmd)
			if err != nil {
				return err
			}
			if c.schedule != "" {
				if err := c.nothingElse(s); err != nil {
					return err
				}
				return a.replay(&c, c.asked(s))
			}
			if err := c.resolve(s); err != nil {
				return err
			}
			for _, text := range c.crashes {
				crash, err := sim.ParseCrash(text)
				if err != nil {
					return fmt.Errorf("--crash: %w", err)
				}
				c.faults.Crashes = append(c.faults.Crashes, crash)
			}
			return a.simulate(cmd.Context(), &c)
		},
	}
	c.addRunFlags(cmd)
	f := cmd.Flags()
	f.BoolVar(&c.faults.Reordering, "reordering", false, "let messages of one link arrive in any order")
	f.Float64Var(&c.faults.Loss, "loss", 0, "share of messages that are lost, 0 to 1")
	f.Float64Var(&c.faults.Duplication, "duplication", 0, "share of messages that arrive twice, 0 to 1")
	f.StringArrayVar(&c.crashes, "crash", nil,
		"have a `node` crash, as in 2@30ms, come up again, as in 2@30ms+5ms, or forget, as in 2@30ms+5ms,amnesia")
	f.StringVar(&c.schedule, "replay", "",
		"play the schedule in a `file`, as explore --save writes it; takes no other flags but --algo and --json")
	completeFlags(cmd)
	return cmd
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

// asked returns the algorithm that the command line names, or nothing.
func (c *simulateCall) asked(s settings) string {
	if s.rank("algo") == byFlag {
		return c.Algorithm
	}
	return ""
}

// simulate makes the run that c asks for, on virtual time.
func (a *app) simulate(ctx context.Context, c *simulateCall) error {
	return a.make(&c.benchCall, func(s bench.Setup) (*bench.Run, error) {
		return bench.Simulate(ctx, c.row, c.Options, c.faults, s)
	})
}
