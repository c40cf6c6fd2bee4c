package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"turnstile/bench"
	"turnstile/bench/report"
	"turnstile/internal/english"
	"turnstile/internal/terminal"
	"turnstile/judge/check"
	"turnstile/results"
)

// A setVerdict sums up what verify says of the runs of a set.
type setVerdict struct {
	worst     check.Outcome
	outcomes  map[check.Outcome]int // how many runs have it, by the histories
	differing []string              // runs whose tables differ
	unread    int
	remarks   map[string]int // how many runs they are about
	rows      []results.Row
	documents []any
}

// verifySet judges all runs of a set again. A run that cannot be judged is named, and the others go on.
func (a *app) verifySet(ctx context.Context, c *verifyCall, set *results.Set) error {
	v, err := a.judgeSet(ctx, c, set.Runs)
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

// judgeSet judges runs again, and prints a line about each, for people.
func (a *app) judgeSet(ctx context.Context, c *verifyCall, runs []*results.Folder) (*setVerdict, error) {
	v := &setVerdict{documents: []any{}, outcomes: map[check.Outcome]int{},
		remarks: map[string]int{}}
	for _, folder := range runs {
		one, err := judgeAgain(ctx, folder)
		switch {
		case errors.Is(err, bench.ErrNotJudged):
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

// unreadable notes a run that cannot be judged, and says why.
func (v *setVerdict) unreadable(a *app, c *verifyCall, folder *results.Folder, err error) {
	v.unread++
	v.worst = max(v.worst, check.Inconclusive)
	v.documents = append(v.documents,
		map[string]string{"run": folder.Ref(), "path": folder.Path, "error": err.Error()})
	fmt.Fprintf(a.stderr, "%s: %v\n", folder.Ref(), err)
}

// add notes a run that was judged again, and prints a line about it, for people.
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
		report.Unjudged(a.stderr, one.summary)
		a.tellTables(a.stderr, &bench.Audit{Differences: one.audit.Differences})
		return nil
	}
	colors := terminal.PaletteFor(a.stdout)
	switch {
	case len(one.audit.Differences) > 0:
		fmt.Fprintf(a.stdout, "%s  %s: the histories say %v\n", colors.Paint(terminal.Red, "THE TABLES DIFFER"),
			folder.Ref(), outcome)
	case one.stored.Unfinished():
		fmt.Fprintf(a.stdout, "%s  %s: %s\n", report.Outcome(colors, outcome), folder.Ref(), results.UnfinishedSays)
	case len(one.summary.Unjudged) > 0:
		fmt.Fprintf(a.stdout, "%s  %s: what can be judged agrees with the histories\n",
			report.Outcome(colors, outcome), folder.Ref())
	default:
		says := ""
		if slices.ContainsFunc(one.stored.Trials, func(t bench.TrialRecord) bool { return t.Interrupted() }) {
			says = results.Interrupted + "; "
		}
		fmt.Fprintf(a.stdout, "%s  %s: %sthe tables agree with the histories\n", report.Outcome(colors, outcome),
			folder.Ref(), says)
	}
	report.Unjudged(a.stdout, one.summary)
	for _, d := range one.audit.Differences {
		fmt.Fprintf(a.stdout, "  %v\n", d)
	}
	for _, remark := range one.audit.Remarks {
		if len(one.summary.Unjudged) > 0 { // it is about this run alone
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
