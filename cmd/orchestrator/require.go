package main

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"turnstile/bench"
	"turnstile/bench/compare"
	"turnstile/internal/terminal"
	"turnstile/judge/check"
	"turnstile/results"
)

// What is required of the figures of every trial of a run.
type required struct {
	texts []string
	all   []compare.Requirement
}

// add adds the flag.
func (r *required) add(f *pflag.FlagSet) {
	f.StringArrayVar(&r.texts, "require", nil, "a `condition` on a figure of every trial, such as "+
		"'wait_us_p99<50ms'; if one does not hold, the exit status is 1; several times for several")
}

// parse reads what the flag was given.
func (r *required) parse() error {
	for _, text := range r.texts {
		one, err := compare.ParseRequirement(text)
		if err != nil {
			return fmt.Errorf("--require: %w", err)
		}
		r.all = append(r.all, one)
	}
	return nil
}

// judgeRequired says whether the trials of a run are as they are required to be. What is not, makes the run
// fail; what is, makes none pass that did not without.
func (a *app) judgeRequired(c *benchCall, r *bench.Run) {
	out := a.stdout
	if c.json {
		out = a.stderr
	}
	colors := terminal.PaletteFor(out)
	var rows []results.Row
	for _, t := range r.Trials {
		rows = append(rows, t.Row)
	}
	for _, one := range c.required.all {
		outcome, says := one.Judge(rows)
		title, color := "MET", terminal.Green
		switch outcome {
		case check.Violated:
			title, color = "NOT MET", terminal.Red
			a.status = outcome.ExitCode()
		case check.Inconclusive:
			title, color = "NOT KNOWN", terminal.Yellow
			if a.status == check.Valid.ExitCode() {
				a.status = outcome.ExitCode()
			}
		}
		fmt.Fprintf(out, "%s  %s\n", colors.Paint(color, title), strings.TrimSpace(says))
	}
}
