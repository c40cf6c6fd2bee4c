package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"turnstile/bench/study"
	"turnstile/internal/english"
	"turnstile/internal/terminal"
	"turnstile/judge/check"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/foreign"
	"turnstile/results"
)

const tryHelp = `Try a program in any language: a lock under five loads, an elector under four, with 2 to 9
nodes, and both under all faults, on real processes. One page says what it keeps of what it declares, what it
does not keep, with the shortest command for each broken promise, and what could not be judged. CMD is the
command that starts the program (see docs/foreign.md). With --service and --client, the program is a client
of that service, and the faults are those of its clients and servers.

It ends after ten minutes at the latest.

Exit status: 0 all that it declares was kept, 1 some was not, 2 some could not be judged, or interrupted,
64 bad usage.`

const tryExample = `  orchestrator try 'python3 examples/python/ra.py'
  orchestrator try --only think,dead-holder 'python3 mine.py'
  orchestrator try --service redis --client '/usr/bin/python3 examples/clients/mylock.py' --with px=600ms`

// A tryCall is one call of try.
type tryCall struct {
	study.Try
	of       benchCall // finds out what the program is, and what it declares
	only     []string
	settings settings
}

func tryCommand(k known) Command {
	c := &tryCall{of: benchCall{runCommand: anyRuns(k)}}
	c.of.setDefaults()
	c.Known, c.Seed, c.Setup.Set, c.of.Config.N = k.Table, 1, "try", study.FailoverNodes
	return Command{
		Name:    "try [CMD]",
		Short:   "Try a program in any language under many loads and all faults",
		Help:    tryHelp,
		Example: tryExample,
		Options: c.addTo,
		Args:    oneProgram,
		Check:   c.settings.keep,
		Run:     c.run,
	}
}

// oneProgram lets a command have one argument, the command of a program.
func oneProgram(_ *cobra.Command, args []string) error {
	if len(args) > 1 {
		return fmt.Errorf("try takes one command, in quotes: write try %s",
			terminal.ShellQuoted(strings.Join(args, " ")))
	}
	return nil
}

func (c *tryCall) addTo(cmd *cobra.Command) {
	f := cmd.Flags()
	c.of.foreign.addDeclared(f)
	c.of.service.add(f, &c.Setup)
	f.StringSliceVar(&c.only, "only", nil, "only these loads and faults, by `names`, with commas between")
	f.Uint64Var(&c.Seed, "seed", c.Seed, "of all random draws")
	addSetup(f, &c.Setup, "the table and the runs")
	addJSON(f, &c.of.json)
	addNoProgress(f, &c.of.noProgress)
	common(f, "with", "only", "seed", "set", "json")
	forOneCall(cmd, "only", "seed", "json")
}

// resolve finds out what the program declares, and lists the cases.
func (c *tryCall) resolve(args []string) error {
	b := &c.of
	b.setup = c.Setup
	if len(args) > 0 && b.service.client != "" {
		return errors.New("CMD and --client both name a program: leave out one of the two")
	}
	switch used, err := b.useService(c.settings); {
	case err != nil:
		return c.settings.blame(err, foreign.ServiceOption)
	case used && b.service.client == "":
		return errors.New("--service names servers, and no program: add --client, as in --client 'python3 " +
			"mylock.py' (matrix failures runs the service's own clients)")
	case used:
	case len(args) == 0 || strings.TrimSpace(args[0]) == "":
		return errors.New("try needs the command of a program, as in try 'python3 ra.py' (see docs/foreign.md)")
	default:
		d, err := b.foreign.promised(b, args[0], foreign.Service{})
		if err != nil {
			return err
		}
		b.Config = b.foreign.passTo(foreign.Config(b.Config, args[0], d))
		if b.Spec, err = foreign.Algorithm(b.Config); err != nil {
			return err
		}
	}
	c.Program = &study.ServiceSubject{Spec: b.Spec, Config: b.Config, Servers: b.Servers,
		Granted: b.service.granted}
	return c.Resolve(c.only)
}

func (c *tryCall) run(ctx context.Context, a *app) error {
	if err := cmp.Or(checkSet(&c.Setup), c.resolve(a.args)); err != nil {
		return err
	}
	a.onlyRows(c.of.json)
	if err := a.equipFor(&c.Setup, true); err != nil {
		return err
	}
	limited, stop := context.WithTimeout(ctx, study.TryLimit)
	defer stop()
	bar := a.follow(&c.Experiment, c.of.noProgress, c.Takes(), "run")
	ended := c.Make(limited)
	bar.clear()
	if limited.Err() == nil && ended != nil {
		return unstored(ended)
	}
	made := slices.DeleteFunc(slices.Clone(c.Cases), func(x *study.TryCase) bool { return len(x.Runs) == 0 })
	var rows []results.MatrixRow
	for _, x := range made {
		rows = append(rows, x.Row(true))
	}
	path, err := results.WriteSetTable(c.Setup.Results, c.Setup.Set, results.MatrixFile, rows)
	writeRows(a, rows)
	if len(made) > 0 {
		c.print(a.stdout, made)
	}
	c.tell(a, made)
	if err != nil {
		return failure{err, unwritten}
	}
	fmt.Fprintf(a.stdout, "The table is %s.\n", path)
	switch left := english.Count(len(c.Cases)-len(made), "case has", "cases have"); {
	case ctx.Err() != nil:
		fmt.Fprintf(a.trouble(), "interrupted: %s no run\n", left)
		a.status = cmp.Or(a.status, check.Inconclusive.ExitCode())
	case limited.Err() != nil:
		fmt.Fprintf(a.trouble(), "ten minutes are over: %s no run\n", left)
		a.status = cmp.Or(a.status, check.Inconclusive.ExitCode())
	}
	return nil
}

