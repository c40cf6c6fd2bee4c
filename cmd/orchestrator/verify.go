package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"turnstile/bench"
	"turnstile/bench/publish"
	"turnstile/bench/report"
	"turnstile/internal/terminal"
	"turnstile/judge/check"
	"turnstile/results"
)

const verifyHelp = `Judge a run again by the histories that it stored, and print the verdict with what each
check found. Then make every table of the run again, and name each place where a stored table differs: file,
line, column, the stored value, and the value that the history gives.

` + runHelp + `
SET, the name or the path of a set, is for all of its runs. Of a published set, a folder or its .tar.gz,
every file is compared with its digest and the tables of the set with those of its runs. Runs whose
histories came along are judged again; of the others, verdicts and figures are not confirmed, and a line
says of how many.

Names, words, pictures and reports of stalls are not in the histories. Digests in run.yaml say whether they
were changed. A change of names, words or pictures is a difference; one of a report of a stall is named, and
the status stays.

A trial whose history cannot be read is named, and the others are judged; then the run is inconclusive, unless
another trial is violated or its rows differ.

A run whose orchestrator was killed can be judged too: its histories are then the logs of its nodes, as
they left them. Its tables are not compared. A simulated run has no logs: only its trials that had ended
can be judged.

Exit status: as of bench, by the verdict found now, of a set the worst; 1 if a table differs; 2 if a history
is missing or cannot be read, and nothing is violated. Of a published set: 1 if anything differs, otherwise
by the runs that were judged again, and 2 if this Turnstile lacks the algorithm of one; histories that did not
come along change nothing.`

const verifyExample = `  orchestrator verify
  orchestrator verify --benchstat latest >new.txt; benchstat old.txt new.txt
  orchestrator verify bench/20260131-140509-ricart-agrawala-n32
  orchestrator verify bench
  orchestrator verify published/lan.tar.gz
  orchestrator verify --json results/latest`

// A verifyCall is one call of verify.
type verifyCall struct{ json, benchmark bool }

// A verifiable is a run or, if there is none, a set, or the place of one that was published.
type verifiable struct {
	run       *results.Folder
	set       *results.Set
	published string
}

func openVerifiable(root, ref string) (v verifiable, err error) {
	for _, path := range []string{filepath.Join(root, ref), ref} {
		info, err := os.Stat(path)
		if err == nil && (info.Mode().IsRegular() && publish.IsArchive(path) ||
			info.IsDir() && publish.IsFolder(path) && (path != ref || filepath.Base(ref) != ref || ref == ".")) {
			return verifiable{published: path}, nil
		}
	}
	if v.run, err = results.Open(root, ref); err != nil {
		if v.set = results.OpenSet(root, ref); v.set != nil {
			err = nil
		}
	}
	return v, err
}

func (a *app) verifyCommand() *cobra.Command {
	var c verifyCall
	cmd := onStored(&cobra.Command{
		Use:               "verify [RUN|SET|PUBLISHED]",
		Short:             "Judge a stored run again, and compare its tables",
		Long:              verifyHelp,
		Example:           verifyExample,
		ValidArgsFunction: completeRunOrSet,
	}, func(cmd *cobra.Command, s settings) error {
		return s.either(cmd, "json", "benchstat")
	}, openVerifiable, func(ctx context.Context, _ settings, v verifiable) error {
		if v.published != "" {
			return a.verifyPublished(ctx, &c, v.published)
		}
		if v.run == nil {
			return a.verifySet(ctx, &c, v.set)
		}
		return a.verify(ctx, &c, v.run)
	})
	cmd.Flags().String("results", "results", "`folder` of all result sets")
	cmd.Flags().BoolVar(&c.json, "json", false, "print one JSON document instead")
	cmd.Flags().BoolVar(&c.benchmark, "benchstat", false, "print Go benchmark lines instead, a line per trial")
	return cmd
}

// A verified is a run that was judged again.
type verified struct {
	stored  bench.Record
	run     *bench.Run
	summary *bench.Summary // made from the histories alone
	audit   *bench.Audit
}

