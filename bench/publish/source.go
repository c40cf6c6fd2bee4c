package publish

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"turnstile/bench"
	"turnstile/results"
)

// A source is a run of a set, as far as it can be published.
type source struct {
	folder    *results.Folder
	record    *bench.Record
	tables    []string // of results.SetTables: those that are joined
	histories []string // names of files
	// contradicts are places where its files contradict each other.
	contradicts []results.Difference
	lacks       string // why this Turnstile cannot judge it, whose algorithm it lacks; empty: it does not
}

// sourceOf reads a run. An error says why it cannot be published; problems are what cannot be read of it.
func sourceOf(folder *results.Folder) (s *source, problems []string, err error) {
	record, err := bench.ReadRecord(folder)
	switch {
	case err != nil:
		return nil, nil, err
	case record.Unfinished():
		return nil, nil, fmt.Errorf("it is %s", results.UnfinishedSays)
	case strings.ContainsAny(folder.Name(), "\\\n\r"):
		return nil, nil, errors.New("its name cannot stand in a list of digests: rename its folder")
	}
	s = &source{folder: folder, record: record}
	changed := record.Changed(folder)
	for _, name := range changed {
		says := "was changed after it was written"
		if _, err := os.Lstat(folder.File(name)); errors.Is(err, fs.ErrNotExist) {
			says = "is missing"
		}
		problems = append(problems, name+" "+says)
	}
	for _, name := range results.SetTables {
		if _, err := os.Lstat(folder.File(name)); err != nil || slices.Contains(changed, name) {
			continue
		}
		if err := folder.CheckTable(name); err != nil {
			problems = append(problems, err.Error())
			continue
		}
		s.tables = append(s.tables, name)
	}
	summary, err := bench.ReadSummary(folder)
	if err == nil {
		s.contradicts, err = summary.Contradictions()
	}
	if errors.As(err, new(bench.LackError)) {
		s.lacks = err.Error()
	} else if err != nil && len(problems) == 0 {
		problems = append(problems, err.Error())
	}
	for trial := range record.Trials {
		path := folder.HistoryFile(trial + 1)
		if isFile(path) {
			s.histories = append(s.histories, filepath.Base(path))
		} else {
			problems = append(problems, filepath.Base(path)+" is missing")
		}
	}
	return s, problems, nil
}

// files returns the names of the files of the run that are published, histories left aside.
func (s *source) files() (names []string) {
	known := append(slices.Clone(results.SetTables), results.RunFile, results.LatencyLog, results.LatencyProfile,
		results.VerdictFile, "verdict.txt", results.LedgerFile)
	known = slices.AppendSeq(known, maps.Keys(s.record.Digests))
	slices.Sort(known)
	for _, name := range slices.Compact(known) {
		if name == filepath.Base(name) && !strings.HasPrefix(name, ".") && isFile(s.folder.File(name)) {
			names = append(names, name)
		}
	}
	return names
}

// isFile reports whether there is a regular file at a path, and no link.
func isFile(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular()
}

// having returns the folders of those runs of which a table is joined.
func having(all []*source, table string) (folders []*results.Folder) {
	for _, s := range all {
		if slices.Contains(s.tables, table) {
			folders = append(folders, s.folder)
		}
	}
	return folders
}

// inside makes the paths in a text those below a folder.
func inside(folder, text string) string {
	return strings.NewReplacer("\n", "; ", folder+string(filepath.Separator), "").Replace(text)
}
