package commands

import (
	"fmt"

	"github.com/spf13/cobra"

	"turnstile/bench/cluster"
	"turnstile/internal/broker"
)

const brokerHelp = `Run the NATS server that is built in, in the foreground, for runs to use with --nats.
It listens on the loopback address alone and wants the credential that is part of the URL it prints.
End it with Ctrl-C.

A run without --nats has such a broker of its own. This command is for observing runs with other tools.`

const brokerExample = `  orchestrator broker --port 4222
  orchestrator bench --nats nats://CREDENTIAL@127.0.0.1:4222`

// brokerArgs make this program the broker of a run.
var brokerArgs = []string{"broker", "--piped"}

func (a *app) brokerCommand() *cobra.Command {
	var port int
	var piped bool
	cmd := &cobra.Command{
		Use:     "broker",
		Short:   "Run a NATS server that runs can share",
		Long:    brokerHelp,
		Example: brokerExample,
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if piped {
				if err := cluster.ServeBroker(cmd.InOrStdin(), a.stdout); err != nil {
					return failure{err, 2}
				}
				return nil
			}
			if _, err := settingsOf(cmd); err != nil {
				return err
			}
			return a.serveBroker(cmd, port)
		},
	}
	cmd.Flags().IntVar(&port, "port", 0, "TCP `port` on the loopback address (default any that is free)")
	cmd.Flags().BoolVar(&piped, "piped", false, "serve a run: be told by standard input, and end with it")
	cmd.Flags().MarkHidden("piped")
	return cmd
}

func (a *app) serveBroker(cmd *cobra.Command, port int) error {
	if port < 0 || port > 65535 {
		return fmt.Errorf("--port: there is no port %d: take one of 1 to 65535", port)
	}
	token := broker.NewToken()
	s, err := broker.Start(broker.Config{Port: port, Token: token})
	if err != nil {
		return err
	}
	defer s.Shutdown()
	if _, err := fmt.Fprintf(a.stdout, "nats://%s@%s\n", token, s.Addr()); err != nil {
		return err // nobody could use it
	}
	<-cmd.Context().Done()
	return nil
}
