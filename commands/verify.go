package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"turnstile/bench/publish"
	"turnstile/bench/runs"
	"turnstile/internal/english"
	"turnstile/internal/proc"
	"turnstile/internal/terminal"
	"turnstile/judge/check"
	"turnstile/report/text"
	"turnstile/results"
)

const verifyHelp = `Judge a run again by its stored histories, and print the verdict with the finding of each
check. Then make every table of the run again, and name each place where a stored table differs: file, line,
column, the stored value, and the value that the history gives.

` + runHelp + `
SET, the name or the path of a set, judges all of its runs. Of a published set it checks what is there:

- joined tables alone, as in results/published: the runs with the grids and numbers of trials in set.yaml,
  the figures with each other, the report and README.md with what they give. It says what it cannot
  confirm without histories.
- a folder with runs, or its .tar.gz: each file with its digest, the tables of the set with those of its
  runs, and the files of each run with each other. Runs with histories are judged again.

--again also makes simulated runs again, of joined tables a --sample of them, and compares every event or,
without histories, every column.

Exit status: that of bench for the new verdict, for a set the worst; 1 if anything differs; 2 if a history is
missing, a run cannot be made again, or this Turnstile lacks the format or the algorithm of one.`

const verifyMore = `Names, words, pictures and reports of stalls are not in the histories. Digests in
run.yaml tell whether they were changed. A change of names, words or pictures is a difference; a changed
report of a stall is named, but does not change the status.

A trial whose history cannot be read is named, and the others are judged; the run is then inconclusive, unless
another trial is violated or its rows differ. A run whose orchestrator was killed can be judged by the logs
that its nodes left; its tables are not compared. A simulated run has no logs: only its completed trials can
be judged.`

const verifyExample = `  orchestrator verify
  orchestrator verify --benchstat latest >new.txt; benchstat old.txt new.txt
  orchestrator verify bench/20260131-140509-ricart-agrawala-n32
  orchestrator verify bench
  orchestrator verify --again simulate
  orchestrator verify results/published/simulated --again --sample 20
  orchestrator verify --json results/latest`

// A verifyCall is one call of verify.
type verifyCall struct {
	known
	root                   string
	json, benchmark, again bool
	sample                 int
}

// A verifiable is a run, a set, or the path of a published set.
type verifiable struct {
	run       *results.Folder
	set       *results.Set
	published string
}

func openVerifiable(root, ref string) (v verifiable, err error) {
	for _, path := range []string{filepath.Join(root, ref), ref} {
		info, err := os.Stat(path)
		if err == nil && (info.Mode().IsRegular() && strings.HasSuffix(path, results.ArchiveSuffix) ||
			results.IsPublished(path) && (path != ref || filepath.Base(ref) != ref || ref == ".")) {
			return verifiable{published: path}, nil
		}
	}
	return openRunOrSet(root, ref)
}

// openRunOrSet finds a run or, if no run has that name, a set, which may be a published folder.
func openRunOrSet(root, ref string) (v verifiable, err error) {
	if v.run, err = results.Open(root, ref); err == nil {
		return v, nil
	}
	if v.set = results.OpenSet(root, ref); v.set != nil {
		return v, nil
	}
	if path := results.PathOfJoined(root, ref); path != "" {
		v.set, err = results.OpenJoined(path)
	}
	if errors.As(err, new(results.JoinedError)) {
		err = failure{fmt.Errorf("%s: %w", ref, err), check.Violated.ExitCode()}
	}
	return v, err
}

func verifyCommand(k known) Command {
	c := &verifyCall{known: k}
	return Command{
		Name:     "verify [RUN|SET|PUBLISHED]",
		Short:    "Judge a stored run again, and compare its tables",
		Help:     verifyHelp,
		More:     verifyMore,
		Example:  verifyExample,
		Options:  c.addTo,
		Args:     atMostOne,
		Complete: completeRunOrSet,
		Instead:  "benchstat",
		Run:      onStored(&c.root, openVerifiable, c.run),
	}
}

func (c *verifyCall) addTo(cmd *cobra.Command) {
	cmd.Flags().StringVar(&c.root, "results", "results", "`folder` of all result sets")
	addJSON(cmd.Flags(), &c.json)
	cmd.Flags().BoolVar(&c.again, "again", false, "also make simulated runs again, and compare every event")
	cmd.Flags().IntVar(&c.sample, "sample", 0,
		"with --again, of a set with tables alone: only this many runs of "+
			"each sweep,\ndrawn at random (default all)")
	noZero(cmd.Flags(), "sample", "would make no run again: write a number from 1, or leave it out")
	cmd.Flags().BoolVar(&c.benchmark, "benchstat", false, "print Go benchmark lines instead, a line per trial")
}

