package commands

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"turnstile/hosts/cluster"
	"turnstile/internal/broker"
)

const brokerHelp = `Run the NATS server that is built in, in the foreground, for runs to use with --nats.
It listens on the loopback address alone and wants the credential that is part of the URL it prints.
End it with Ctrl-C.

A run without --nats has such a broker of its own. This command is for observing runs with other tools.`

const brokerExample = `  orchestrator broker --port 4222
  orchestrator bench --nats nats://CREDENTIAL@127.0.0.1:4222`

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
		Piped:  &c.piped,
		Serves: true,
		Run:    c.run,
	}
}

// addPiped adds the flag --piped of a command that is started by a run.
func addPiped(f *pflag.FlagSet, on *bool) {
	f.BoolVar(on, "piped", false, "serve a run: read orders from standard input, and end with it")
	f.MarkHidden("piped")
}

// served adds an exit status to the error of a process that a run has started.
func served(err error) error {
	if err != nil {
		return failure{err, 2}
	}
	return nil
}

func proxyCommand() Command {
	return Command{
		Name:   "proxy",
		Short:  "Run the TCP proxies of a run, which orders them by standard input and ends them by closing it",
		Hidden: true,
		Piped:  new(true),
		Run: func(_ context.Context, a *app) error {
			return served(cluster.ServeProxies(a.stdin, a.stdout))
		},
	}
}

func resourceCommand() Command {
	return Command{
		Name:   "resource",
		Short:  "Keep the resource of a run, which orders it by standard input and ends it by closing it",
		Hidden: true,
		Piped:  new(true),
		Run: func(_ context.Context, a *app) error {
			return served(cluster.ServeResource(a.stdin, a.stdout))
		},
	}
}

func (c *brokerCall) run(ctx context.Context, a *app) error {
	if c.piped {
		return served(cluster.ServeBroker(a.stdin, a.stdout))
	}
	if c.port < 0 || c.port > 65535 {
		return fmt.Errorf("--port: there is no port %d: write one from 1 to 65535", c.port)
	}
	token := broker.NewToken()
	s, err := broker.Start(broker.Config{Port: c.port, Token: token})
	if err != nil {
		return err
	}
	defer s.Shutdown()
	if _, err := fmt.Fprintf(a.stdout, "nats://%s@%s\n", token, s.Addr()); err != nil {
		return err // without its URL, no client could use the broker
	}
	<-ctx.Done()
	return nil
}
