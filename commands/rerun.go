package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"turnstile/bench"
	"turnstile/bench/runs"
	"turnstile/internal/english"
	"turnstile/internal/terminal"
	"turnstile/judge/check"
	"turnstile/report/text"
	"turnstile/results"
)

const rerunHelp = `Make a stored run again, from its run.yaml, and print whether the outcome is the same.

A simulated run has to be the same in every event and every figure. A real run has to have the same verdict of
each trial, and the same counts that do not depend on chance: entries, if --entries was given; messages per
entry, if one number is published for the load; all messages, with --entries under the load sequential or
one. Times are never compared.

` + runHelp + ` The new run belongs to the same set, unless --set names another.

Exit status: 0 the same, 1 not the same, 2 not known, since one of the runs ended early, cannot be read or was
changed after it was written, 64 bad usage.`

const rerunExample = `  orchestrator rerun
  orchestrator rerun simulate/20260131-140509-ricart-agrawala-n32
  orchestrator rerun --set again --json latest`

// A rerunCall is one call of rerun.
type rerunCall struct {
	known
	benchCall
	nats rank // whether a flag, a variable or a file named the NATS server
}

func rerunCommand(k known) Command {
	c := &rerunCall{known: k}
	return Command{
		Name:     "rerun [RUN]",
		Short:    "Make a stored run again, and compare the outcome",
		Help:     rerunHelp,
		Example:  rerunExample,
		Options:  c.addTo,
		Args:     atMostOne,
		Complete: completeRun,
		Check: func(s settings) error {
			c.nats = s.rank("nats")
			return nil
		},
		Ends: true,
		Run:  onStored(&c.setup.Results, results.Open, c.run),
	}
}

func (c *rerunCall) addTo(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&c.setup.Results, "results", "results", "`folder` of all result sets")
	f.StringVar(&c.setup.Set, "set", "",
		"`name` of the result set that the new run belongs to (default the same)")
	f.StringVar(&c.NATS, "nats", "", "`URL` of the NATS server to use (default as in the first run)")
	f.StringVar(&c.setup.Node, "node-program", "",
		"`path` of the program of a node (default node, beside this program)")
	addJSON(f, &c.json)
	f.BoolVar(&c.noProgress, "no-progress", false, "show no progress, even on a terminal")
	forOneCall(cmd, "set")
}

// run makes the run in a folder again.
func (c *rerunCall) run(ctx context.Context, a *app, folder *results.Folder) error {
	record, err := runs.ReadRecord(folder)
	if errors.Is(err, fs.ErrNotExist) {
		err = withoutRecord(folder, err)
	}
	if err != nil {
		return failure{err, check.Inconclusive.ExitCode()}
	}
	row, err := c.Of(record.Options.Algorithm, record.Options.Config)
	if err != nil {
		return failure{err, check.Inconclusive.ExitCode()}
	}
	if why := c.incomparable(folder); why != "" {
		fmt.Fprintf(a.stderr, "orchestrator: the new run cannot be compared with the first: %s\n", why)
	}
	server := c.NATS
	c.Options = record.Options.Again()
	// A server that a file or variable names is not for a run that had its own broker. For other runs its URL
	// may have the credential, which the record lacks.
	if c.nats == byFlag || c.nats > byDefault && c.NATS != "" {
		c.NATS = server
	}
	if c.setup.Set == "" {
		c.setup.Set = filepath.Base(filepath.Dir(folder.Path))
	}
	if err := checkSet(&c.setup); err != nil {
		return err
	}
	job, err := bench.Resolve(c.Table, c.Options, row, record.Simulated)
	if err != nil {
		return err
	}
	c.job = job
	c.Options, c.Spec, c.Problem, c.Simulated = job.Options, job.Spec, job.Problem, job.Simulated
	r, made := c.begin(ctx, a)
	if r == nil {
		return made
	}
	compared := c.compareWith(folder, r)
	if c.json {
		err = printRerun(a.stdout, folder, r, compared)
		if made != nil && !told(r, made) {
			fmt.Fprintf(a.stderr, "orchestrator: %v\n", made)
		}
	} else {
		err = c.tell(a, r, made)
		tellComparison(a.stdout, folder, compared)
	}
	a.status = compared.Outcome().ExitCode()
	return err
}

// incomparable explains why the run in a folder cannot be compared; empty: it can.
func (k known) incomparable(folder *results.Folder) string {
	switch s, err := runs.ReadSummary(k.Table, folder); {
	case err != nil:
		return err.Error()
	case len(s.Rows) == 0 && s.Record.Unfinished():
		return fmt.Sprintf("%s is %s", folder.Ref(), results.UnfinishedSays)
	case len(s.Rows) == 0:
		return folder.Ref() + " has no judged trial"
	}
	return ""
}

// compareWith compares the new run with the first, which is in a folder.
func (k known) compareWith(first *results.Folder, again *runs.Run) *runs.Comparison {
	was, err := runs.ReadSummary(k.Table, first)
	if err != nil {
		return &runs.Comparison{Unknown: []string{err.Error()}}
	}
	return runs.Compare(was, again.Summary())
}

// tellComparison prints whether the outcome is the same, for people.
func tellComparison(w io.Writer, first *results.Folder, c *runs.Comparison) {
	colors := terminal.PaletteFor(w)
	fmt.Fprintln(w)
	switch c.Outcome() {
	case check.Valid:
		fmt.Fprintf(w, "%s  as %s: %s\n", colors.Paint(terminal.Green, "THE SAME"), first.Ref(),
			strings.Join(c.Compared, ", "))
	case check.Violated:
		fmt.Fprintf(w, "%s  %s from %s\n", colors.Paint(terminal.Red, "NOT THE SAME"),
			english.Count(len(c.Differences), "difference", "differences"), first.Ref())
	default:
		fmt.Fprintf(w, "%s  whether it is as %s\n", colors.Paint(terminal.Yellow, "NOT KNOWN"), first.Ref())
	}
	for _, d := range c.Differences {
		if d.First == "" && d.Again == "" {
			fmt.Fprintf(w, "  trial %d: %s\n", d.Trial, d.What)
			continue
		}
		fmt.Fprintf(w, "  trial %d: %s was %s, and is %s\n", d.Trial, d.What,
			cmp.Or(d.First, "nothing"), cmp.Or(d.Again, "nothing"))
	}
	for _, why := range c.Unknown {
		fmt.Fprintf(w, "  not compared: %s\n", strings.ReplaceAll(why, "\n", "\n    "))
	}
}

// printRerun prints the comparison, and the new run, as one JSON document.
func printRerun(w io.Writer, first *results.Folder, r *runs.Run, c *runs.Comparison) error {
	run, err := text.DocumentOf(r.Summary())
	if err != nil {
		return err
	}
	var same any // null: it is unknown whether the outcome is the same
	if outcome := c.Outcome(); outcome != check.Inconclusive {
		same = outcome == check.Valid
	}
	return terminal.PrintJSON(w,
		map[string]any{"first": first.Ref(), "same": same, "comparison": c, "again": run})
}