func (c *verifyCall) run(ctx context.Context, a *app, v verifiable) error {
	if c.sample != 0 && (!c.again || v.set == nil || !v.set.Joined) {
		return errors.New("--sample is for --again of a set with tables alone: leave it out")
	}
	if v.published != "" {
		return c.verifyPublished(ctx, a, v.published)
	}
	if v.run == nil && v.set.Joined {
		return c.verifyTables(ctx, a, v.set)
	}
	if v.run == nil {
		return c.verifySet(ctx, a, v.set)
	}
	return c.verify(ctx, a, v.run)
}

// A verified is a run that was judged again.
type verified struct {
	stored  runs.Record
	run     *runs.Run
	summary *runs.Summary // made from the histories alone
	audit   *runs.Audit
}

// judgeAgain judges a run again, and makes it again with --again. Its errors have an exit status.
func (c *verifyCall) judgeAgain(ctx context.Context, folder *results.Folder) (*verified, error) {
	var v verified
	err := folder.ReadYAML(&v.stored)
	if errors.Is(err, fs.ErrNotExist) {
		err = withoutRecord(folder, err)
	}
	if err == nil {
		v.run, err = runs.Reopen(ctx, c.Table, folder)
	}
	if errors.Is(err, runs.ErrNotJudged) {
		err = fmt.Errorf("%w; what is stored has not changed", err)
	}
	if err != nil {
		return nil, failure{err, check.Inconclusive.ExitCode()}
	}
	if v.summary, v.audit = v.run.Summary(), v.run.Audit(&v.stored); c.again {
		v.audit.Again = v.run.Again(ctx, c.Table)
	}
	return &v, nil
}

// outcome is the outcome of the run, but violated if a table differs, or the run made again, and not valid if
// the run could not be made again.
func (v *verified) outcome() check.Outcome {
	if v.audit.Differs() {
		return check.Violated
	}
	if again := v.audit.Again; again != nil && again.Unknown != "" {
		return max(v.summary.Outcome(), check.Inconclusive)
	}
	return v.summary.Outcome()
}

// document is what --json prints: the document of show, with the audit if it found or compared more.
func (v *verified) document() (*text.Document, error) {
	d, err := text.DocumentOf(v.summary)
	if err == nil && (len(v.audit.Differences)+len(v.audit.Remarks) > 0 || v.audit.Again != nil) {
		d.Tables = v.audit
	}
	return d, err
}

func (c *verifyCall) verify(ctx context.Context, a *app, folder *results.Folder) error {
	v, err := c.judgeAgain(ctx, folder)
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
		text.Unjudged(a.stderr, v.summary)
		tellTables(a.stderr, v.audit)
		return results.GoBench(a.stdout, v.summary.Rows)
	}
	text.New(a.stdout).Stored(v.summary)
	for i, t := range v.run.Trials {
		fmt.Fprintf(a.stdout, "\n%s%s\n", v.summary.VerdictText(i), verdictAgainst(v.stored, t.Number-1, t))
	}
	if len(v.audit.Differences)+len(v.summary.Unjudged) == 0 && !v.stored.Unfinished() {
		fmt.Fprintln(a.stdout, "the stored tables agree with the histories")
	}
	tellTables(a.stdout, v.audit)
	return nil
}

// tellTables prints where the stored tables differ, and the remarks.
func tellTables(w io.Writer, audit *runs.Audit) {
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
	tellAgain(w, audit.Again)
}

// tellAgain prints whether a run was the same when it was made again; p is nil if it was not made again.
func tellAgain(w io.Writer, p *runs.Repetition) {
	colors := terminal.PaletteFor(w)
	switch {
	case p == nil:
	case len(p.Differences) > 0:
		fmt.Fprintf(w, "%s  made again:\n  %s\n", colors.Paint(terminal.Red, "NOT THE SAME"),
			strings.Join(p.Differences, "\n  "))
	case p.Unknown != "":
		fmt.Fprintf(w, "%s  not made again: %s\n", colors.Paint(terminal.Yellow, "NOT KNOWN"), p.Unknown)
	default:
		fmt.Fprintf(w, "%s  made again: %s\n", colors.Paint(terminal.Green, "THE SAME"),
			english.Count(p.Events, "event", "events"))
	}
}

// withoutRecord is the error of a run that lacks its run.yaml.
func withoutRecord(folder *results.Folder, err error) error {
	return fmt.Errorf("%s cannot be shown or judged without the record of its settings: %w; "+
		"the rest of it is in %s", folder.Ref(), err, terminal.FromHere(folder.Path))
}

