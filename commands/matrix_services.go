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

// A serviceMatrix has the settings of a call of matrix with --services.
type serviceMatrix struct {
	study.ServiceMatrix
	asked bool
	only  []string // numbers of lines, or names of services; empty: all
}

// servicesSet is the default name of the set for a matrix of services.
const servicesSet = "service-matrix"

// checkServices picks the lines of the matrix. It returns an error for flags that do not go with --services.
func (c *matrixCall) checkServices(s settings) error {
	x := &c.services
	if err := notForServices(s, "--services"); err != nil {
		return err
	}
	if c.Runs < 0 {
		return fmt.Errorf("--runs: %d: write a number from 1", c.Runs)
	}
	x.Mixed = c.mixed
	x.Seed, x.Setup, x.Trials = c.Seed, c.Setup, max(1, c.Runs)
	if !s.given("set") {
		x.Setup.Set = servicesSet
	}
	if err := checkSet(&x.Setup); err != nil {
		return err
	}
	var known []string
	lines := study.ServiceLines()
	for _, l := range lines {
		known = append(known, fmt.Sprint(l.Number), l.Service)
	}
	for _, word := range x.only {
		if !slices.Contains(known, word) {
			return fmt.Errorf("--only: no line has the number or the service %q: write one of %s", word,
				strings.Join(distinct(known), ", "))
		}
	}
	for _, l := range lines {
		if len(x.only) == 0 || slices.ContainsFunc(x.only, l.Is) {
			x.Cases = append(x.Cases, &study.ServiceCase{Line: l})
		}
	}
	return nil
}

// notForServices returns an error for a flag that only the matrix of algorithms takes.
func notForServices(s settings, flag string) error {
	for _, name := range []string{"algo", "faults", "simulated", "hosts", "place", "control", "key"} {
		if s.rank(name) == byFlag {
			return fmt.Errorf("--%s is for the matrix of algorithms: leave it out, or leave out %s", name, flag)
		}
	}
	return nil
}

// matrixOfServices makes the runs of all lines, and prints their outcomes.
func (c *matrixCall) matrixOfServices(ctx context.Context, a *app) error {
	m := &c.services.ServiceMatrix
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
	c.services.tell(a)
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
func (m *serviceMatrix) tell(a *app) {
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

// A failoverMatrix has the settings of a call of matrix with --failover.
type failoverMatrix struct {
	study.Failover
	asked bool
	ttls  []time.Duration
}

// The defaults of a table of failovers.
const (
	failoverSet      = "failover" // name of the set
	failoverRuns     = 10         // runs of each case
	failoverParallel = 3          // runs that are made at a time; they mostly sleep
)

var failoverTTLs = []time.Duration{time.Second, 2 * time.Second, 5 * time.Second}

// checkFailover picks the lines of the matrix. It returns an error for flags that do not go with --failover.
func (c *matrixCall) checkFailover(s settings) error {
	x := &c.failover
	if err := notForServices(s, "--failover"); err != nil {
		return err
	}
	switch {
	case c.services.asked:
		return errors.New("--services and --failover make different tables: leave out one of the two")
	case c.Runs < 0:
		return fmt.Errorf("--runs: %d: write a number from 1", c.Runs)
	case x.Parallel < 1:
		return fmt.Errorf("--parallel: %d: write a number from 1", x.Parallel)
	}
	for i, ttl := range x.ttls {
		switch {
		case ttl < 100*time.Millisecond || ttl > time.Minute:
			return fmt.Errorf("--ttl: %v: write times from 100ms to 1m, as in 1s,2s,5s", ttl)
		case slices.Contains(x.ttls[:i], ttl):
			return fmt.Errorf("--ttl: %v is named twice: leave out one of the two", ttl)
		}
	}
	x.Mixed = c.mixed
	x.Seed, x.Setup, x.Trials = c.Seed, c.Setup, cmp.Or(c.Runs, failoverRuns)
	if !s.given("set") {
		x.Setup.Set = failoverSet
	}
	if err := checkSet(&x.Setup); err != nil {
		return err
	}
	lines := study.FailoverLines()
	var known []string
	for _, l := range lines {
		known = append(known, l.Service)
	}
	for _, word := range c.services.only {
		if !slices.Contains(known, word) {
			return fmt.Errorf("--only: there are no failovers of %q: write one of %s", word,
				strings.Join(distinct(known), ", "))
		}
	}
	for _, l := range lines {
		if len(c.services.only) == 0 || slices.Contains(c.services.only, l.Service) {
			x.Cases = append(x.Cases, l.Cases(x.ttls)...)
		}
	}
	return nil
}

// matrixOfFailovers makes the runs of all cases, and prints the times until the next entry or leader.
func (c *matrixCall) matrixOfFailovers(ctx context.Context, a *app) error {
	m := &c.failover.Failover
	if err := a.equipFor(&m.Setup, true); err != nil {
		return err
	}
	describeFailovers(ctx, m.Cases, serviceProgram)
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
	c.failover.tell(a, len(rows))
	return a.tellTable(path, err, interrupted)
}

// describeFailovers asks the program of each service to describe the service, once for all faults. The
// function where returns the program that has a service.
func describeFailovers(ctx context.Context, cases []*study.FailoverCase,
	where func(name string) ([]string, error)) {
	type answer struct {
		subject *study.ServiceSubject
		err     error
	}
	known := map[string]answer{}
	for _, x := range cases {
		words := x.Line.Words(x.Asked)
		name := strings.Join(append([]string{x.Line.Service}, words...), " ")
		says, is := known[name]
		if !is {
			program, err := where(x.Line.Service)
			if says.err = err; err == nil {
				says.subject, _, says.err = subjectOf(ctx, &service.Program{Command: program, Name: x.Line.Service,
					Words: words}, nodes.Config{N: study.FailoverNodes})
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
func (m *failoverMatrix) tell(a *app, cells int) {
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
