package publish

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"turnstile/algorithms/catalog"
	"turnstile/bench/runs"
	"turnstile/internal/english"
	"turnstile/internal/input"
	"turnstile/results"
)

// tablesReadme has the name of a set, what its tables are of, the version, the commands that made it,
// and which runs lack their beliefs.
const tablesReadme = "# %s\n" + results.ReadmeBegins +
	`a benchmark and fault-injection testbed for distributed
mutual exclusion and leader election: %s, by version
%s. docs/sets.md explains the files; large tables are compressed.%s %s
This checks the tables, the grid and the report; --again makes simulated runs again from their seeds:

	orchestrator verify .
	orchestrator verify . --again --sample 20
%s
License: Apache-2.0, as Turnstile, https://www.apache.org/licenses/LICENSE-2.0
`

// mostBeliefs is how many rows of beliefs.csv the tables of a set have of one run. A run with more, such as
// one of a scheme that elects without end, has none.
const mostBeliefs = 2000

// MakeTables makes a folder named by to, which must not exist, with the joined tables of a set and the
// commands that made it.
func MakeTables(ctx context.Context, set *results.Set, to string, sources map[string][]byte) error {
	if err := cmp.Or(os.MkdirAll(filepath.Dir(to), 0o755), os.Mkdir(to, 0o755)); err != nil {
		return err
	}
	for _, table := range results.SetTables {
		of := set.Runs
		switch table {
		case results.TimelineFile: // large, and of use beside histories
			continue
		case results.BeliefsFile:
			of = slices.DeleteFunc(slices.Clone(of), func(f *results.Folder) bool {
				all, err := f.Beliefs()
				return err == nil && len(all) > mostBeliefs
			})
		}
		text, err := results.Joined(ctx, table, of)
		if err == nil && text != nil {
			err = results.WriteJoined(to, table, text)
		}
		if err != nil {
			return err
		}
	}
	if stored, err := filepath.Glob(filepath.Join(set.Path, sourceDir, "*")); err == nil && set.Joined {
		sources = map[string][]byte{}
		for _, path := range stored {
			if sources[filepath.Base(path)], err = input.ReadFile(path, input.Limit); err != nil {
				return err
			}
		}
	}
	for name, text := range sources {
		if err := write(filepath.Join(to, sourceDir, name), text); err != nil {
			return err
		}
	}
	for _, name := range append(slices.Clone(results.StudyTables), results.SetFile) {
		text, err := results.TableIn(set.Path, name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err == nil && name == results.SetFile: // never compressed
			err = write(filepath.Join(to, name), text)
		case err == nil:
			err = results.WriteJoined(to, name, text)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// NameOf returns the name of a set with joined tables: that in its README.md, since the folder may have been
// renamed, or else that of the folder.
func NameOf(set *results.Set) string {
	text, _ := input.ReadFile(filepath.Join(set.Path, results.ReadmeFile), input.Limit)
	first, _, _ := strings.Cut(string(text), "\n")
	if name, is := strings.CutPrefix(first, "# "); is && name != "" {
		return name
	}
	return filepath.Base(set.Path)
}

// Readme returns the README.md of a set with joined tables.
func Readme(set *results.Set) (string, error) {
	made, err := results.Makings(filepath.Dir(set.Path), filepath.Base(set.Path))
	if err != nil {
		return "", err
	}
	var commands, versions []string
	for _, m := range made {
		commands = append(commands, "\t"+m.Command+"\n")
		versions = append(versions, cmp.Or(m.Versions["revision"], m.Versions["turnstile"], "unknown"))
	}
	trials := 0
	known := len(versions) > 0
	for _, f := range set.Runs {
		rows, err := f.Rows()
		if err != nil {
			return "", err
		}
		trials += len(rows)
		for i := range rows {
			if !known {
				versions = append(versions, rows[i].Version)
			}
		}
	}
	left := ""
	if lacking := withoutBeliefs(set); len(lacking) > 0 {
		left = "\nThe beliefs of these runs changed too often to be listed: " + english.List(lacking) + ".\n"
	}
	of := "the table of a study, whose runs are not stored"
	if trials > 0 {
		of = fmt.Sprintf("the tables of %s with %s", english.Count(len(set.Runs), "run", "runs"),
			english.Count(trials, "trial", "trials"))
	}
	sources, _ := filepath.Glob(filepath.Join(set.Path, sourceDir, "*"))
	by := "It is not on record which commands made the runs."
	if known {
		by = "These commands made the runs:\n\n" + strings.Join(distinct(commands), "")
	}
	return fmt.Sprintf(tablesReadme, NameOf(set), of, strings.Join(distinct(versions), ", "),
		ofModule(set, len(sources)), by, left), nil
}

// withoutBeliefs returns the names of the runs whose beliefs are not in the tables, although they are about
// leaders: beliefs.csv has others.
func withoutBeliefs(set *results.Set) (names []string) {
	some := false
	for _, f := range set.Runs {
		all, err := f.Beliefs()
		if err == nil && all == nil && aboutLeaders(f) {
			names = append(names, f.Name())
		}
		some = some || all != nil
	}
	if !some {
		return nil
	}
	return names
}

// aboutLeaders reports whether a trial of the run has figures of leaders.
func aboutLeaders(f *results.Folder) bool {
	rows, _ := f.Rows()
	return slices.ContainsFunc(rows, func(r results.Row) bool { return r.LeaderlessUS.Known() })
}

// distinct returns words in their order, each once.
func distinct(words []string) (all []string) {
	for _, word := range words {
		if !slices.Contains(all, word) {
			all = append(all, word)
		}
	}
	return all
}

// CheckTables compares the joined tables of a set with each other.
func CheckTables(ctx context.Context, known catalog.Table, set *results.Set) (*Audit, error) {
	a := &Audit{Differences: []results.Difference{}, Lacking: map[string]int{}, Without: len(set.Runs)}
	for _, run := range set.Runs {
		if ctx.Err() != nil {
			return a, ctx.Err()
		}
		all, err := runs.JoinedContradictions(known, run)
		if err != nil {
			a.differ(run.Name(), err.Error())
		}
		for _, d := range all {
			d.File = run.Name() + ", " + d.File
			a.Differences = append(a.Differences, d)
		}
	}
	return a, cmp.Or(a.studies(set), ctx.Err())
}

// studies compares the tables of studies with the runs that they name, and with themselves.
func (a *Audit) studies(set *results.Set) error {
	rows := map[string]*results.Row{}
	for _, f := range set.Runs {
		if its, err := f.Rows(); err == nil && len(its) == 1 {
			rows[f.Name()] = &its[0]
		}
	}
	for _, table := range results.StudyTables {
		named, err := set.RunsNamedIn(table)
		if err != nil {
			return err
		}
		for line, ref := range named {
			if _, name, _ := strings.Cut(ref, "/"); name != "" && set.Run(name) == nil {
				a.Differences = append(a.Differences, results.Difference{File: table, Line: line,
					What: fmt.Sprintf("it names the run %s, which %s lacks", ref, results.RowsFile)})
			}
		}
	}
	return cmp.Or(a.partitions(set, rows), a.cells(set))
}

// partitions compares the rows of split-brain.csv with those of their runs.
func (a *Audit) partitions(set *results.Set, rows map[string]*results.Row) error {
	if _, err := results.TableIn(set.Path, results.SplitBrainFile); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	all, err := set.SplitBrain()
	for i := range all {
		r := &all[i]
		_, name, _ := strings.Cut(r.Run, "/")
		of := rows[name]
		if of == nil {
			continue // there is no such run, which was told of, or it has several trials
		}
		leaders, _ := of.TwoLeadersUS.Value()
		said, _ := r.TwoLeadersS.Value()
		is := []any{r.Algorithm, r.Nodes, r.Kind, r.Verdict, r.Messages.String()}
		should := []any{of.Algorithm, of.Nodes, of.Kind, of.Verdict, of.Messages.String()}
		const rounded = 1 // microsecond: the two tables round to different units
		if !slices.Equal(is, should) || math.Abs(said*1e6-leaders) > rounded {
			a.Differences = append(a.Differences, results.Difference{File: results.SplitBrainFile, Line: i + 2,
				What: fmt.Sprintf("it says %v and two leaders for %v s, and its run in %s %v and %v s", is, said,
					results.RowsFile, should, leaders/1e6)})
		}
	}
	return err
}

// cells compares the counts of outcomes in each row of matrix.csv with its number of runs.
func (a *Audit) cells(set *results.Set) error {
	if !set.HasMatrix() {
		return nil
	}
	all, err := set.Matrix()
	for i := range all {
		r := &all[i]
		if n := r.Recovered + r.Starved + r.Blocked + r.Broke + r.Unhit + r.Inconclusive; n != r.Runs {
			a.Differences = append(a.Differences, results.Difference{File: results.MatrixFile, Line: i + 2,
				What: fmt.Sprintf("runs is %d, and its outcomes are of %d", r.Runs, n)})
		}
	}
	return err
}
