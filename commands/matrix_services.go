package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"turnstile/bench/runs"
	"turnstile/bench/service"
	"turnstile/bench/study"
	"turnstile/internal/english"
	"turnstile/internal/figure"
	"turnstile/internal/format"
	"turnstile/internal/terminal"
	"turnstile/judge/check"
	"turnstile/nodes"
	setpage "turnstile/report/page"
	"turnstile/results"
)

const failuresHelp = `Run known failures of services that people use, each with the fault that shows it, and
compare two outcomes with the expected ones: of all entries, and of the entries that a resource with fence
numbers accepts. With --runs 3 each line has three runs, and the table says how many show each outcome.

The table is matrix.csv in the folder of the set. Given again, the command makes only the runs that its set
lacks.

Exit status: 0 all lines are as expected, 1 a line differs, 2 a line is inconclusive, was not run, or its
fault hit nothing, or interrupted, 64 bad usage or nothing can be run.`

const failuresExample = `  orchestrator matrix failures
  orchestrator matrix failures --only 9,nats-kv --runs 3`

// A failuresCall is one call of matrix failures.
type failuresCall struct {
	study.ServiceMatrix
	serviceSettings
}

// The default names of the sets.
const (
	servicesSet = "service-matrix"
	failoverSet = "failover"
)

// serviceSettings are the settings of matrix failures and matrix failover, beside those of their sweeps.
type serviceSettings struct {
	only                     []string // numbers of lines, or names of services; empty: all
	json, dryRun, noProgress bool
	flags                    *pflag.FlagSet
}

// addTo adds the flags that both commands have. each names what --runs counts, and only what --only selects.
func (c *serviceSettings) addTo(f *pflag.FlagSet, sweep *study.Sweep, each, only string) {
	c.flags = f
	f.StringSliceVar(&c.only, "only", nil, only)
	f.IntVar(&sweep.Trials, "runs", sweep.Trials, "how many runs each "+each+" has")
	noZero(f, "runs", "would make no run: write a number from 1, or leave it out")
	f.Uint64Var(&sweep.Seed, "seed", sweep.Seed, "of all random draws")
	addMixed(f, &sweep.Mixed, "")
	addDryRun(f, &c.dryRun)
	addSetup(f, &sweep.Setup, "the table and the runs")
	addJSON(f, &c.json)
	addNoProgress(f, &c.noProgress)
}

// complete completes the sweep of a command, and checks the settings that both commands have. says is the
// error for a word of --only that is not known.
func (c *serviceSettings) complete(s settings, sweep *study.Sweep, command, says string,
	known []string) error {
	sweep.Command = s.recorded(c.flags, runs.Program, "matrix", command)
	if sweep.Trials < 1 {
		return fmt.Errorf("--runs: %d: write a number from 1", sweep.Trials)
	}
	for _, word := range c.only {
		if !slices.Contains(known, word) {
			return fmt.Errorf("--only: %s %q: write one of %s", says, word, strings.Join(distinct(known), ", "))
		}
	}
	return checkSet(&sweep.Setup)
}

func failuresCommand() Command {
	c := &failuresCall{}
	c.Seed, c.Setup.Set, c.Trials = 1, servicesSet, 1
	return Command{
		Name:    "failures",
		Short:   "Run known failures of services, and compare the outcomes with the expected ones",
		Help:    failuresHelp,
		Example: failuresExample,
		Options: func(cmd *cobra.Command) {
			c.addTo(cmd.Flags(), &c.Sweep, "line", "only lines of these `numbers` or services, with commas between")
		},
		Check: c.check,
		Notes: true,
		Ends:  true,
		Run:   c.run,
	}
}

// check picks the lines of the matrix, and checks the settings.
func (c *failuresCall) check(s settings) error {
	var known []string
	for _, l := range study.ServiceLines() {
		if known = append(known, fmt.Sprint(l.Number), l.Service); len(c.only) == 0 ||
			slices.ContainsFunc(c.only, l.Is) {
			c.Cases = append(c.Cases, &study.ServiceCase{Line: l})
		}
	}
	return c.complete(s, &c.Sweep, "failures", "no line has the number or the service", known)
}

