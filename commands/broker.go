package commands

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"turnstile/bench/cluster"
	"turnstile/internal/broker"
)

const brokerHelp = `Run the NATS server that is built in, in the foreground, for runs to use with --nats.
It listens on the loopback address alone and wants the credential that is part of the URL it prints.
End it with Ctrl-C.

A run without --nats has such a broker of its own. This command is for observing runs with other tools.`

const brokerExample = `  orchestrator broker --port 4222
  orchestrator bench --nats nats://CREDENTIAL@127.0.0.1:4222`

// These make this program the broker, the proxies and the resource of a run.
var (
	brokerArgs   = []string{"broker", "--piped"}
	proxyArgs    = []string{"proxy"}
	resourceArgs = []string{"resource"}
)

// A brokerCall is one call of broker.
type brokerCall struct {
	port  int
	piped bool
}

func brokerCommand() Command {
	c := &brokerCall{}
	return Command{
		Name:    "broker",
		Short:   "Run a NATS server that runs can share",
		Help:    brokerHelp,
		Example: brokerExample,
		Hidden:  true,
		Options: func(cmd *cobra.Command) {
			cmd.Flags().IntVar(&c.port, "port", 0, "TCP `port` on the loopback address (default any that is free)")
			addPiped(cmd.Flags(), &c.piped)
		},
		Run: func(a *app, cmd *cobra.Command, args []string) error {
			if c.piped {
				return piped(cluster.ServeBroker)(a, cmd, args)
			}
			return named(c.run)(a, cmd, args)
		},
	}
}

// addPiped adds the flag of a command that runs start.
func addPiped(f *pflag.FlagSet, on *bool) {
	f.BoolVar(on, "piped", false, "serve a run: be told by standard input, and end with it")
	f.MarkHidden("piped")
}

// piped returns what runs a command that runs start: it is told by standard input, and ends with it.
func piped(serve func(io.Reader, io.Writer) error) runner {
	return func(a *app, cmd *cobra.Command, _ []string) error {
		if err := serve(cmd.InOrStdin(), a.stdout); err != nil {
			return failure{err, 2}
		}
		return nil
	}
}

func proxyCommand() Command {
	return Command{
		Name:   "proxy",
		Short:  "Run the TCP proxies of a run: told by standard input, and ended with it",
		Hidden: true,
		Run:    piped(cluster.ServeProxies),
	}
}

func resourceCommand() Command {
	return Command{
		Name:   "resource",
		Short:  "Keep the resource of a run, for its nodes to ask: told by standard input, and ended with it",
		Hidden: true,
		Run:    piped(cluster.ServeResource),
	}
}

func (c *brokerCall) run(ctx context.Context, a *app, _ []string) error {
	if c.port < 0 || c.port > 65535 {
		return fmt.Errorf("--port: there is no port %d: take one of 1 to 65535", c.port)
	}
	token := broker.NewToken()
	s, err := broker.Start(broker.Config{Port: c.port, Token: token})
	if err != nil {
		return err
	}
	defer s.Shutdown()
	if _, err := fmt.Fprintf(a.stdout, "nats://%s@%s\n", token, s.Addr()); err != nil {
		return err // nobody could use it
	}
	<-ctx.Done()
	return nil
}