// judgeAgain judges a run again. An error has the exit status.
func judgeAgain(ctx context.Context, folder *results.Folder) (*verified, error) {
	var v verified
	err := folder.ReadYAML(&v.stored)
	if errors.Is(err, fs.ErrNotExist) {
		err = withoutRecord(folder, err)
	}
	if err == nil {
		v.run, err = bench.Reopen(ctx, folder)
	}
	if errors.Is(err, bench.ErrNotJudged) {
		err = fmt.Errorf("%w; what is stored has not changed", err)
	}
	if err != nil {
		return nil, failure{err, check.Inconclusive.ExitCode()}
	}
	v.summary, v.audit = v.run.Summary(), v.run.Audit(&v.stored)
	return &v, nil
}

// outcome is that of the run, and violated if a table differs.
func (v *verified) outcome() check.Outcome {
	if len(v.audit.Differences) > 0 {
		return check.Violated
	}
	return v.summary.Outcome()
}

// document is what --json prints of it: what show prints, unless there is something to say of the tables.
func (v *verified) document() (*report.Document, error) {
	d, err := report.DocumentOf(v.summary)
	if err == nil && len(v.audit.Differences)+len(v.audit.Remarks) > 0 {
		d.Tables = v.audit
	}
	return d, err
}

func (a *app) verify(ctx context.Context, c *verifyCall, folder *results.Folder) error {
	v, err := judgeAgain(ctx, folder)
	if err != nil {
		return err
	}
	a.status = v.outcome().ExitCode()
	switch {
	case c.json:
		d, err := v.document()
		if err != nil {
			return err
		}
		return terminal.PrintJSON(a.stdout, d)
	case c.benchmark:
		report.Unjudged(a.stderr, v.summary)
		a.tellTables(a.stderr, v.audit)
		return results.GoBench(a.stdout, v.summary.Rows)
	}
	report.New(a.stdout).Stored(v.summary)
	for i, t := range v.run.Trials {
		fmt.Fprintf(a.stdout, "\n%s%s\n", v.summary.VerdictText(i), verdictAgainst(v.stored, t.Number-1, t))
	}
	if len(v.audit.Differences)+len(v.summary.Unjudged) == 0 && !v.stored.Unfinished() {
		fmt.Fprintln(a.stdout, "the stored tables agree with the histories")
	}
	a.tellTables(a.stdout, v.audit)
	return nil
}

// tellTables prints where the stored tables differ, and the remarks.
func (a *app) tellTables(w io.Writer, audit *bench.Audit) {
	if len(audit.Differences) > 0 {
		fmt.Fprintf(w, "%s from the histories:\n", terminal.PaletteFor(w).Paint(terminal.Red,
			"THE STORED TABLES DIFFER"))
	}
	for _, d := range audit.Differences {
		fmt.Fprintf(w, "  %v\n", d)
	}
	for _, remark := range audit.Remarks {
		fmt.Fprintln(w, remark)
	}
}

// withoutRecord is the error of a run that lacks its run.yaml.
func withoutRecord(folder *results.Folder, err error) error {
	return fmt.Errorf("%s cannot be shown, judged or made again, since nothing says how it was made: %w; "+
		"what is left of it is in %s", folder.Ref(), err, terminal.FromHere(folder.Path))
}

// verdictAgainst says whether the verdict of a trial is the stored one.
func verdictAgainst(stored bench.Record, index int, t *bench.Trial) string {
	now := t.Verdict.Outcome.String()
	was := ""
	if index < len(stored.Trials) {
		was = stored.Trials[index].Verdict
	}
	switch was {
	case "":
		if index < len(stored.Trials) {
			return "no verdict was stored: nobody had judged the trial to its end"
		}
		return "no verdict was stored: " + results.OrchestratorGone
	case now:
		return "the stored verdict is the same"
	}
	return fmt.Sprintf("THE STORED VERDICT DIFFERS: it is %s", was)
}
