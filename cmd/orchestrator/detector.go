package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"turnstile/bench/option"
	"turnstile/internal/terminal"
	"turnstile/nodes"
	"turnstile/nodes/detector"
	"turnstile/nodes/row"
)

// writeDetectors prints a line per failure detector.
func writeDetectors(w io.Writer) error {
	t := terminal.Table{Head: []string{"DETECTOR", "SUSPECTS"}}
	for _, row := range detector.Table {
		t.Add(row.Name, row.Summary)
	}
	return errors.Join(t.Print(w), blankLine(w))
}

// detectorNamed returns the failure detector of that name; nil if there is none.
func detectorNamed(name string) *spec {
	row, err := row.Find("detector", detector.Table, name)
	if err != nil {
		return nil
	}
	return row
}

// writeDetector describes one failure detector.
func writeDetector(w io.Writer, row *spec) {
	line := func(name, text string) { writeField(w, name, text) }
	line("name", row.Name)
	line("aliases", strings.Join(row.Aliases, ", "))
	line("is", "a failure detector, which --detector puts beside an algorithm")
	line("summary", row.Summary)
	line("source", row.Source)
	for _, o := range row.Options {
		line("option", o.Name+": "+o.String())
	}
	if row.Told != nil {
		line("runs", "in simulations alone")
		return
	}
	line("messages", strings.Join(row.Codec().Names(), ", "))
	line("accuracy", "rests on "+(row.Safe|row.Live).String())
	const count = 5
	line("tells", fmt.Sprintf("all of %d nodes of a crash within %v, and what messages take", count,
		row.Detector.Tells(row.Explicit(nodes.Config{N: count}), 0, 1)))
}

// A detectorEntry is one failure detector as list --json prints it.
type detectorEntry struct {
	Name      string    `json:"name"`
	Aliases   []string  `json:"aliases"`
	Source    string    `json:"source"`
	Summary   string    `json:"summary"`
	Live      []string  `json:"accuracy_rests_on"`
	Messages  []string  `json:"messages"`
	Options   []setting `json:"options"`
	Simulated bool      `json:"simulated_only"`
}

func detectorEntryOf(row *spec) detectorEntry {
	e := detectorEntry{Name: row.Name, Aliases: row.Aliases, Source: row.Source, Summary: row.Summary,
		Live: needs(row.Safe | row.Live), Messages: row.Codec().Names(), Simulated: row.Told != nil}
	for _, o := range row.Options {
		e.Options = append(e.Options, setting{o.Name, o.Usage, o.Values, o.Default})
	}
	return e
}

// listDetector describes one failure detector, for people or programs.
func (a *app) listDetector(row *spec, asJSON bool) error {
	if asJSON {
		return terminal.PrintJSON(a.stdout, detectorEntryOf(row))
	}
	writeDetector(a.stdout, row)
	return nil
}

// completeDetector completes the name of a failure detector.
func completeDetector(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	names, how := completeRows(detector.Table, nil)
	return append(names, cobra.CompletionWithDesc(option.NoDetector, "none, even if the algorithm listens")), how
}