// run makes the runs of all lines, and prints their outcomes.
func (c *failuresCall) run(ctx context.Context, a *app) error {
	a.onlyRows(c.json)
	m := &c.ServiceMatrix
	if err := a.equipFor(&m.Setup, true); err != nil {
		return err
	}
	var out []notRun
	for _, x := range m.Cases {
		program, err := serviceProgram(x.Line.Service)
		if err == nil {
			x.Subject, _, err = subjectOf(ctx, &service.Program{Command: program, Name: x.Line.Service,
				Words: x.Line.With}, nodes.Config{N: x.Line.Nodes})
		}
		if err != nil {
			x.Err = fmt.Errorf("not run: %w", err)
			out = append(out, notRun{x.Line.Service, err})
		}
	}
	if err := a.tellNotRun(out, len(m.Cases)); err != nil {
		return err
	}
	interrupted, err := a.makeMatrix(ctx, m, &m.Sweep, c.noProgress, c.dryRun)
	if errors.Is(err, errDryRun) {
		return nil
	}
	if err != nil {
		return err
	}
	var rows []results.MatrixRow
	for _, x := range m.Cases {
		rows = append(rows, x.TableRow())
	}
	path, err := results.WriteSetTable(m.Setup.Results, m.Setup.Set, results.MatrixFile, rows)
	writeRows(a, rows)
	printServices(a.stdout, m.Cases)
	c.tell(a)
	return a.tellTable(path, err, interrupted)
}

// printServices prints a table of all cases, then what happens in each and what the documentation promises.
func printServices(out io.Writer, cases []*study.ServiceCase) {
	t := terminal.Table{Head: []string{"line", "service and options", "fault", "may", "strict", "fenced", "told",
		"nobody for", "refused", "bytes", ""}}
	for _, c := range cases {
		l, faults := c.Line, c.Line.FaultTexts()
		t.Add(append([]any{l.Number, l.Text(), append(faults, "none")[0],
			strings.TrimSpace(l.Strict + " " + l.Fenced)}, caseCells(c)...)...)
		for _, more := range faults[min(1, len(faults)):] {
			t.Add("", "", more, "", "", "", "", "", "", "", "")
		}
	}
	t.Print(out)
	fmt.Fprint(out, `
may and strict: of all entries. fenced: of the entries that a resource accepts which refuses numbers below one
it has seen (of leaders: of one term). L recovers, P starves some, B blocks all, X two are inside or lead
together, ? shows nothing, - has no fences
told: in how many entries the client was told that it had lost the lock. "0, 201 not": in none, and during 201
another client entered before it was told
nobody for: the longest time without an entry or, of leaders, all time without one; of several runs the
shortest and the longest. refused: tries, and those of them while nobody was inside. bytes: between clients
and servers, for an entry. X 2 of 3: so many of the runs show it; told, refused and bytes are those of one of
them

`)
	for _, c := range cases {
		l := c.Line
		fmt.Fprintf(out, "%d %s: %s\n", l.Number, l.Text(), l.Why)
		fmt.Fprintf(out, "   documented: %s %s\n", l.Says, l.Link)
	}
	fmt.Fprintln(out)
}

// caseCells returns the measured cells of a case. The numbers are from the run that c.Tells returns.
func caseCells(c *study.ServiceCase) []any {
	if c.Err != nil {
		return []any{c.Err}
	}
	told, refused, bytes := "", "", ""
	whole := func(f figure.Figure) string { return format.Plain(f, 0) }
	if r := &c.Tells().Row; r.EntriesTold.Known() {
		told = whole(r.EntriesTold)
		if n, _ := r.OverlappedUntold.Value(); n > 0 {
			told += fmt.Sprintf(", %s not", whole(r.OverlappedUntold))
		}
		if n, _ := r.RefusedTries.Value(); n > 0 {
			refused = whole(r.RefusedTries) + ", " + whole(r.RefusedFree) + " free"
		}
		bytes = whole(r.ServerBytesPerEntry)
	}
	least, most := c.Silence()
	silence := format.Seconds(least)
	if longest := format.Seconds(most); longest != silence {
		silence += " to " + longest
	}
	differs := ""
	if c.Differs() {
		differs = "DIFFERS"
	}
	return []any{c.Strict(), c.Fenced(), told, silence, refused, bytes, differs}
}

