package commands

import (
	"github.com/spf13/cobra"

	"turnstile/bench/cluster"
)

// resourceArgs make this program the resource process of a run.
var resourceArgs = []string{"resource"}

func (a *app) resourceCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "resource",
		Short:  "Keep the resource of a run, for its nodes to ask: told by standard input, and ended with it",
		Args:   noArgs,
		Hidden: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := cluster.ServeResource(cmd.InOrStdin(), a.stdout); err != nil {
				return failure{err, 2}
			}
			return nil
		},
	}
}
