package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/pflag"

	"turnstile/algorithms/catalog"
	"turnstile/internal/english"
	"turnstile/internal/format"
	"turnstile/internal/terminal"
	"turnstile/report/text"
	"turnstile/results"
)

// The exit statuses besides those of check.Outcome.
const (
	usage     = 64  // wrong usage, as in sysexits.h
	unreached = 69  // a server, a host or a run cannot be reached, as in sysexits.h
	unwritten = 74  // output could not be written, as in sysexits.h, whatever the verdict
	bySignal  = 128 // 128 plus the number of the signal, as in shells
)

// A program is the set of algorithms that this program knows, and how it starts a node.
type program struct {
	known catalog.Table
	node  []string // the program of a node, with its arguments; nil: the file named node beside this program
}

// An app is one call of the program.
type app struct {
	program
	stdout, stderr io.Writer
	stdin          io.Reader
	args           []string // arguments of the command
	status         int      // exit status if there is no error
	unwritten      bool     // something could not be stored
	manual         bool     // commands print their whole help

	document io.Writer // standard output, if --json asks for rows of a table; nil: no JSON is asked for
}

// onlyRows discards all later output for people, if --json asks for rows.
func (a *app) onlyRows(asked bool) {
	if asked {
		a.document, a.stdout = a.stdout, io.Discard
	}
}

// trouble returns the writer for failures: standard error if a JSON document is asked for, which they would
// spoil; otherwise standard output.
func (a *app) trouble() io.Writer {
	if a.document != nil {
		return a.stderr
	}
	return a.stdout
}

// writeRows prints the rows of a table as JSON, if --json asks for it. An error of writing is kept by the
// output.
func writeRows[R any](a *app, rows []R) {
	if a.document != nil {
		terminal.PrintJSON(a.document, objectsOf(rows))
	}
}

// objectsOf returns the rows of a table as JSON objects.
func objectsOf[R any](rows []R) []text.Object {
	all := []text.Object{}
	for _, r := range rows {
		all = append(all, text.ObjectOf(r))
	}
	return all
}

// addJSON adds the flag of a command that prints a table.
func addJSON(f *pflag.FlagSet, asked *bool) {
	f.BoolVar(asked, "json", false, "print one JSON document instead")
}

// addDryRun adds the flag that makes a command only print how many runs it would make.
func addDryRun(f *pflag.FlagSet, asked *bool) {
	f.BoolVar(asked, "dry-run", false,
		"print how many runs would be made, of processes also about how long they take, and make none")
}

// A dryRun is what --dry-run --json prints.
type dryRun struct {
	Runs    int     `json:"runs"`              // runs that are still to be made
	Seconds float64 `json:"seconds,omitempty"` // about how long these runs take on an idle machine
}

// tellDryRun prints how many runs a command would make and, unless takes is 0, about how long they take, for
// people or as JSON.
func (a *app) tellDryRun(runs int, takes time.Duration) error {
	if a.document != nil {
		return terminal.PrintJSON(a.document, dryRun{runs, takes.Seconds()})
	}
	about := ""
	if takes > 0 {
		about = ", about " + format.Duration(takes.Round(time.Second))
	}
	fmt.Fprintf(a.stdout, "%s to make%s; --dry-run makes none\n", english.Count(runs, "run", "runs"), about)
	return nil
}

// checkDisk notes an error of writing results, which decides the exit status even if the command goes on.
func (a *app) checkDisk(err error) { a.unwritten = a.unwritten || results.Unwritable(err) }

// unstored returns the error that has ended a study early, unless the user has interrupted it.
func unstored(ended error) error {
	if ended == nil || errors.Is(ended, context.Canceled) {
		return nil
	}
	return failure{ended, unwritten}
}

// A failure is an error that the user did not cause, with its exit status.
type failure struct {
	error
	status int
}

func (f failure) Unwrap() error { return f.error }

// note prints to standard error which flags a file or variable has set, since these may be meant for another
// command.
func (a *app) note(s settings) {
	if elsewhere := s.elsewhere(); elsewhere != "" {
		fmt.Fprintf(a.stderr, "orchestrator: %s\n", elsewhere)
	}
}
