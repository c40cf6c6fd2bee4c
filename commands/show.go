package commands

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

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
		Run:      onStored(&c.root, results.Open, c.run),
	}
}

func (c *showCall) run(_ context.Context, a *app, folder *results.Folder) error {
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