// print prints what the program declares, and the outcomes: of loads by the number of nodes, and of faults by
// their letters.
func (c *tryCall) print(out io.Writer, cases []*study.TryCase) {
	of, s := kindOf(c.Program.Spec).matrix, c.Program.Spec
	fmt.Fprintf(out, "%s: its safety rests on %v, its progress on %v\n\n", s.Source, s.Safe, c.Progress())
	loads := terminal.Table{Head: []string{"nodes"}}
	for _, n := range study.TriedSizes {
		loads.Head = append(loads.Head, fmt.Sprint(n))
	}
	faults := map[string][]string{}
	for _, x := range cases {
		letter := x.Shown().String()
		switch {
		case x.Broken():
			letter = strings.TrimPrefix(letter, "?") + "!"
		case x.Doubt:
			letter = "?"
		case x.Runs[0].Missed() != "":
			letter = algorithm.Unhit.String()
		case x.Outside:
			letter = "(" + letter + ")"
		}
		if !x.Calm {
			faults[letter] = append(faults[letter], x.Text())
			continue
		}
		if last := len(loads.Rows) - 1; last < 0 || loads.Rows[last][0] != x.Name {
			loads.Rows = append(loads.Rows, append([]string{x.Name}, make([]string, len(study.TriedSizes))...))
		}
		loads.Rows[len(loads.Rows)-1][1+slices.Index(study.TriedSizes, x.N)] = letter
	}
	if len(loads.Rows) > 0 {
		loads.Print(out)
		fmt.Fprintln(out)
	}
	table := terminal.Table{}
	for _, letter := range slices.Sorted(maps.Keys(faults)) {
		table.Add(letter, strings.Join(faults[letter], "; "))
	}
	if len(table.Rows) > 0 {
		table.Print(out)
		fmt.Fprintln(out)
	}
	fmt.Fprintf(out, "%s, ? inconclusive, ! wrong\n() faults under which the program promises nothing\n",
		of.legend)
	if c.Untaken != nil {
		fmt.Fprintf(out, "not of this service: %s\n", strings.Join(c.Untaken, "; "))
	}
	if c.Untimed != nil {
		fmt.Fprintf(out, "no time for: %s\n", strings.Join(c.Untimed, "; "))
	}
	fmt.Fprintln(out)
}

// shortest returns the command that makes the run of a case. What the program declares by itself is left out.
func (c *tryCall) shortest(x *study.TryCase) string {
	o := x.Options(c.Seed)
	o.Duration = x.Runs[0].Options.Duration // runs that show nothing are made again, and longer
	o.Config.Options = maps.Clone(o.Config.Options)
	if c.of.foreign.kinds == "" {
		delete(o.Config.Options, foreign.KindsOption)
	}
	if c.of.foreign.promises == "" {
		delete(o.Config.Options, foreign.PromisesOption)
	}
	command := commandOf(x.Spec, &o, true, o.Plan)
	if !x.Calm && o.Plan == "" { // its name is the fault
		command += " --fault " + terminal.ShellQuoted(x.Name+", at: "+o.Faults[0].At.String())
	}
	return command
}

// tell prints the first failure of each check with its command, and what could not be judged. It sets the
// exit status.
func (c *tryCall) tell(a *app, cases []*study.TryCase) {
	var t expectations
	first, more := map[string]*study.TryCase{}, map[string]int{} // by the check that failed
	for _, x := range cases {
		r := x.Runs[0]
		switch why := x.Unjudged(); {
		case x.Broken():
			t.differ++
			failed := r.ViolatedInside().Check
			if more[failed]++; first[failed] == nil {
				first[failed] = x
			}
		case why != "" && !x.Outside:
			t.unknown++
			a.status = cmp.Or(a.status, check.Inconclusive.ExitCode())
			fmt.Fprintf(a.stdout, "NOT JUDGED  %s: %s\n", x.Text(), why)
		case r.Missed() != "":
			t.missed++
			fmt.Fprintf(a.stdout, "untested  %s: %s\n", x.Text(), r.Missed())
		case x.Outside:
			t.free++
		default:
			t.met++
		}
	}
	if t.met == 0 { // so nothing was kept
		a.status = check.Inconclusive.ExitCode()
	}
	for _, x := range cases {
		if failed := x.Runs[0].ViolatedInside(); failed != nil && first[failed.Check] == x {
			a.status = check.Violated.ExitCode()
			a.printWrong(&c.Experiment, fmt.Sprintf("%s, in %s, such as %s", failed.Check,
				english.Count(more[failed.Check], "case", "cases"), x.Text()), c.shortest(x), x.Runs[0])
		}
	}
	fmt.Fprintf(a.stdout, "%s: %v.\n", english.Count(len(cases), "case", "cases"), t)
}
