package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/spf13/cobra"

	"turnstile/bench"
	"turnstile/bench/agent"
	"turnstile/internal/english"
	"turnstile/internal/terminal"
	"turnstile/internal/unavailable"
	"turnstile/results"
)

const hostsHelp = `List the hosts that a control plane knows: what they have, how busy they are, how well
their clocks are known, what they run, and what runs have left there whose orchestrators ended too early.
--fetch RUN copies what the hosts have of such a run into its folder, for verify; --clean removes what is
left of all.`

const hostsExample = `  orchestrator hosts --control nats://TOKEN@127.0.0.1:4222
  orchestrator hosts --control tls://control:4222 --key lab.key --fetch latest`

// A hostsCall is one call of the command hosts.
type hostsCall struct {
	control     controlFlags
	root, fetch string
	clean, json bool
	await       int
}

func (a *app) hostsCommand() *cobra.Command {
	var c hostsCall
	cmd := checked(&cobra.Command{
		Use:     "hosts",
		Short:   "List the hosts of a control plane",
		Long:    hostsHelp,
		Example: hostsExample,
	}, func(s settings) error { return c.check(s) }, func(ctx context.Context, _ settings) error {
		return a.hosts(ctx, &c)
	})
	f := cmd.Flags()
	c.control.add(f)
	f.StringVar(&c.fetch, "fetch", "", "copy what hosts have kept of this `run` into its folder")
	f.StringVar(&c.root, "results", "results", "`folder` of all result sets")
	f.BoolVar(&c.clean, "clean", false, "remove what runs have left on hosts that nobody has fetched")
	f.IntVar(&c.await, "await", 0, "wait until so many hosts are there, for up to a minute")
	f.BoolVar(&c.json, "json", false, "print one JSON document instead")
	forOneCall(cmd, "fetch", "clean", "await")
	return cmd
}

func (c *hostsCall) check(s settings) error {
	switch {
	case s.given("await") && c.await < 1:
		return fmt.Errorf("--await: %d is no number of hosts to wait for", c.await)
	case c.control.url == "":
		return fmt.Errorf("hosts takes --control, with the URL of the control plane, as orchestrator control " +
			"prints it")
	case c.fetch != "" && c.clean:
		return fmt.Errorf("--fetch keeps what --clean removes: leave out one of the two")
	}
	return nil
}

// hosts lists hosts, or has them give what they have kept.
func (a *app) hosts(ctx context.Context, c *hostsCall) error {
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
		count, err := bench.Fetch(ctx, conn, version, folder)
		if err == nil && count == 0 {
			err = fmt.Errorf("no host has anything of %s, or the hosts that have it are not there", folder.Ref())
		}
		if err != nil {
			return failure{err, 2}
		}
		fmt.Fprintf(a.stdout, "fetched the logs of %s; judge them with %s\n", english.Count(count, "host", "hosts"),
			terminal.CallOn("verify", folder.Path))
		return nil
	case c.clean:
		removed, err := bench.CleanHosts(ctx, conn, version)
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
	return a.listHosts(conn, found, c.json)
}

// awaitLimit is how long hosts may take to be there.
const awaitLimit = time.Minute

// find returns the hosts that are there, once they are as many as are awaited.
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

// A listedHost is a host with how well its clock is known.
type listedHost struct {
	agent.Description
	ClockError time.Duration `json:"clock_error_ns"` // half of the shortest of some exchanges
}

// listHosts prints hosts.
func (a *app) listHosts(conn *nats.Conn, found []agent.Description, json bool) error {
	all := []listedHost{}
	for _, d := range found {
		all = append(all, listedHost{d, clockError(conn, d.Name)})
	}
	if json {
		return terminal.PrintJSON(a.stdout, all)
	}
	if len(all) == 0 {
		fmt.Fprintln(a.stdout, "no host is there: start one with orchestrator host --join")
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
	return t.Print(a.stdout)
}

// clockError returns within what an exchange with a host tells the offset of its clock; 0: it does not
// answer.
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
