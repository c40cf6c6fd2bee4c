package commands

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"turnstile/bench"
	"turnstile/bench/plans"
	"turnstile/bench/runs"
	"turnstile/bench/study"
	"turnstile/internal/terminal"
	"turnstile/judge/check"
	"turnstile/results"
)

// addSetup adds the flags for the results of many runs, and for the program of their nodes. holds names the
// contents of the set in the usage of --set.
func addSetup(f *pflag.FlagSet, s *runs.Setup, holds string) {
	f.StringVar(&s.Results, "results", "results", "`folder` of all result sets")
	if s.Set != "" {
		f.StringVar(&s.Set, "set", s.Set, "`name` of the result set that "+holds+" belong to")
	}
	f.StringVar(&s.Node, "node-program", "",
		"`path` of the program of a node (default node, beside this program)")
}

// checkSet returns an error if no runs may be stored in the set of a setup: its name is bad, or it was
// published.
func checkSet(s *runs.Setup) error {
	if err := results.CheckNames(s.Results, s.Set); err != nil {
		return err
	}
	return results.CheckUnpublished(s.Results, s.Set)
}

// addMixed adds the flag that lets a command continue another version's set. when is the start of its usage.
func addMixed(f *pflag.FlagSet, mixed *bool, when string) {
	f.BoolVar(mixed, "mixed", false, when+"go on with a set that another commit of Turnstile began")
}

// algorithmsNamed returns the algorithms that find returns for names; without names, it returns all.
func algorithmsNamed(names []string, find func(string) (*spec, error), all []*spec) (algos []*spec,
	err error) {
	for _, name := range names {
		algo, err := find(strings.TrimSpace(name))
		if err != nil {
			return nil, err
		}
		if !slices.Contains(algos, algo) {
			algos = append(algos, algo)
		}
	}
	if algos == nil {
		return all, nil
	}
	return algos, nil
}

// follow returns a bar that shows the progress of an experiment. name is the word for one of its runs.
func (a *app) follow(e *study.Experiment, off bool, takes time.Duration, name string) *bar {
	bar, wrong := a.newBar(off, takes), 0
	e.Progress = func(done, all int, r *study.Result) {
		if r.Wrong != "" {
			wrong++
		}
		if bar.due() || !r.Simulated {
			bar.show(float64(done)/float64(all), fmt.Sprintf("%s %d of %d, %d wrong", name, done, all, wrong))
		}
	}
	return bar
}

// printWrong prints what is wrong with a run, the command that repeats it, and the command that shows it.
func (a *app) printWrong(e *study.Experiment, what, repeat string, r *study.Result) {
	fmt.Fprintf(a.trouble(), "WRONG  %s: %s\n", what, r.Wrong)
	if repeat != "" {
		fmt.Fprintf(a.trouble(), "       repeat it: %s\n", repeat)
	}
	if r.Folder != "" {
		fmt.Fprintf(a.trouble(), "       see the run: %s\n",
			terminal.CallOn("show", filepath.Join(e.Setup.Results, r.Folder)))
	}
}

// notRecorded are the flags that a recorded command leaves out: they change no run, or are about this
// machine.
var notRecorded = []string{"results", "node-program", "json", "no-progress", "dry-run", "mixed", "control",
	"key",
	"config", "set", helpAll, "help"}

// recorded returns the command that makes the same runs again: its words, and the flags that the user set
// anywhere.
func (s settings) recorded(flags *pflag.FlagSet, words ...string) string {
	flags.VisitAll(func(f *pflag.Flag) {
		if !s.given(f.Name) || slices.Contains(notRecorded, f.Name) {
			return
		}
		value := f.Value.String()
		of := f.Value
		if o, is := of.(*once); is {
			of = o.Value
		}
		if list, is := of.(pflag.SliceValue); is {
			value = strings.Join(list.GetSlice(), ",")
		}
		if value == f.NoOptDefVal { // a flag that is on
			words = append(words, "--"+f.Name)
			return
		}
		words = append(words, "--"+f.Name+"="+terminal.ShellQuoted(value))
	})
	return strings.Join(words, " ")
}

// unreadable adds an exit status to the error of a set that cannot be read.
func unreadable(err error) error {
	if errors.As(err, new(study.UnreadableError)) {
		return failure{err, check.Inconclusive.ExitCode()}
	}
	return err
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

// printShrunk shrinks the plan of a simulated run that failed, and prints it as a file.
func (a *app) printShrunk(ctx context.Context, j *bench.Job) {
	_, text, err := plans.ShrunkFile(ctx, j, terminal.Invoked())
	switch {
	case err != nil:
		fmt.Fprintf(a.stderr, "orchestrator: shrinking the plan: %v\n", err)
	case text != "":
		fmt.Fprintf(a.stdout, "\n%s\n", text)
	}
}
