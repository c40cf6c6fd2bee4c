package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"turnstile/bench/option"
)

const electHelp = `Have nodes elect leaders, in a process each, and judge who led and when.

When the run begins, the initiators campaign. Then what the faults do decides: crash the leader, cut nodes
off from each other, stop processes. Only what a node says of itself makes it a leader. The report tells how
long elections took and their parts, for how long nobody led, and for how long two or more did.

On virtual time: orchestrator simulate --algo SCHEME, with the same flags.

Exit status: 0 valid, 1 violated or not as --require has it, 2 inconclusive, 64 bad usage.`

const electExample = `  orchestrator elect --scheme bully -n 9
  orchestrator elect --scheme bully -n 9 --plan leader-crashes
  orchestrator elect --scheme raft-election -n 5 --cut 0-1/2-4 --at 1s --for 2s --duration 5s
  orchestrator elect --scheme bully -n 4 --initiators lowest --explain
  orchestrator elect --scheme chang-roberts -n 32 --ids random:7 --initiators random:3`

func (a *app) electCommand() *cobra.Command {
	c := benchCall{runCommand: electRuns}
	c.setup.Set = "elect"
	explain := false
	cmd := checked(&cobra.Command{
		Use:     "elect",
		Short:   "Have nodes elect leaders, measure that and judge it",
		Long:    electHelp,
		Example: electExample,
	}, c.resolve, func(ctx context.Context, _ settings) error {
		if explain && len(c.required.all) > 0 {
			return errors.New("--explain starts no run of which anything could be required: leave out --require")
		}
		if explain {
			return a.explain(&c)
		}
		_, err := a.bench(ctx, &c)
		return err
	})
	c.addFlags(cmd.Flags())
	cmd.Flags().BoolVar(&explain, "explain", false,
		"start nothing, and tell one election message by message, and another after a crash of the leader")
	group(cmd.Flags(), option.Running)
	forOneCall(cmd, "explain", "require")
	completeFlags(cmd)
	return cmd
}
