package publish

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"turnstile/results"
)

// An Audit says whether a published set is as it was published, and agrees with itself.
type Audit struct {
	Files       int                  `json:"files"` // that have a digest
	Tables      []string             `json:"tables"`
	Differences []results.Difference `json:"differences"`
	// Runs are all, and Judgeable those whose histories are all there; the others cannot be judged again.
	Runs      []*results.Folder `json:"-"`
	Judgeable []*results.Folder `json:"-"`
	// Lacking are those of which this Turnstile lacks what was run: they are as published, and no more is known.
	Lacking []Lack `json:"lacking,omitempty"`
}

// A Lack is a run of which this Turnstile lacks the algorithm.
type Lack struct {
	Run string `json:"run"`
	Why string `json:"why"`
}

// IsFolder reports whether path is the folder of a published set, even if its list of digests was removed.
func IsFolder(path string) bool {
	return results.IsPublished(path) ||
		exists(filepath.Join(path, results.PublishedRuns)) && exists(filepath.Join(path, CitationFile))
}

func (a *Audit) differ(file, what string) {
	a.Differences = append(a.Differences, results.Difference{File: file, What: what})
}

// Check checks a published set: every file against its digest, the tables of the set against those of its
// runs, and the files of each run against each other and the digests in its run.yaml. It judges nothing. An
// error says that it could not go on.
func Check(ctx context.Context, folder string) (*Audit, error) {
	a := &Audit{Differences: []results.Difference{}, Tables: []string{}}
	if known, err := readSums(filepath.Join(folder, results.SumsFile)); err == nil {
		a.Files = len(known)
	}
	var err error
	if a.Differences, err = checkSums(ctx, folder); err != nil {
		return nil, err
	}
	if _, others, err := walk(folder); err != nil || len(others) > 0 {
		return a, err // what links lead to is not read
	}
	inside, err := os.ReadDir(filepath.Join(folder, results.PublishedRuns))
	if err != nil {
		return nil, err
	}
	var readable []*source
	for _, entry := range inside {
		if !entry.IsDir() {
			continue // which has been said
		}
		run := &results.Folder{Path: filepath.Join(folder, results.PublishedRuns, entry.Name())}
		if s := a.run(folder, run); s != nil {
			readable = append(readable, s)
		}
	}
	if len(a.Runs) == 0 {
		a.differ(results.PublishedRuns, "there is no run")
	}
	for _, name := range results.SetTables {
		if err := a.table(folder, name, having(readable, name)); err != nil {
			return nil, err
		}
	}
	return a, ctx.Err()
}

// run checks a run.
func (a *Audit) run(folder string, run *results.Folder) *source {
	a.Runs = append(a.Runs, run)
	below := results.PublishedRuns + "/" + run.Name()
	s, problems, err := sourceOf(run)
	if err != nil {
		a.differ(below, inside(folder, err.Error()))
		return nil
	}
	absent := len(s.record.Trials) - len(s.histories)
	for _, problem := range problems {
		if !isAbsence(s, problem) {
			a.differ(below, inside(folder, problem))
		}
	}
	for _, d := range s.contradicts {
		d.File = below + "/" + d.File
		a.Differences = append(a.Differences, d)
	}
	if s.lacks != "" {
		a.Lacking = append(a.Lacking, Lack{run.Name(), inside(folder, s.lacks)})
	} else if absent == 0 && len(s.histories) > 0 {
		a.Judgeable = append(a.Judgeable, run)
	}
	return s
}

// isAbsence reports whether a problem is that a history is missing.
func isAbsence(s *source, problem string) bool {
	for trial := range s.record.Trials {
		if problem == filepath.Base(s.folder.HistoryFile(trial+1))+" is missing" {
			return true
		}
	}
	return false
}

// table compares a table of the set with those of its runs.
func (a *Audit) table(folder, name string, runs []*results.Folder) error {
	made, rows, err := results.Joined(name, runs)
	if err != nil {
		return err
	}
	stored, err := os.ReadFile(filepath.Join(folder, name))
	switch missing := errors.Is(err, fs.ErrNotExist); {
	case missing && rows == 0:
		return nil
	case missing:
		a.differ(name, "it is missing, and runs have such tables")
	case err != nil:
		return err
	case rows == 0:
		a.differ(name, "no run has such a table")
	default:
		a.Tables = append(a.Tables, name)
		a.Differences = append(a.Differences, results.CompareJoined(name, stored, made)...)
	}
	return nil
}

// checkSums compares the files of a folder with their digests, and names each that is missing, was changed or
// was added. Histories that the set lists without having them are none that was added.
func checkSums(ctx context.Context, folder string) ([]results.Difference, error) {
	a := &Audit{Differences: []results.Difference{}}
	known, err := readSums(filepath.Join(folder, results.SumsFile))
	if err != nil {
		known = sums{}
		a.differ(results.SumsFile, inside(folder, err.Error()))
	}
	apart, err := readSums(filepath.Join(folder, HistorySums))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		a.differ(HistorySums, inside(folder, err.Error()))
	}
	files, others, err := walk(folder)
	if err != nil {
		return nil, err
	}
	for _, other := range others {
		a.differ(other, "it is neither a file nor a folder, and is not followed")
	}
	there := map[string]bool{}
	for _, file := range slices.Concat(files, others) {
		there[file] = true
	}
	for _, file := range slices.Sorted(maps.Keys(known)) {
		if !there[file] {
			a.differ(file, "it is missing")
		}
	}
	for _, file := range files {
		want := known[file]
		if want == "" {
			want = apart[file]
		}
		switch is, err := digest(ctx, filepath.Join(folder, filepath.FromSlash(file))); {
		case file == results.SumsFile:
		case err != nil:
			return nil, err
		case want == "":
			a.differ(file, "it was added: it has no digest")
		case is != want:
			a.differ(file, "it was changed: its digest is another")
		}
	}
	return a.Differences, nil
}