// verdictAgainst describes whether the verdict of a trial is the stored one.
func verdictAgainst(stored runs.Record, index int, t *runs.TrialResult) string {
	now := t.Verdict.Outcome.String()
	was := ""
	if index < len(stored.Trials) {
		was = stored.Trials[index].Verdict
	}
	switch was {
	case "":
		if index < len(stored.Trials) {
			return "no verdict was stored: the trial had not been judged to its end"
		}
		return "no verdict was stored: " + results.OrchestratorGone
	case now:
		return "the stored verdict is the same"
	}
	return fmt.Sprintf("THE STORED VERDICT DIFFERS: it is %s", was)
}

// A setVerdict sums up the new verdicts of the runs of a set.
type setVerdict struct {
	worst     check.Outcome
	outcomes  map[check.Outcome]int // how many runs have each outcome, judged by their histories
	differing []string              // runs whose tables differ
	unread    int
	remarks   map[string]int // how many runs each remark is about
	rows      []results.Row
	documents []any
}

// verifySet judges all runs of a set again. A run that cannot be judged is named, and the others go on.
func (c *verifyCall) verifySet(ctx context.Context, a *app, set *results.Set) error {
	v, err := c.judgeSet(ctx, a, set.Runs)
	if err != nil {
		return err
	}
	a.status = v.worst.ExitCode()
	switch {
	case c.json:
		return terminal.PrintJSON(a.stdout, v.documents)
	case c.benchmark:
		return results.GoBench(a.stdout, v.rows)
	}
	for _, name := range []string{results.MatrixFile, results.SplitBrainFile, results.FailoverFile} {
		if _, err := os.Stat(filepath.Join(set.Path, name)); err == nil {
			v.remarks[name+" is about the set as a whole, and is not compared"]++
		}
	}
	v.print(a, len(set.Runs))
	return nil
}

// verifyPublished checks a published set, a folder or an archive, and judges the runs with published
// histories again. If anything differs, that decides the exit status, before the verdicts of the runs.
func (c *verifyCall) verifyPublished(ctx context.Context, a *app, path string) error {
	folder := path
	if strings.HasSuffix(path, results.ArchiveSuffix) {
		dir, err := proc.TempDir("verify")
		if err != nil {
			return failure{err, unwritten}
		}
		defer proc.RemoveTemp(dir)
		if err := publish.Unpack(ctx, path, dir); err != nil {
			outcome := check.Violated
			if ctx.Err() != nil || errors.Is(err, publish.ErrByHand) {
				outcome = check.Inconclusive
			}
			return failure{fmt.Errorf("%s cannot be unpacked: %w", path, err), outcome.ExitCode()}
		}
		folder = dir
	}
	audit, err := publish.Check(ctx, c.Table, folder)
	if err != nil {
		return failure{fmt.Errorf("%s cannot be checked: %w", path, err), check.Inconclusive.ExitCode()}
	}
	v, err := c.judgeSet(ctx, a, audit.Judgeable)
	if err != nil {
		return err
	}
	switch {
	case len(audit.Differences) > 0:
		v.worst = check.Violated
	case len(audit.Lacking) > 0:
		v.worst = max(v.worst, check.Inconclusive)
	}
	a.status = v.worst.ExitCode()
	switch {
	case c.json:
		return terminal.PrintJSON(a.stdout, map[string]any{"published": audit, "runs": v.documents,
			"not_confirmed": audit.Without})
	case c.benchmark:
		err = results.GoBench(a.stdout, v.rows)
	case len(audit.Judgeable) > 0:
		v.print(a, len(audit.Judgeable))
	}
	if len(audit.Differences) == 0 {
		fmt.Fprintf(a.stdout, "%s: as published; nothing that was compared in it differs\n",
			terminal.FromHere(path))
	} else {
		fmt.Fprintf(a.stdout, "%s from what was published:\n", terminal.PaletteFor(a.stdout).Paint(terminal.Red,
			terminal.FromHere(path)+" DIFFERS"))
	}
	for _, d := range audit.Differences {
		fmt.Fprintf(a.stdout, "  %v\n", d)
	}
	for _, why := range slices.Sorted(maps.Keys(audit.Lacking)) {
		fmt.Fprintf(a.stdout, "not confirmed: this Turnstile cannot judge %s: %s\n",
			english.Count(audit.Lacking[why], "run", "runs"), why)
	}
	if audit.Without > 0 {
		fmt.Fprintf(a.stdout, "not confirmed: the histories of %s are not here, so their verdicts and figures "+
			"cannot be computed again\n", english.Count(audit.Without, "run", "runs"))
	}
	return err
}

