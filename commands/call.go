package commands

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/pflag"

	"turnstile/internal/english"
	"turnstile/internal/format"
	"turnstile/internal/terminal"
	"turnstile/report/text"
	"turnstile/results"
)

// The exit statuses beside those of verdicts, which are check.Outcome's.
const (
	usage     = 64  // wrong usage, as in sysexits.h
	unreached = 69  // a server, a host or a run cannot be reached, as in sysexits.h
	unwritten = 74  // output could not be written, as in sysexits.h, whatever the verdict is
	bySignal  = 128 // and the number of the signal, as shells have it
)

// An app is one call of the program.
type app struct {
	program
	stdout, stderr io.Writer
	stdin          io.Reader
	args           []string // of the command
	status         int      // to exit with, if there is no error
	diskFull       bool     // something could not be stored
	manual         bool     // commands have their whole help

	document io.Writer // for the rows of a table, if they are asked for as JSON; nil: people read the table
}

// onlyRows has nothing printed for people from then on, if rows are asked for as JSON.
func (a *app) onlyRows(asked bool) {
	if asked {
		a.document, a.stdout = a.stdout, io.Discard
	}
}

// trouble is where is said what is wrong, or was not done: beside a document it is no part of that.
func (a *app) trouble() io.Writer {
	if a.document != nil {
		return a.stderr
	}
	return a.stdout
}

// writeRows prints the rows of a table as JSON, if that was asked for. Where it goes to notes a failure.
func writeRows[R any](a *app, rows []R) {
	if a.document != nil {
		terminal.PrintJSON(a.document, objectsOf(rows))
	}
}

// objectsOf returns the rows of a table as JSON has them.
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

// addDryRun adds the flag that has a command only say how many runs it would make.
func addDryRun(f *pflag.FlagSet, asked *bool) {
	f.BoolVar(asked, "dry-run", false,
		"print how many runs are to be made and about how long they take, and make none")
}

// A dryRun is what a command would do.
type dryRun struct {
	Runs    int     `json:"runs"`    // that are to be made
	Seconds float64 `json:"seconds"` // about how long that takes on a machine with nothing else to do
}

// tellDryRun prints how many runs a command would make, for people or as JSON.
func (a *app) tellDryRun(runs int, takes time.Duration) error {
	if a.document != nil {
		return terminal.PrintJSON(a.document, dryRun{runs, takes.Seconds()})
	}
	fmt.Fprintf(a.stdout, "%s to make, about %s; --dry-run makes none\n", english.Count(runs, "run", "runs"),
		format.Duration(takes.Round(time.Second)))
	return nil
}

// checkDisk notes whether an error that the command may go on after is that of a full disk, which decides its
// exit status.
func (a *app) checkDisk(err error) { a.diskFull = a.diskFull || results.IsFull(err) }

// A failure is an error that the user did not cause, with its exit status.
type failure struct {
	error
	status int
}

func (f failure) Unwrap() error { return f.error }

// note says on standard error which flags have values that the user did not write on the command line, since
// these may be meant for another command.
func (a *app) note(s settings) {
	if elsewhere := s.elsewhere(); elsewhere != "" {
		fmt.Fprintf(a.stderr, "orchestrator: %s\n", elsewhere)
	}
}