// tell prints the cases that are not as expected, and sets the exit status.
func (m *failuresCall) tell(a *app) {
	var t expectations
	for _, c := range m.Cases {
		switch {
		case c.Err != nil:
			t.left++
			a.status = cmp.Or(a.status, check.Inconclusive.ExitCode())
		case c.Differs():
			t.differ++
			a.status = check.Violated.ExitCode()
			fmt.Fprintf(a.trouble(), "DIFFERS  %d %s: %s (%s)\n", c.Line.Number, c.Line.Text(), c.Tells().Says,
				c.Tells().Folder)
		case c.ShowsNothing():
			says := "inconclusive"
			if t.unknown++; c.NotHit() {
				t.unknown, t.missed, says = t.unknown-1, t.missed+1, "untested"
			}
			a.status = cmp.Or(a.status, check.Inconclusive.ExitCode())
			fmt.Fprintf(a.stdout, "%s  %d %s: %s (%s)\n", says, c.Line.Number, c.Line.Text(), c.Tells().Says,
				c.Tells().Folder)
		default:
			t.met++
		}
	}
	fmt.Fprintf(a.stdout, "%s: %v.\n", english.Count(len(m.Cases), "line", "lines"), t)
}

const failoverHelp = `Measure how long it takes until the next client of a service enters, or another node
leads, after a fault: the holder or leader is killed, stands still or is cut off, or the leading server is
killed or cut off.

The table failover.csv in the folder of the set has the medians with intervals, by service and time to live.
Given again, the command makes only the runs that its set lacks.

Exit status: 0 all cells have runs that count, 2 a run does not count, a cell has none, or interrupted, 64 bad
usage or nothing can be run.`

const failoverExample = `  orchestrator matrix failover
  orchestrator matrix failover --only redis,etcd --ttl 1s,2s`

// A failoverCall is one call of matrix failover.
type failoverCall struct {
	study.Failover
	serviceSettings
	ttls []time.Duration
}

func failoverCommand() Command {
	c := &failoverCall{ttls: []time.Duration{time.Second, 2 * time.Second, 5 * time.Second}}
	c.Seed, c.Setup.Set, c.Trials = 1, failoverSet, 10
	c.Parallel = 3
	return Command{
		Name:    "failover",
		Short:   "Measure how long services take until the next client enters after a fault",
		Help:    failoverHelp,
		Example: failoverExample,
		Options: c.addTo,
		Check:   c.check,
		Notes:   true,
		Ends:    true,
		Run:     c.run,
	}
}

func (c *failoverCall) addTo(cmd *cobra.Command) {
	f := cmd.Flags()
	c.serviceSettings.addTo(f, &c.Sweep, "case", "only these `services`, with commas between")
	f.DurationSliceVar(&c.ttls, "ttl", c.ttls, "`times` to live that clients ask for, with commas between")
	f.IntVar(&c.Parallel, "parallel", c.Parallel, "how many runs are made in parallel; they are mostly idle")
}

// check picks the cases of the table, and checks the settings.
func (c *failoverCall) check(s settings) error {
	if c.Parallel < 1 {
		return fmt.Errorf("--parallel: %d: write a number from 1", c.Parallel)
	}
	for i, ttl := range c.ttls {
		switch {
		case ttl < 100*time.Millisecond || ttl > time.Minute:
			return fmt.Errorf("--ttl: %v: write times from 100ms to 1m, as in 1s,2s,5s", ttl)
		case slices.Contains(c.ttls[:i], ttl):
			return fmt.Errorf("--ttl: %v is named twice: leave out one of the two", ttl)
		}
	}
	var known []string
	for _, l := range study.FailoverLines() {
		if known = append(known, l.Service); len(c.only) == 0 || slices.Contains(c.only, l.Service) {
			c.Cases = append(c.Cases, l.Cases(c.ttls)...)
		}
	}
	return c.complete(s, &c.Sweep, "failover", "there are no failovers of", known)
}