// judgeSet judges runs again, and prints a line about each unless --json or --benchstat.
func (c *verifyCall) judgeSet(ctx context.Context, a *app, folders []*results.Folder) (*setVerdict, error) {
	v := &setVerdict{documents: []any{}, outcomes: map[check.Outcome]int{},
		remarks: map[string]int{}}
	for _, folder := range folders {
		one, err := c.judgeAgain(ctx, folder)
		switch {
		case errors.Is(err, runs.ErrNotJudged):
			return nil, err
		case err != nil:
			v.unreadable(a, c, folder, err)
			continue
		}
		if err := v.add(a, c, folder, one); err != nil {
			return nil, err
		}
	}
	return v, nil
}

// unreadable counts a run that cannot be judged, and prints why.
func (v *setVerdict) unreadable(a *app, c *verifyCall, folder *results.Folder, err error) {
	v.unread++
	v.worst = max(v.worst, check.Inconclusive)
	v.documents = append(v.documents,
		map[string]string{"run": folder.Ref(), "path": folder.Path, "error": err.Error()})
	fmt.Fprintf(a.stderr, "%s: %v\n", folder.Ref(), err)
}

// add notes a run that was judged again, and prints a line about it unless --json or --benchstat.
func (v *setVerdict) add(a *app, c *verifyCall, folder *results.Folder, one *verified) error {
	outcome := one.summary.Outcome()
	v.worst = max(v.worst, one.outcome())
	v.outcomes[outcome]++
	if len(one.audit.Differences) > 0 {
		v.differing = append(v.differing, folder.Ref())
	}
	switch {
	case c.json:
		d, err := one.document()
		v.documents = append(v.documents, d)
		return err
	case c.benchmark:
		v.rows = append(v.rows, one.summary.Rows...)
		text.Unjudged(a.stderr, one.summary)
		tellTables(a.stderr, &runs.Audit{Differences: one.audit.Differences, Again: one.audit.Again})
		return nil
	}
	colors := terminal.PaletteFor(a.stdout)
	switch {
	case len(one.audit.Differences) > 0:
		fmt.Fprintf(a.stdout, "%s  %s: the histories say %v\n", colors.Paint(terminal.Red, "THE TABLES DIFFER"),
			folder.Ref(), outcome)
	case one.stored.Unfinished():
		fmt.Fprintf(a.stdout, "%s  %s: %s\n", text.Outcome(colors, outcome), folder.Ref(), results.UnfinishedSays)
	case len(one.summary.Unjudged) > 0:
		fmt.Fprintf(a.stdout, "%s  %s: what can be judged agrees with the histories\n",
			text.Outcome(colors, outcome), folder.Ref())
	default:
		says := ""
		if slices.ContainsFunc(one.stored.Trials, func(t runs.TrialRecord) bool { return t.Interrupted() }) {
			says = results.Interrupted + "; "
		}
		fmt.Fprintf(a.stdout, "%s  %s: %sthe tables agree with the histories\n", text.Outcome(colors, outcome),
			folder.Ref(), says)
	}
	text.Unjudged(a.stdout, one.summary)
	for _, d := range one.audit.Differences {
		fmt.Fprintf(a.stdout, "  %v\n", d)
	}
	tellAgain(a.stdout, one.audit.Again)
	for _, remark := range one.audit.Remarks {
		if len(one.summary.Unjudged) > 0 { // these remarks are about this run alone
			fmt.Fprintf(a.stdout, "  %s\n", remark)
		} else {
			v.remarks[remark]++
		}
	}
	return nil
}

// print sums up the set.
func (v *setVerdict) print(a *app, runs int) {
	var words []string
	for outcome := check.Valid; outcome <= check.Violated; outcome++ {
		if n := v.outcomes[outcome]; n > 0 {
			words = append(words, fmt.Sprintf("%d %v", n, outcome))
		}
	}
	if v.unread > 0 {
		words = append(words, fmt.Sprintf("%d cannot be judged", v.unread))
	}
	tables := "no table differs from the histories"
	if n := len(v.differing); n > 0 {
		tables = fmt.Sprintf("tables of %s differ from the histories: %s", english.Count(n, "run", "runs"),
			strings.Join(v.differing, ", "))
	}
	fmt.Fprintf(a.stdout, "\n%s: %s; %s\n", english.Count(runs, "run", "runs"), strings.Join(words, ", "),
		tables)
	for _, remark := range slices.Sorted(maps.Keys(v.remarks)) {
		of := ""
		if n := v.remarks[remark]; n > 1 {
			of = fmt.Sprintf(" (%d runs)", n)
		}
		fmt.Fprintf(a.stdout, "%s%s\n", remark, of)
	}
}
