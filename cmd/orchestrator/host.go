package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/spf13/cobra"

	"turnstile/bench/access"
	"turnstile/bench/agent"
	"turnstile/internal/terminal"
)

const hostHelp = `Serve this machine as a host of runs: bench, elect and the others reach it by the control
plane, with --control and --hosts. It starts node programs and brokers for them, and ends these when a run
is over, or when its orchestrator is gone. End it with Ctrl-C.

A host needs no flag but --join: its name is that of the machine. Files of runs are in --folder until the run
has fetched them, or for 24 hours.`

const hostExample = `  orchestrator host --join nats://TOKEN@127.0.0.1:4222 --name host-a
  orchestrator host --join tls://control:4222 --key lab.key`

// agentArgs make this program the agent of a host of a run that has started it.
var agentArgs = []string{"host", "--piped"}

// A hostCall is one call of the command host.
type hostCall struct {
	agent.Options
	join  string
	key   string
	node  string
	runAs string
	// healthy asks whether the agent with the folder is there, and does nothing else.
	healthy, piped bool
}

func (a *app) hostCommand() *cobra.Command {
	var c hostCall
	cmd := &cobra.Command{
		Use:     "host",
		Short:   "Serve this machine as a host of runs",
		Long:    hostHelp,
		Example: hostExample,
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if c.piped {
				if err := agent.ServePiped(cmd.Context(), cmd.InOrStdin(), a.stdout,
					agent.Options{Programs: hostPrograms()}); err != nil {
					return failure{err, 2}
				}
				return nil
			}
			if _, err := settingsOf(cmd); err != nil {
				return err
			}
			if c.healthy {
				return agent.Healthy(c.Folder)
			}
			return a.serveHost(cmd, &c)
		},
	}
	f := cmd.Flags()
	f.StringVar(&c.join, "join", "", "`URL` of the control plane")
	f.StringVar(&c.key, "key", "", "`file` with the key of the lab, as orchestrator keys makes it")
	f.StringVar(&c.Name, "name", "", "`name` of the host (default that of the machine)")
	f.StringVar(&c.Folder, "folder", "",
		"`folder` for the files of runs (default one of its own in the temporary folder)")
	f.StringVar(&c.Address, "address", "",
		"`address` at which other hosts reach this one (default as the control plane sees it)")
	f.StringVar(&c.node, "node-program", "",
		"`path` of the program of a node (default node, beside this program)")
	f.StringArrayVar(&c.AllowPrograms, "allow-program", nil,
		"`path` of another node program that runs may start here with --node-program")
	f.DurationVar(&c.OrphanAfter, "orphan-after", agent.OrphanAfter,
		"how long an orchestrator may be silent before its processes are ended")
	f.StringVar(&c.runAs, "run-as", "",
		"`UID:GID` as which to start nodes and brokers and to read the key, of an agent that runs as root")
	noZero(f, "orphan-after", "would end every run at once: leave it out for 10s")
	f.BoolVar(&c.healthy, "healthy", false, "only ask whether the agent that has --folder is there")
	f.BoolVar(&c.piped, "piped", false, "serve a run: be told by standard input, and end with it")
	f.MarkHidden("piped")
	forOneCall(cmd, "join", "key", "name", "folder", "address", "allow-program", "healthy")
	return cmd
}

// hostPrograms are what agents start beside nodes.
func hostPrograms() map[string][]string {
	own := terminal.OwnPath()
	return map[string][]string{
		agent.BrokerProgram:   append([]string{own}, brokerArgs...),
		agent.ProxyProgram:    append([]string{own}, proxyArgs...),
		agent.ResourceProgram: append([]string{own}, resourceArgs...),
	}
}

// serveHost serves this machine until it is interrupted.
func (a *app) serveHost(cmd *cobra.Command, c *hostCall) error {
	if c.join == "" {
		return fmt.Errorf("host takes --join, with the URL of the control plane, as orchestrator control prints it")
	}
	if c.OrphanAfter < time.Second {
		return fmt.Errorf("--orphan-after: %v is less than 1s, which a busy orchestrator may take to answer",
			c.OrphanAfter)
	}
	if err := c.identify(); err != nil {
		return err
	}
	c.node = cmp.Or(c.node, ownSibling("node"))
	c.Folder = cmp.Or(c.Folder, filepath.Join(os.TempDir(), fmt.Sprintf("turnstile-%d-%s", os.Getuid(), c.Name)))
	c.Version, c.Log, c.Programs = versions()["turnstile"], a.stderr, hostPrograms()
	c.Programs[agent.NodeProgram] = []string{c.node}
	var conn *nats.Conn
	err := c.RunAs.Files(func() (err error) {
		conn, err = access.Connect(c.join, c.key, nats.Name("host "+c.Name), nats.Timeout(5*time.Second),
			nats.MaxReconnects(-1))
		return err
	})
	if err != nil {
		return fmt.Errorf("--join: %w", err)
	}
	defer conn.Close()
	err = agent.Serve(cmd.Context(), conn, c.Options, func() {
		fmt.Fprintf(a.stdout, "host %s is there\n", c.Name)
	})
	if err != nil {
		return failure{err, 2}
	}
	return nil
}

// identify works out as whom the host starts processes, and its name.
func (c *hostCall) identify() error {
	if c.runAs != "" {
		as, err := agent.ParseAccount(c.runAs)
		if err != nil {
			return fmt.Errorf("--run-as: %w", err)
		}
		c.RunAs = as
	}
	if c.Name == "" {
		name, _ := os.Hostname()
		c.Name = strings.ToLower(strings.Map(nameRune, name))
	}
	if err := agent.CheckName(c.Name); err != nil {
		return fmt.Errorf("--name: %w", err)
	}
	return nil
}

// nameRune returns what stands for a character of a machine's name in that of a host.
func nameRune(r rune) rune {
	if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
		return r
	}
	return '-'
}