// run makes the runs of all cases, and prints the times until the next entry or leader.
func (c *failoverCall) run(ctx context.Context, a *app) error {
	a.onlyRows(c.json)
	m := &c.Failover
	if err := a.equipFor(&m.Setup, true); err != nil {
		return err
	}
	describeFailovers(ctx, m.Cases, m.Seed, serviceProgram)
	var out []notRun
	cases := 0
	for _, x := range m.Cases {
		if x.Lacks() != "" {
			continue
		}
		if cases++; x.Err != nil {
			out = append(out, notRun{x.Line.Service, errors.Unwrap(x.Err)})
		}
	}
	if err := a.tellNotRun(out, cases); err != nil {
		return err
	}
	interrupted, err := a.makeMatrix(ctx, m, &m.Sweep, c.noProgress, c.dryRun)
	if errors.Is(err, errDryRun) {
		return nil
	}
	if err != nil {
		return err
	}
	rows, err := m.TableRows()
	if err != nil {
		return unreadable(err)
	}
	path, err := results.WriteSetTable(m.Setup.Results, m.Setup.Set, results.FailoverFile, rows)
	writeRows(a, rows)
	printFailovers(a.stdout, rows)
	c.tell(a, len(rows))
	return a.tellTable(path, err, interrupted)
}

// describeFailovers asks the program of each service to describe the service, once for all faults, and other
// clients to declare what they promise. The function where returns the program that has a service.
func describeFailovers(ctx context.Context, cases []*study.FailoverCase, seed uint64,
	where func(name string) ([]string, error)) {
	type answer struct {
		subject *study.ServiceSubject
		err     error
	}
	known := map[string]answer{}
	for _, x := range cases {
		words := x.Line.Words(x.Asked)
		name := strings.Join(append([]string{x.Line.Service, x.Line.Client}, words...), " ")
		says, is := known[name]
		if !is {
			program, err := where(x.Line.Service)
			if says.err = err; err == nil {
				p := &service.Program{Command: program, Name: x.Line.Service, Words: words,
					OtherClient: x.Line.Client}
				says.subject, _, says.err = declaredBy(ctx, p, nodes.Config{N: study.FailoverNodes}, seed)
			}
			known[name] = says
		}
		if x.Subject = says.subject; says.err != nil {
			x.Subject, x.Err = nil, fmt.Errorf("not run: %w", says.err)
		}
	}
}

// printFailovers prints a table for each fault: a line for each service and time to live.
func printFailovers(out io.Writer, rows []results.FailoverRow) {
	for _, of := range setpage.FailoverTables(rows) {
		fmt.Fprintln(out, of.Title)
		t := terminal.Table{Rows: of.Rows}
		for _, name := range setpage.FailoverHead {
			t.Head = append(t.Head, strings.ToUpper(name))
		}
		t.Print(out)
		fmt.Fprintln(out)
	}
	fmt.Fprint(out, `NEXT AFTER: from the beginning of the fault until the next client enters or, of elections,
another leads: the median of the runs, its interval of 95% (of fewer than six runs: the least and the most),
the least and the most. >6.00 s: not within that time. NEVER: runs in which nobody did until the fault was
healed or the run ended. LEFT OUT: runs that do not count, since they are inconclusive or the fault hit no
holder

`)
}

// tell prints the runs that are left out of the table, and sets the exit status.
func (m *failoverCall) tell(a *app, cells int) {
	nothing, out, left := 0, 0, 0
	for _, x := range m.Cases {
		if x.Subject == nil && x.Lacks() == "" {
			left++
		}
		for _, run := range x.LeftOut {
			out++
			fmt.Fprintf(a.trouble(), "left out  %s: %s (%s)\n", x.Text(), run.Why, run.Folder)
		}
		if len(x.Runs) == 0 && x.Lacks() == "" {
			nothing++
		}
	}
	for _, err := range m.Changed() {
		fmt.Fprintf(a.trouble(), "changed  %v\n", err)
	}
	if nothing > 0 || out > 0 {
		a.status = cmp.Or(a.status, check.Inconclusive.ExitCode())
	}
	fmt.Fprintf(a.stdout, "%s, %d of them without a run that counts, %d not run; %s.\n",
		english.Count(cells, "cell", "cells"), nothing-left, left,
		english.Count(out, "run is left out", "runs are left out"))
}
