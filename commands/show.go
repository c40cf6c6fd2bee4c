package commands

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"turnstile/bench/publish"
	"turnstile/bench/runs"
	"turnstile/internal/english"
	"turnstile/internal/terminal"
	"turnstile/judge/check"
	"turnstile/report/text"
	"turnstile/results"
)

const showHelp = `Print the summary of a run again, from its stored files. It judges nothing, so that a long
run takes no longer; verify judges it again. It names files that were changed since the run.

` + runHelp + `

Exit status: that of bench for the stored verdict; 2 if a file cannot be read.`

const showExample = `  orchestrator show
  orchestrator show bench/20260131-140509-ricart-agrawala-n32
  orchestrator show --json results/latest`

// A showCall is one call of show.
type showCall struct {
	known
	root string
	json bool
}

func showCommand(k known) Command {
	c := &showCall{known: k}
	return Command{
		Name:    "show [RUN]",
		Short:   "Print the summary of a stored run again",
		Help:    showHelp,
		Example: showExample,
		Options: func(cmd *cobra.Command) {
			cmd.Flags().StringVar(&c.root, "results", "results", "`folder` of all result sets")
			addJSON(cmd.Flags(), &c.json)
		},
		Args:     atMostOne,
		Complete: completeRun,
		Run:      onStored(&c.root, openShown, c.run),
	}
}

// openShown finds a run, a set with joined tables, or a run of such a set.
func openShown(root, ref string) (v verifiable, err error) {
	if v.run, err = results.Open(root, ref); err == nil {
		return v, nil
	}
	name := ""
	path := results.PathOfJoined(root, ref)
	if path == "" {
		if path, name = results.PathOfJoined(root, filepath.Dir(ref)), filepath.Base(ref); path == "" {
			return v, err
		}
	}
	if v.set, err = results.OpenJoined(path); err != nil || name == "" {
		return v, err
	}
	if v.run = v.set.Run(name); v.run == nil {
		return v, fmt.Errorf("%s has no run %s", path, name)
	}
	return v, nil
}

// showJoined prints the cells of a run of which only rows of joined tables are there.
func (c *showCall) showJoined(a *app, folder *results.Folder) error {
	rows, err := folder.Rows(c.Table.OptionNames()...)
	if err != nil {
		return failure{err, check.Inconclusive.ExitCode()}
	}
	writeRows(a, rows)
	for _, row := range rows {
		var t terminal.Table
		for column, cell := range results.Cells(row) {
			if text := fmt.Sprint(cell); text != "" {
				t.Add(column, text)
			}
		}
		t.Print(a.stdout)
	}
	return nil
}

// showTables prints what the tables of a set are about.
func (c *showCall) showTables(a *app, set *results.Set) error {
	text, err := publish.Readme(set)
	if err != nil {
		return failure{err, check.Inconclusive.ExitCode()}
	}
	verdicts := map[string]int{}
	var rows []results.Row
	for _, f := range set.Runs {
		its, err := f.Rows(c.Table.OptionNames()...)
		if err != nil {
			return failure{err, check.Inconclusive.ExitCode()}
		}
		for i := range its {
			verdicts[its[i].Verdict]++
		}
		rows = append(rows, its...)
	}
	writeRows(a, rows)
	fmt.Fprint(a.stdout, text)
	for _, verdict := range slices.Sorted(maps.Keys(verdicts)) {
		fmt.Fprintf(a.stdout, "\n%s: %s", verdict, english.Count(verdicts[verdict], "trial", "trials"))
	}
	if len(set.Runs) > 0 {
		fmt.Fprintf(a.stdout, "\none run: %s\n", terminal.CallOn("show", set.Runs[0].Path))
	}
	return nil
}

func (c *showCall) run(_ context.Context, a *app, v verifiable) error {
	folder := v.run
	switch a.onlyRows(c.json && v.set != nil); {
	case v.set != nil && folder != nil:
		return c.showJoined(a, folder)
	case v.set != nil:
		return c.showTables(a, v.set)
	}
	s, err := runs.ReadSummary(c.Table, folder)
	switch tables := (runs.TablesError{}); {
	case errors.As(err, &tables):
		err = fmt.Errorf("%w; %s", err, recorded(folder))
	case errors.Is(err, fs.ErrNotExist):
		err = withoutRecord(folder, err)
	}
	if err != nil {
		return failure{err, check.Inconclusive.ExitCode()}
	}
	a.status = s.Outcome().ExitCode()
	if c.json {
		return text.JSON(a.stdout, s)
	}
	if len(s.Changed) > 0 {
		fmt.Fprintf(a.stdout, "%s  after the run: %s; orchestrator verify %s compares them with the histories\n\n",
			terminal.PaletteFor(a.stdout).Paint(terminal.Yellow, "CHANGED"), english.List(s.Changed), folder.Ref())
	}
	text.New(a.stdout).Stored(s)
	if s.Record.Unfinished() {
		fmt.Fprintf(a.stdout, "\n%s; %s\n", results.UnfinishedSays, recorded(folder))
	}
	return nil
}

// recorded explains how an unfinished run can be judged, if it can.
func recorded(folder *results.Folder) string {
	if len(folder.Histories()) == 0 {
		return "nothing was recorded that could be judged"
	}
	return "to judge what was recorded: " + terminal.CallOn("verify", folder.Path)
}
