package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"turnstile/algorithms/catalog"
	"turnstile/bench"
	"turnstile/bench/runs"
	"turnstile/internal/english"
	"turnstile/internal/terminal"
	"turnstile/judge/check"
	"turnstile/report/text"
	"turnstile/results"
)

const rerunHelp = `Make a stored run again, from its run.yaml, and say whether the outcome is the same.

A simulated run has to be the same in every event and every figure. Of a real run, the verdict of each trial
has to be the same, and those counts that chance has no part in: the entries, if their number was asked for;
messages per entry, if one number is published for the load; under a sequential load, or that of one node,
of so many entries, all messages. Times are never compared.

` + runHelp + ` The new run belongs to the same set, unless --set names another.

Exit status: 0 the same, 1 not the same, 2 if that is not known, since one of the runs ended early, cannot be
read or was changed after it was written, 64 bad usage.`

const rerunExample = `  orchestrator rerun
  orchestrator rerun simulate/20260131-140509-ricart-agrawala-n32
  orchestrator rerun --set again --json latest`

func (a *app) rerunCommand() *cobra.Command {
	var c benchCall
	cmd := onRun(&cobra.Command{
		Use:     "rerun [RUN]",
		Short:   "Make a stored run again, and compare the outcome",
		Long:    rerunHelp,
		Example: rerunExample,
	}, nil, func(ctx context.Context, s settings, folder *results.Folder) error {
		return a.rerun(ctx, &c, s, folder)
	})
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&c.setup.Results, "results", "results", "`folder` of all result sets")
	f.StringVar(&c.setup.Set, "set", "",
		"`name` of the result set that the new run belongs to (default the same)")
	f.StringVar(&c.NATS, "nats", "", "`URL` of the NATS server to use (default as in the first run)")
	f.StringVar(&c.setup.Node, "node-program", "",
		"`path` of the program of a node (default node, beside this program)")
	f.BoolVar(&c.json, "json", false, "print one JSON document instead")
	f.BoolVar(&c.noProgress, "no-progress", false, "show no progress, even on a terminal")
	forOneCall(cmd, "set")
	return cmd
}

// rerun makes the run in a folder again.
func (a *app) rerun(ctx context.Context, c *benchCall, s settings, folder *results.Folder) error {
	record, err := runs.ReadRecord(folder)
	if errors.Is(err, fs.ErrNotExist) {
		err = withoutRecord(folder, err)
	}
	if err != nil {
		return failure{err, check.Inconclusive.ExitCode()}
	}
	row, err := catalog.Of(record.Options.Algorithm, record.Options.Config)
	if err != nil {
		return failure{err, check.Inconclusive.ExitCode()}
	}
	if why := incomparable(folder); why != "" {
		fmt.Fprintf(a.stderr, "orchestrator: there is nothing to compare the new run with: %s\n", why)
	}
	server := c.NATS
	c.Options = record.Options.Again()
	// A server that is set for all runs is not for one that had its own; for others it may have the
	// credential.
	if s.rank("nats") == byFlag || s.given("nats") && c.NATS != "" {
		c.NATS = server
	}
	if c.setup.Set == "" {
		c.setup.Set = filepath.Base(filepath.Dir(folder.Path))
	}
	if err := checkSet(&c.setup, nil); err != nil {
		return err
	}
	job, err := bench.Resolve(c.Options, row, record.Simulated)
	if err != nil {
		return err
	}
	c.Job = *job
	r, made := a.begin(ctx, c)
	if r == nil {
		return made
	}
	compared := compareWith(folder, r)
	if c.json {
		err = a.printRerun(folder, r, compared)
		if made != nil && !told(r, made) {
			fmt.Fprintf(a.stderr, "orchestrator: %v\n", made)
		}
	} else {
		err = a.tell(c, r, made)
		a.tellComparison(folder, compared)
	}
	a.status = compared.Outcome().ExitCode()
	return err
}

// incomparable says why nothing can be compared with the run in a folder; nothing if something can be.
func incomparable(folder *results.Folder) string {
	switch s, err := runs.ReadSummary(folder); {
	case err != nil:
		return err.Error()
	case len(s.Rows) == 0 && s.Record.Unfinished():
		return fmt.Sprintf("%s is %s", folder.Ref(), results.UnfinishedSays)
	case len(s.Rows) == 0:
		return folder.Ref() + " has no trial that was judged"
	}
	return ""
}

// compareWith compares a run with that in a folder, which it was made after.
func compareWith(first *results.Folder, again *runs.Run) *runs.Comparison {
	was, err := runs.ReadSummary(first)
	if err != nil {
		return &runs.Comparison{Unknown: []string{err.Error()}}
	}
	return runs.Compare(was, again.Summary())
}

// tellComparison says whether the outcome is the same, for people.
func (a *app) tellComparison(first *results.Folder, c *runs.Comparison) {
	colors := terminal.PaletteFor(a.stdout)
	fmt.Fprintln(a.stdout)
	switch c.Outcome() {
	case check.Valid:
		fmt.Fprintf(a.stdout, "%s  as %s: %s\n", colors.Paint(terminal.Green, "THE SAME"), first.Ref(),
			strings.Join(c.Compared, ", "))
	case check.Violated:
		fmt.Fprintf(a.stdout, "%s  %s from %s\n", colors.Paint(terminal.Red, "NOT THE SAME"),
			english.Count(len(c.Differences), "difference", "differences"), first.Ref())
	default:
		fmt.Fprintf(a.stdout, "%s  whether it is as %s\n", colors.Paint(terminal.Yellow, "NOT KNOWN"), first.Ref())
	}
	for _, d := range c.Differences {
		if d.First == "" && d.Again == "" {
			fmt.Fprintf(a.stdout, "  trial %d: %s\n", d.Trial, d.What)
			continue
		}
		fmt.Fprintf(a.stdout, "  trial %d: %s was %s, and is %s\n", d.Trial, d.What,
			cmp.Or(d.First, "nothing"), cmp.Or(d.Again, "nothing"))
	}
	for _, why := range c.Unknown {
		fmt.Fprintf(a.stdout, "  not compared: %s\n", strings.ReplaceAll(why, "\n", "\n    "))
	}
}

// printRerun prints the comparison, and the new run, as one JSON document.
func (a *app) printRerun(first *results.Folder, r *runs.Run, c *runs.Comparison) error {
	run, err := text.DocumentOf(r.Summary())
	if err != nil {
		return err
	}
	var same any // null: not known
	if outcome := c.Outcome(); outcome != check.Inconclusive {
		same = outcome == check.Valid
	}
	return terminal.PrintJSON(a.stdout,
		map[string]any{"first": first.Ref(), "same": same, "comparison": c, "again": run})
}
