package commands

import (
	"github.com/spf13/cobra"

	"turnstile/bench/cluster"
)

// proxyArgs make this program the process of a run's proxies.
var proxyArgs = []string{"proxy"}

func (a *app) proxyCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "proxy",
		Short:  "Run the TCP proxies of a run: told by standard input, and ended with it",
		Args:   noArgs,
		Hidden: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := cluster.ServeProxies(cmd.InOrStdin(), a.stdout); err != nil {
				return failure{err, 2}
			}
			return nil
		},
	}
}
