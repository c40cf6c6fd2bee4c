package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"turnstile/bench/publish"
	"turnstile/internal/english"
	"turnstile/internal/terminal"
	"turnstile/judge/check"
	"turnstile/results"
)

// verifyPublished checks a published set, a folder or an archive, and judges the runs again whose histories
// came along. What differs decides the exit status before the verdicts of these runs.
func (a *app) verifyPublished(ctx context.Context, c *verifyCall, path string) (err error) {
	folder := path
	if publish.IsArchive(path) {
		unpacked, done, err := publish.Unpack(ctx, path)
		if err != nil {
			return failure{err, check.Violated.ExitCode()}
		}
		defer func() { err = errors.Join(err, done()) }()
		folder = unpacked
	}
	audit, err := publish.Check(ctx, folder)
	if err != nil {
		return failure{fmt.Errorf("%s cannot be checked: %w", path, err), check.Inconclusive.ExitCode()}
	}
	v, err := a.judgeSet(ctx, c, audit.Judgeable)
	if err != nil {
		return err
	}
	if len(audit.Lacking) > 0 {
		v.worst = max(v.worst, check.Inconclusive)
	}
	a.status = v.worst.ExitCode()
	if len(audit.Differences) > 0 {
		a.status = check.Violated.ExitCode()
	}
	without := len(audit.Runs) - len(audit.Judgeable) - len(audit.Lacking)
	switch {
	case c.json:
		return terminal.PrintJSON(a.stdout, map[string]any{"published": audit, "runs": v.documents,
			"not_confirmed": without})
	case c.benchmark:
		a.tellPublished(audit, path)
		return results.GoBench(a.stdout, v.rows)
	}
	if len(audit.Judgeable) > 0 {
		v.print(a, len(audit.Judgeable))
	}
	a.tellPublished(audit, path)
	for _, name := range []string{results.MatrixFile, results.SplitBrainFile, results.FailoverFile} {
		if _, err := os.Stat(filepath.Join(folder, name)); err == nil {
			fmt.Fprintf(a.stdout, "%s is about the set as a whole: its digest is all that was compared\n", name)
		}
	}
	lacking := map[string]int{}
	for _, lack := range audit.Lacking {
		lacking[lack.Why]++
	}
	for _, why := range slices.Sorted(maps.Keys(lacking)) {
		fmt.Fprintf(a.stdout, "not confirmed: this Turnstile cannot judge %s: %s\n",
			english.Count(lacking[why], "run", "runs"), why)
	}
	if without > 0 {
		fmt.Fprintf(a.stdout, "not confirmed: the histories of %s are not here, so their verdicts and figures "+
			"cannot be computed again\n", english.Count(without, "run", "runs"))
	}
	return nil
}

// tellPublished says how a published set differs from what was published, or that it does not.
func (a *app) tellPublished(audit *publish.Audit, path string) {
	out := a.stdout
	if len(audit.Differences) == 0 {
		fmt.Fprintf(out, "%s: %s as published; the tables of the set agree with those of its runs (%s)\n",
			terminal.FromHere(path), english.Count(audit.Files, "file", "files"), english.List(audit.Tables))
		return
	}
	fmt.Fprintf(out, "%s from what was published:\n", terminal.PaletteFor(out).Paint(terminal.Red,
		terminal.FromHere(path)+" DIFFERS"))
	for _, d := range audit.Differences {
		fmt.Fprintf(out, "  %v\n", d)
	}
}
