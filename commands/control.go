package commands

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"turnstile/hosts/access"
	"turnstile/internal/terminal"
)

const controlHelp = `Serve the control plane, through which users command the agents of hosts, in the
foreground. It prints its URL once it listens. End it with Ctrl-C or SIGTERM; it leaves nothing behind.

With --keys it uses TLS, and serves anybody with the key of that folder (see hosts keys). It reports refused
connections on standard error. Other machines can reach it with --listen, as in --listen 0.0.0.0:4222.

Without --keys it listens only on a loopback address, and anybody with the URL that it prints may do
everything: the URL contains the credential, which is new after each start.`

const controlExample = `  orchestrator hosts control --keys keys --listen 0.0.0.0:4222
  orchestrator hosts control --keys keys --listen 10.0.0.5:4300
  orchestrator hosts control --listen 127.0.0.1:0`

// A controlCall is one call of hosts control.
type controlCall struct{ access.ServerConfig }

func controlCommand() Command {
	c := &controlCall{}
	return Command{
		Name:    "control",
		Short:   "Serve the control plane of hosts",
		Help:    controlHelp,
		Example: controlExample,
		Options: func(cmd *cobra.Command) {
			cmd.Flags().StringVar(&c.Keys, "keys", "", "`folder` of keys")
			cmd.Flags().StringVar(&c.Listen, "listen", "", "`address` and port to listen on (default 127.0.0.1:4222)")
		},
		Serves: true,
		Run:    c.run,
	}
}

// run serves the control plane until the context ends.
func (c *controlCall) run(ctx context.Context, a *app) error {
	c.Log = a.stderr
	s, err := access.Serve(c.ServerConfig)
	if err != nil {
		return err
	}
	defer s.Close()
	if _, err := fmt.Fprintln(a.stdout, s.URL()); err != nil {
		return err // without its URL, no host could join
	}
	with := "the URL"
	if c.Keys != "" {
		with = "the key of the lab"
	}
	fmt.Fprintf(a.stderr, "orchestrator: listening on %s; anybody with %s may connect\n", s.Addr(), with)
	<-ctx.Done()
	return nil
}

// controlFlags are the flags for the control plane: its URL and the file of the key.
type controlFlags struct {
	url, key string
}

// add adds the flags for the control plane.
func (c *controlFlags) add(f *pflag.FlagSet) { addControl(f, &c.url, &c.key) }

// addControl adds the flags for the control plane.
func addControl(f *pflag.FlagSet, url, key *string) {
	f.StringVar(url, "control", "", "`URL` of the control plane, as orchestrator hosts control prints it")
	f.StringVar(key, "key", "", "`file` with the key of the lab, as orchestrator hosts keys makes it")
}

// connect connects to the control plane under a name that its log shows.
func (c *controlFlags) connect(name string) (*nats.Conn, error) {
	conn, err := access.Connect(c.url, c.key, nats.Name(name), nats.Timeout(5*time.Second))
	if err != nil {
		return nil, fmt.Errorf("--control: %w", err)
	}
	return conn, nil
}

const keysHelp = `Make the key of a lab in the folder DIR, for a control plane and its hosts on several
machines. The folder gets two files:

  lab.key      the key of the lab, for each host and each user (--key): it gives control of all hosts
  control.key  the private key of the control plane, which stays there (orchestrator hosts control --keys DIR)

Both are secrets: copy them as you copy a private key of ssh. This command never replaces a key. To shut
somebody out, make another key in another folder, and serve with that.`

func keysCommand() Command {
	return Command{
		Name:    "keys DIR",
		Short:   "Make the key of a lab, for its control plane, hosts and users",
		Help:    keysHelp,
		Example: "  orchestrator hosts keys keys",
		Args:    cobra.ArbitraryArgs,
		Run:     makeKeys,
	}
}

// makeKeys makes the key of a lab in the folder that the argument names.
func makeKeys(_ context.Context, a *app) error {
	args := a.args
	if len(args) != 1 {
		return fmt.Errorf("hosts keys takes one folder, as in hosts keys ./keys, not %d",
			len(args))
	}
	made, err := access.Make(args[0])
	if err != nil {
		return err
	}
	lab := terminal.FromHere(filepath.Join(args[0], access.LabFile))
	if !made {
		_, err = fmt.Fprintf(a.stdout, "%s is there already, and stays as it is\n", lab)
		return err
	}
	_, err = fmt.Fprintf(a.stdout, "%s: the key of the lab: copy it to each host and each user, for --key\n"+
		"%s: the private key of the control plane, for orchestrator hosts control --keys %s: do not copy it\n", lab,
		terminal.FromHere(filepath.Join(args[0], access.ControlFile)), terminal.ShellQuoted(args[0]))
	return err
}
