package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"turnstile/bench"
	"turnstile/internal/terminal"
	"turnstile/judge/check"
	"turnstile/nodes/catalog"
)

// A listFlag is a flag of runs that may have several values in a sweep.
type listFlag struct {
	of     *pflag.Flag // of a run
	values []string
}

func (l *listFlag) String() string     { return strings.Join(l.values, " ") }
func (l *listFlag) Type() string       { return "list" }
func (l *listFlag) GetSlice() []string { return l.values }

// Set adds what a use of the flag says: one value, or several with commas between if it is none as a whole.
func (l *listFlag) Set(text string) error { return l.Append(text) }

// Append implements pflag.SliceValue.
func (l *listFlag) Append(text string) error {
	values := []string{text}
	if strings.Contains(text, ",") && l.splits(text) {
		values = strings.Split(text, ",")
	}
	for _, value := range values {
		switch value = strings.TrimSpace(value); {
		case value == "":
			return errors.New("a value of the list is empty")
		case slices.Contains(l.values, value):
			return fmt.Errorf("%s is there twice", value)
		}
		l.values = append(l.values, value)
	}
	return nil
}

// Replace implements pflag.SliceValue.
func (l *listFlag) Replace(values []string) error {
	l.values = nil
	for _, value := range values {
		if err := l.Append(value); err != nil {
			return err
		}
	}
	return nil
}

// namesOnly are the flags whose values are single words, so that commas divide them.
var namesOnly = []string{"algo", "service", "load", "arrivals", "plan"}

// splits reports whether commas divide the values of a text.
func (l *listFlag) splits(text string) bool {
	switch l.of.Value.Type() {
	case "string", "func":
		return slices.Contains(namesOnly, l.of.Name) || isOption(l.of) && !strings.Contains(text, ":")
	case "bool", "int", "uint64", "float64", "duration":
		return true
	}
	fresh := *l.of
	return fresh.Value.Set(text) != nil
}

// isOption reports whether a flag is an option of an algorithm.
func isOption(f *pflag.Flag) bool {
	return slices.Contains(f.Annotations[groupKey], optionFlags)
}

// notOfSweeps are the flags of runs that a sweep has itself, or cannot have.
var notOfSweeps = []string{"trials", "seed", "set", "results", "json", "no-progress", "node-program",
	"scheme", "explain", "replay", "shrink", "require", "help"}

// addLists adds the flags of runs, as lists.
func (c *sweepCall) addLists(cmd *cobra.Command) {
	c.lists = map[string]*listFlag{}
	of := pflag.NewFlagSet("", pflag.ContinueOnError)
	(&benchCall{runCommand: simulateRuns}).addFlags(of)
	of.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || slices.Contains(notOfSweeps, f.Name) {
			return
		}
		l := &listFlag{of: f}
		c.lists[f.Name] = l
		added := cmd.Flags().VarPF(l, f.Name, f.Shorthand, f.Usage)
		added.Annotations = maps.Clone(f.Annotations)
		added.NoOptDefVal = f.NoOptDefVal
		forOneCall(cmd, f.Name)
	})
}

// listNames returns the names of the flags that may be lists.
func (c *sweepCall) listNames() []string { return slices.Sorted(maps.Keys(c.lists)) }

