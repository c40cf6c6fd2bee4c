package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/spf13/cobra"

	"turnstile/bench/runs"
	"turnstile/bench/site"
	"turnstile/hosts/access"
	"turnstile/hosts/agent"
	"turnstile/internal/english"
	"turnstile/internal/terminal"
	"turnstile/internal/unavailable"
	"turnstile/results"
)

const hostHelp = `Serve this machine as a host of runs: bench, elect and other commands with --control and
--hosts reach it through the control plane. It starts node programs and brokers for a run, and ends them when
the run is over or its orchestrator is gone. End it with Ctrl-C.

A host needs only the URL; its default name is that of the machine. Files of a run stay in --folder until the
run has fetched them, or for 24 hours.`

const hostExample = `  orchestrator hosts join nats://TOKEN@127.0.0.1:4222 --name host-a
  orchestrator hosts join tls://control:4222 --key lab.key`

// A hostCall is one call of hosts join.
type hostCall struct {
	agent.Options
	key   string
	node  string
	runAs string
	// healthy is set if the call only asks whether the agent that uses the folder runs.
	healthy, piped bool
}

func joinCommand() Command {
	c := &hostCall{}
	return Command{
		Name:    "join URL",
		Short:   "Serve this machine as a host of runs",
		Help:    hostHelp,
		Example: hostExample,
		Options: c.addTo,
		Args:    atMostOne,
		Piped:   &c.piped,
		Serves:  true,
		Run:     c.run,
	}
}

func (c *hostCall) addTo(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&c.key, "key", "", "`file` with the key of the lab, as orchestrator hosts keys makes it")
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
		"how long an orchestrator may be silent before this host ends the processes of its run")
	f.StringVar(&c.runAs, "run-as", "",
		"`UID:GID` under which an agent that runs as root starts nodes and brokers, and reads the key")
	noZero(f, "orphan-after", "would end every run at once: leave it out for 10s")
	f.BoolVar(&c.healthy, "healthy", false, "only check whether the agent with this --folder runs")
	addPiped(f, &c.piped)
	forOneCall(cmd, "key", "name", "folder", "address", "allow-program", "healthy")
}

// hostPrograms are the programs that agents start beside nodes.
func hostPrograms() map[string][]string {
	own := terminal.OwnPath()
	return map[string][]string{
		agent.BrokerProgram:   append([]string{own}, brokerArgs...),
		agent.ProxyProgram:    append([]string{own}, proxyArgs...),
		agent.ResourceProgram: append([]string{own}, resourceArgs...),
	}
}

// run serves this machine until it is interrupted or, with --healthy, checks whether it is served.
func (c *hostCall) run(ctx context.Context, a *app) error {
	switch {
	case c.piped:
		return served(agent.ServePiped(ctx, a.stdin, a.stdout, agent.Options{Programs: hostPrograms()}))
	case c.healthy:
		return agent.Healthy(c.Folder)
	case len(a.args) == 0:
		return errors.New("hosts join takes the URL of the control plane, as orchestrator hosts control prints it")
	}
	if c.OrphanAfter < time.Second {
		return fmt.Errorf("--orphan-after: %v is less than 1s, which a busy orchestrator may take to answer",
			c.OrphanAfter)
	}
	if err := c.identify(); err != nil {
		return err
	}
	c.Folder = cmp.Or(c.Folder, filepath.Join(os.TempDir(), fmt.Sprintf("turnstile-%d-%s", os.Getuid(), c.Name)))
	c.Version, c.Log, c.Programs = versions()["turnstile"], a.stderr, hostPrograms()
	if c.Programs[agent.NodeProgram] = a.nodeProgram(); c.node != "" {
		c.Programs[agent.NodeProgram] = []string{c.node}
	}
	var conn *nats.Conn
	err := unlessAsked(ctx, func() error {
		return c.RunAs.Files(func() (err error) {
			conn, err = access.Connect(a.args[0], c.key, nats.Name("host "+c.Name), nats.Timeout(5*time.Second),
				nats.MaxReconnects(-1))
			return err
		})
	})
	if err != nil {
		return fmt.Errorf("joining the control plane: %w", err)
	}
	defer conn.Close()
	return served(agent.Serve(ctx, conn, c.Options, func() {
		fmt.Fprintf(a.stdout, "host %s is there\n", c.Name)
	}))
}

// identify works out the name of the host, and the account under which it starts processes.
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

// nameRune replaces a character that the name of a host cannot have by a hyphen.
func nameRune(r rune) rune {
	if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
		return r
	}
	return '-'
}

const hostsHelp = `List the hosts of a control plane: their cores and memory, their load, how exactly their
clocks are known, their runs, and the files of runs whose orchestrators ended too early. --fetch RUN copies
these files of a run from the hosts into its folder, for verify; --clean removes them for all runs.`

const hostsExample = `  orchestrator hosts --control nats://TOKEN@127.0.0.1:4222
  orchestrator hosts --control tls://control:4222 --key lab.key --fetch latest`

// A hostsCall is one call of the command hosts.
type hostsCall struct {
	control     controlFlags
	root, fetch string
	clean, json bool
	await       int
}

