package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"turnstile/bench/experiment"
	"turnstile/bench/service"
	"turnstile/internal/english"
	"turnstile/internal/figure"
	"turnstile/internal/format"
	"turnstile/internal/terminal"
	"turnstile/judge/check"
	"turnstile/nodes"
	"turnstile/results"
)

// A serviceMatrix is what a call of matrix with --services makes.
type serviceMatrix struct {
	experiment.ServiceMatrix
	asked bool
	only  []string // numbers of lines, or services; none: all
}

// servicesSet is the name of its set, unless the user gives one.
const servicesSet = "service-matrix"

// checkServices says which flag is not for services, and picks the lines.
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
	if err := checkSet(&x.Setup, &c.mixed); err != nil {
		return err
	}
	var known []string
	lines := experiment.ServiceLines()
	for _, l := range lines {
		known = append(known, fmt.Sprint(l.Number), l.Service)
	}
	for _, word := range x.only {
		if !slices.Contains(known, word) {
			return fmt.Errorf("--only: no line has the number or the service %q: there are %s", word,
				strings.Join(distinct(known), ", "))
		}
	}
	for _, l := range lines {
		if len(x.only) == 0 || slices.ContainsFunc(x.only, l.Is) {
			x.Cases = append(x.Cases, &experiment.ServiceCase{Line: l})
		}
	}
	return nil
}

// notForServices says which flag is for the matrix of algorithms alone.
func notForServices(s settings, flag string) error {
	for _, name := range []string{"algo", "faults", "simulated", "hosts", "place", "control", "key"} {
		if s.rank(name) == byFlag {
			return fmt.Errorf("--%s is for the matrix of algorithms: leave it out, or leave out %s", name, flag)
		}
	}
	return nil
}

// distinct returns the words in their order, each once.
func distinct(words []string) (all []string) {
	for _, word := range words {
		if !slices.Contains(all, word) {
			all = append(all, word)
		}
	}
	return all
}

// matrixOfServices makes the runs of all lines, and prints what they show.
func (a *app) matrixOfServices(ctx context.Context, c *matrixCall) error {
	m := &c.services.ServiceMatrix
	if err := equipFor(&m.Setup, true); err != nil {
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
	m.Command = "orchestrator matrix --services"
	interrupted, err := a.makeMatrix(ctx, m, &m.Sweep, c.noProgress)
	if err != nil {
		return err
	}
	var rows []results.MatrixRow
	for _, x := range m.Cases {
		rows = append(rows, x.TableRow())
	}
	path, err := results.WriteSetTable(m.Setup.Results, m.Setup.Set, results.MatrixFile, rows)
	printServices(a.stdout, m.Cases)
	a.tellServices(m.Cases)
	return a.tellTable(path, err, interrupted)
}

// printServices prints a table of all cases, and below it what happens in each and what the documentation
// says.
func printServices(out io.Writer, cases []*experiment.ServiceCase) {
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
may and strict: of all entries. fenced: of those that a resource lets in that refuses numbers lower than one
it has seen (of leaders: of one term). L recovers, P starves some, B blocks all, X two are inside or lead
together, ? shows nothing, - has no fences
told: in how many entries the client was told that it had lost the lock. "0, 201 not": in none, and during 201
another client entered before it was told
nobody for: the longest time without an entry or, of leaders, without one; of several runs the shortest and
the longest such time. refused: tries, and those of them while nobody was inside. bytes: between clients and
servers, for an entry. X 2 of 3: so many of the runs show it; told, refused and bytes are those of one of them

`)
	for _, c := range cases {
		l := c.Line
		fmt.Fprintf(out, "%d %s: %s\n", l.Number, l.Text(), l.Why)
		fmt.Fprintf(out, "   documented: %s %s\n", l.Says, l.Link)
	}
	fmt.Fprintln(out)
}

// caseCells returns the cells of a case that its runs give: of numbers, those of the run that tells most.
func caseCells(c *experiment.ServiceCase) []any {
	if c.Err != nil {
		return []any{c.Err}
	}
	told, refused, bytes := "", "", ""
	of := func(f figure.Figure) string { return format.Plain(f, 0) }
	if r := &c.Tells().Row; r.EntriesTold.Known() {
		told = of(r.EntriesTold)
		if n, _ := r.OverlappedUntold.Value(); n > 0 {
			told += fmt.Sprintf(", %s not", of(r.OverlappedUntold))
		}
		if n, _ := r.RefusedTries.Value(); n > 0 {
			refused = of(r.RefusedTries) + ", " + of(r.RefusedFree) + " free"
		}
		bytes = of(r.ServerBytesPerEntry)
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

// tellServices says which cases are not as expected, and sets the exit status.
func (a *app) tellServices(cases []*experiment.ServiceCase) {
	differ, nothing, missed, left := 0, 0, 0, 0
	for _, c := range cases {
		switch {
		case c.Err != nil:
			left++
			a.status = cmp.Or(a.status, check.Inconclusive.ExitCode())
		case c.Differs():
			differ++
			a.status = check.Violated.ExitCode()
			fmt.Fprintf(a.stdout, "DIFFERS  %d %s: %s (%s)\n", c.Line.Number, c.Line.Text(), c.Tells().Says,
				c.Tells().Folder)
		case c.ShowsNothing():
			says := "shows nothing"
			if nothing++; c.NotHit() {
				nothing, missed, says = nothing-1, missed+1, "not hit"
			}
			a.status = cmp.Or(a.status, check.Inconclusive.ExitCode())
			fmt.Fprintf(a.stdout, "%s  %d %s: %s (%s)\n", says, c.Line.Number, c.Line.Text(), c.Tells().Says,
				c.Tells().Folder)
		}
	}
	fmt.Fprintf(a.stdout, "%s: %d differ from what is expected, %d show nothing, %d not hit, %d not run.\n",
		english.Count(len(cases), "line", "lines"), differ, nothing, missed, left)
}