// own sets a flag of the sweep itself from its file, unless the command line has it.
func (c *sweepCall) own(flags *pflag.FlagSet, flag string, value *yaml.Node, s settings) (
	is bool, err error) {
	if !slices.Contains([]string{"trials", "seed", "set", "simulated", "wait-bound"}, flag) {
		return false, nil
	}
	if !isValue(value) {
		return true, fmt.Errorf("line %d: %s takes one value", value.Line, flag)
	}
	f := flags.Lookup(flag)
	counts := f.Value.String()
	where := fmt.Sprintf("line %d: %s", value.Line, flag)
	if err := f.Value.Set(value.Value); err != nil {
		return true, valueError(where, f, value.Value, err)
	}
	switch {
	case flag == "trials" && c.Trials < 1:
		return true, fmt.Errorf("%s: %d: write a number from 1", where, c.Trials)
	case flag == "wait-bound" && c.WaitBound <= 0:
		return true, fmt.Errorf("%s: %v: write a time such as 100ms", where, c.WaitBound)
	case flag == "set":
		err = checkSet(&c.Setup, &c.Mixed)
	}
	c.trialsInFile = c.trialsInFile || flag == "trials"
	if err == nil && s.given(flag) { // the command line counts
		err = f.Value.Set(counts)
	}
	return true, err
}

// A valueProblem is the error of a value that no configuration can have.
type valueProblem struct{ error }

// resolveCell returns the job of a configuration, as bench, elect or simulate would run it.
func resolveCell(cell map[string]string, of *sweepCall) (*bench.Job, error) {
	c, command, err := callFor(cell["algo"], of.simulated)
	if err != nil {
		return nil, err
	}
	flags := pflag.NewFlagSet(command, pflag.ContinueOnError)
	if c.Simulated {
		c.addRunFlags(flags)
	} else {
		c.addFlags(flags)
	}
	for flag, value := range cell {
		if flag == "algo" {
			flag = c.naming
		}
		if flag == "rate" && of.find {
			value = "1" // each probe has its own
		}
		f := flags.Lookup(flag)
		if f == nil {
			return nil, fmt.Errorf("%s does not take --%s", command, flag)
		}
		if err := flags.Set(flag, value); err != nil {
			return nil, valueProblem{valueError("--"+flag, f, value, errors.Unwrap(err))}
		}
	}
	if err := flags.Set("seed", fmt.Sprint(of.Seed)); err != nil {
		return nil, err
	}
	s := settings{}
	flags.Visit(func(f *pflag.Flag) { s[f.Name] = source{rank: byFlag} })
	if err := s.checkZeros(flags); err != nil {
		return nil, err
	}
	if err := c.resolve(s); err != nil {
		return nil, err
	}
	j := c.Job
	j.Trials = 1
	return &j, nil
}

// callFor returns a call that runs an algorithm, and the command that it is one of.
func callFor(algorithm string, simulated bool) (*benchCall, string, error) {
	row, err := catalog.Find(cmp.Or(algorithm, simulateRuns.algorithm))
	if err != nil {
		return nil, "", valueProblem{fmt.Errorf("--algo: %w", err)}
	}
	if simulated {
		c := &benchCall{runCommand: simulateRuns}
		c.Simulated, c.Latency = true, simulatedLatency
		return c, "simulate", nil
	}
	command := check.ProblemOf(row).Command
	return &benchCall{runCommand: *runCommands[command]}, command, nil
}

// jobText tells jobs apart.
func jobText(j *bench.Job) string { return fmt.Sprintf("%+v", j.Options) }

// sweepCommandOf returns the command that makes the sweep again, as it is put on record: without the place of
// the program on this machine, and without credentials.
func sweepCommandOf(c *sweepCall, args []string) string {
	words := []string{bench.Program, "sweep"}
	for _, arg := range args {
		words = append(words, terminal.ShellQuoted(arg))
	}
	if c.simulated {
		words = append(words, "--simulated")
	}
	words = append(words, "--trials", fmt.Sprint(c.Trials), "--seed", fmt.Sprint(c.Seed), "--set",
		terminal.ShellQuoted(c.Setup.Set))
	if c.find {
		words = append(words, "--wait-bound", c.WaitBound.String())
	}
	for _, name := range c.listNames() {
		for _, value := range c.lists[name].values {
			if name == "nats" {
				value = bench.WithoutCredential(value)
			}
			words = append(words, "--"+name+"="+terminal.ShellQuoted(value))
		}
	}
	return strings.Join(words, " ")
}