func hostsCommand() Command {
	c := &hostsCall{}
	return Command{
		Name:    "hosts",
		Short:   "List the hosts of a control plane, or set up a control plane and its hosts",
		Help:    hostsHelp,
		Example: hostsExample,
		Options: c.addTo,
		Check:   c.check,
		Run:     c.run,
	}
}

func (c *hostsCall) addTo(cmd *cobra.Command) {
	f := cmd.Flags()
	c.control.add(f)
	f.StringVar(&c.fetch, "fetch", "", "copy the files that hosts have kept of this `run` into its folder")
	f.StringVar(&c.root, "results", "results", "`folder` of all result sets")
	f.BoolVar(&c.clean, "clean", false, "remove the unfetched files that hosts keep of ended runs")
	f.IntVar(&c.await, "await", 0, "wait until this many hosts have joined, for up to a minute")
	addJSON(f, &c.json)
	forOneCall(cmd, "fetch", "clean", "await")
}

func (c *hostsCall) check(s settings) error {
	switch {
	case s.given("await") && c.await < 1:
		return fmt.Errorf("--await: %d: write a number of hosts from 1", c.await)
	case c.control.url == "":
		return fmt.Errorf("hosts takes --control, with the URL of the control plane, as orchestrator " +
			"hosts control prints it")
	case c.fetch != "" && c.clean:
		return fmt.Errorf("--clean removes the files that --fetch keeps: leave out one of the two")
	}
	return nil
}

// run lists hosts, or fetches or removes the files that they have kept.
func (c *hostsCall) run(ctx context.Context, a *app) error {
	conn, err := c.control.connect("hosts")
	if err != nil {
		return err
	}
	defer conn.Close()
	switch version := versions()["turnstile"]; {
	case c.fetch != "":
		folder, err := results.Open(c.root, c.fetch)
		if err != nil {
			return err
		}
		count, err := runs.Fetch(ctx, conn, version, folder)
		if err == nil && count == 0 {
			err = fmt.Errorf("no host that has joined has files of %s", folder.Ref())
		}
		if err != nil {
			return failure{err, 2}
		}
		fmt.Fprintf(a.stdout, "fetched the logs of %s; judge them with %s\n", english.Count(count, "host", "hosts"),
			terminal.CallOn("verify", folder.Path))
		return nil
	case c.clean:
		removed, err := site.CleanHosts(ctx, conn, version)
		for _, name := range removed {
			fmt.Fprintf(a.stdout, "removed %s\n", name)
		}
		if err != nil {
			return failure{err, 2}
		}
		return nil
	}
	found, err := c.find(ctx, conn)
	if err != nil {
		return unavailable.Mark(err)
	}
	return c.list(a.stdout, conn, found)
}

// awaitLimit is how long --await waits for hosts to join.
const awaitLimit = time.Minute

// find returns the hosts that have joined, once there are as many as --await asks for.
func (c *hostsCall) find(ctx context.Context, conn *nats.Conn) ([]agent.Description, error) {
	for late := time.Now().Add(awaitLimit); ; {
		found, err := agent.Find(conn, 2*time.Second)
		switch {
		case err != nil, len(found) >= c.await, ctx.Err() != nil:
			return found, err
		case time.Now().After(late):
			return nil, fmt.Errorf("--await: after %v %d of %d hosts are there", awaitLimit, len(found), c.await)
		}
		time.Sleep(200 * time.Millisecond)
	}
}

// A listedHost is a host and the error bound of its clock.
type listedHost struct {
	agent.Description
	ClockError time.Duration `json:"clock_error_ns"` // half of the shortest round trip, see clockError
}

// list prints hosts.
func (c *hostsCall) list(w io.Writer, conn *nats.Conn, found []agent.Description) error {
	all := []listedHost{}
	for _, d := range found {
		all = append(all, listedHost{d, clockError(conn, d.Name)})
	}
	if c.json {
		return terminal.PrintJSON(w, all)
	}
	if len(all) == 0 {
		fmt.Fprintln(w, "no host is there: start one with orchestrator hosts join")
		return nil
	}
	t := terminal.Table{Head: []string{"host", "address", "cores", "memory", "free", "load", "clock", "version",
		"runs"}}
	for _, h := range all {
		runs := strings.Join(h.Runs, "; ")
		if len(h.Left) > 0 {
			runs = strings.TrimPrefix(runs+"; left: "+strings.Join(h.Left, ", "), "; ")
		}
		t.Add(h.Name, h.Address, h.Cores, fmt.Sprintf("%d MB", h.MemoryMB), fmt.Sprintf("%d MB", h.FreeMB),
			fmt.Sprintf("%.1f", h.Load), fmt.Sprintf("±%v", h.ClockError.Round(time.Microsecond)), h.Version, runs)
	}
	return t.Print(w)
}

// clockError returns the error bound of the offset of a host's clock: half of the shortest round trip. 0: the
// host does not answer.
func clockError(conn *nats.Conn, host string) (best time.Duration) {
	for range 5 {
		before := time.Now()
		if _, err := agent.Clock(conn, host, time.Second); err != nil {
			return best
		}
		if half := time.Since(before) / 2; best == 0 || half < best {
			best = half
		}
	}
	return best
}
