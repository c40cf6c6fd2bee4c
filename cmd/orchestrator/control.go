package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"turnstile/bench/access"
)

const controlHelp = `Serve the control plane, by which users order the agents of hosts, in the foreground. It
prints its URL once it listens. End it with Ctrl-C or SIGTERM; it leaves nothing behind.

With --keys it speaks TLS, and serves those who have a key of that folder (see orchestrator keys), each on the
subjects of its role and name: a host cannot order another. It looks for changes of the keys each second, so
new keys and a renewed certificate need no restart and no signal. What it refuses goes to standard error.

Without --keys it listens on a loopback address alone, and whoever has the URL that it prints may do
everything: the credential is part of it, and is another after each start.`

const controlExample = `  orchestrator control --keys keys
  orchestrator control --keys keys --listen 10.0.0.5:4300
  orchestrator control --listen 127.0.0.1:0`

func (a *app) controlCommand() *cobra.Command {
	var c access.ServerConfig
	cmd := &cobra.Command{
		Use:     "control",
		Short:   "Serve the control plane of hosts",
		Long:    controlHelp,
		Example: controlExample,
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if _, err := settingsOf(cmd); err != nil {
				return err
			}
			c.Log = a.stderr
			return a.serveControl(cmd.Context(), c)
		},
	}
	cmd.Flags().StringVar(&c.Keys, "keys", "", "`folder` of keys")
	cmd.Flags().StringVar(&c.Listen, "listen", "", "`address` and port to listen on (default 0.0.0.0:4222, "+
		"without keys 127.0.0.1:4222)")
	return cmd
}

// serveControl serves the control plane until the context ends.
func (a *app) serveControl(ctx context.Context, c access.ServerConfig) error {
	s, err := access.Serve(c)
	if err != nil {
		return err
	}
	defer s.Close()
	if _, err := fmt.Fprintln(a.stdout, s.URL()); err != nil {
		return err // nobody could use it
	}
	fmt.Fprintf(a.stderr, "orchestrator: listening on %s; %s\n", s.Addr(), s.Who())
	if err := s.Warning(); err != nil {
		fmt.Fprintf(a.stderr, "orchestrator: warning: %v\n", err)
	}
	s.Run(ctx, access.RefreshPause)
	return nil
}
