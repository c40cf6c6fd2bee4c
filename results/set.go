package results

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"turnstile/internal/input"
	"turnstile/internal/suggest"
	"turnstile/internal/yamlfile"
)

// SetFile is a file in the folder of a set that records the commands that made its runs.
const SetFile = "set.yaml"

// A Making is one command that made runs of a set.
type Making struct {
	Command  string            `yaml:"command"`
	Grid     string            `yaml:"grid,omitempty"` // the text of the grid file that the command names
	Seed     uint64            `yaml:"seed"`
	Trials   int               `yaml:"trials"` // trials of each configuration
	Cells    int               `yaml:"configurations"`
	Started  time.Time         `yaml:"started"`
	Versions map[string]string `yaml:"versions"`
	Machine  Machine           `yaml:"machine"`
}

// MakeSet makes the folder of a set, unless it exists. It returns an error if no files can be written there.
func MakeSet(root, set string) error {
	dir := filepath.Join(root, set)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return unwritable(dir, err)
	}
	return Probe(dir)
}

// LockSet locks a set, until unlock is called or the process ends, so that no other sweep makes runs of it.
// It returns an error if another process has locked the set.
func LockSet(root, set string) (unlock func() error, err error) {
	path := filepath.Join(root, set, ".lock")
	if err := MakeSet(root, set); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, unwritable(filepath.Dir(path), err)
	}
	others, err := lock(file)
	if others {
		err = fmt.Errorf("another sweep makes runs of the set %s: wait for its end, or give another --set", set)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file.Close, nil
}

// A setRecord is the content of set.yaml.
type setRecord struct {
	Format int      `yaml:"format"`
	Made   []Making `yaml:"made"` // the oldest command first
}

// setFormat is the format of set.yaml.
const setFormat = 1

// AddMaking records a command that makes runs of a set. If it is the same command as the last one, it
// continues that command, and nothing is recorded.
func AddMaking(root, set string, m Making) error {
	made, err := Makings(root, set)
	if err != nil {
		return err
	}
	if last := len(made) - 1; last >= 0 {
		same := m
		same.Started = made[last].Started
		if reflect.DeepEqual(same, made[last]) {
			return nil
		}
	}
	path := filepath.Join(root, set, SetFile)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return unwritable(filepath.Dir(path), err)
	}
	return writeFile(path, func(w io.Writer) error {
		return writeSealed(w, setRecord{Format: setFormat, Made: append(made, m)})
	})
}

// Makings returns the commands that made the runs of a set; nil if there is no record.
func Makings(root, set string) ([]Making, error) {
	path := filepath.Join(root, set, SetFile)
	b, err := input.ReadFile(path, input.RecordLimit)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var record setRecord
	if err == nil {
		err = checkFormat(b, setFormat)
	}
	if err == nil {
		b, err = unsealed(b)
	}
	if err == nil {
		err = yamlfile.Decode(b, &record)
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w; restore it, or remove it to begin a new one", path, err)
	}
	return record.Made, nil
}

// SetLatest makes the link "latest" in root point at f, a folder below root.
func SetLatest(root string, f *Folder) error {
	to, err := filepath.Rel(root, f.Path)
	if err != nil {
		return fmt.Errorf("pointing %s at %s: %w", LatestLink, f.Path, err)
	}
	// Renaming a new link over the old one ensures that there always is a link.
	fresh := filepath.Join(root, "."+LatestLink+"-"+strings.ReplaceAll(f.Ref(), "/", "-"))
	os.Remove(fresh)
	if err := os.Symlink(to, fresh); err != nil {
		return fmt.Errorf("pointing %s at %s: %w", LatestLink, to, err)
	}
	if err := os.Rename(fresh, filepath.Join(root, LatestLink)); err != nil {
		os.Remove(fresh)
		return fmt.Errorf("pointing %s at %s: %w", LatestLink, to, err)
	}
	return nil
}

// Open finds the run that ref names: below root as set/run or as latest; by a path of more than one
// component; or by the name of the run if only one set has a run of that name.
func Open(root, ref string) (*Folder, error) {
	for _, path := range pathsOf(root, ref) {
		if isRun(path) {
			return folderAt(path)
		}
	}
	runs := Runs(root)
	var named []*Folder
	for _, f := range runs {
		if f.Name() == ref {
			named = append(named, f)
		}
	}
	switch len(named) {
	case 0:
		if set := OpenSet(root, ref); set != nil {
			return nil, fmt.Errorf("%s is a set of %d runs: say which, as in %s", ref, len(set.Runs),
				set.Runs[0].Ref())
		}
		return nil, noRun(root, ref, runs)
	case 1:
		return named[0], nil
	}
	return nil, fmt.Errorf("several sets have a run %q: say which of %s", ref, refs(named))
}

// pathsOf returns the paths that ref may stand for.
func pathsOf(root, ref string) []string {
	paths := []string{filepath.Join(root, ref)}
	// A bare name is not a path: it would also find a folder "latest" in the working directory.
	if bare := filepath.Base(ref) == ref && ref != "." && ref != ".."; !bare {
		paths = append(paths, ref)
	}
	return paths
}

// A Set is a folder of runs.
type Set struct {
	Path   string
	Runs   []*Folder // the oldest run first
	Joined bool      // the set has joined tables, and no folders of runs
}

// Run returns the run of a name, or nil.
func (s *Set) Run(name string) *Folder {
	if i := slices.IndexFunc(s.Runs, func(f *Folder) bool { return f.Name() == name }); i >= 0 {
		return s.Runs[i]
	}
	return nil
}

// OpenSet finds the set that ref names below root, or by a path of more than one component. It returns nil if
// no such folder has runs.
func OpenSet(root, ref string) *Set {
	for _, path := range pathsOf(root, ref) {
		s, below := &Set{Path: path}, path
		if IsPublished(path) {
			below = filepath.Join(path, PublishedRuns)
		}
		inside, _ := os.ReadDir(below)
		for _, entry := range inside {
			if run := filepath.Join(below, entry.Name()); entry.IsDir() && !hidden(run) && isRun(run) {
				s.Runs = append(s.Runs, &Folder{Path: run})
			}
		}
		if len(s.Runs) > 0 {
			return s
		}
	}
	return nil
}

// Made returns the folders in a set that have a run.yaml, sorted by name: of its runs, and of runs that were
// set aside. It follows no links.
func Made(root, set string) (all []*Folder) {
	if info, err := os.Lstat(filepath.Join(root, set)); err != nil || !info.IsDir() {
		return nil
	}
	inside, _ := os.ReadDir(filepath.Join(root, set))
	for _, entry := range inside {
		if run := filepath.Join(root, set, entry.Name()); entry.IsDir() && exists(filepath.Join(run, RunFile)) {
			all = append(all, &Folder{Path: run})
		}
	}
	return all
}

// SetAside reports whether the run was set aside by Hide.
func (f *Folder) SetAside() bool { return hidden(f.Path) }

// folderAt returns the folder at a path. It resolves links, so that a run opened as latest has its own name.
func folderAt(path string) (*Folder, error) {
	real, err := filepath.EvalSymlinks(path)
	if err == nil {
		real, err = filepath.Abs(real)
	}
	if err != nil {
		return nil, fmt.Errorf("opening run %s: %w", path, err)
	}
	return &Folder{Path: real}, nil
}

// hidden reports whether the name of a folder begins with a dot, as Hide makes it.
func hidden(path string) bool { return strings.HasPrefix(filepath.Base(path), ".") }

// isRun reports whether path is the folder of a run, that is, whether it has a run.yaml or results.
func isRun(path string) bool {
	return exists(filepath.Join(path, RunFile)) ||
		exists(filepath.Join(path, RowsFile)) && !exists(filepath.Join(path, SetFile)) && // otherwise it is a set
			!exists(filepath.Join(path, ReadmeFile))
}

// IsPublished reports whether path is the folder of a set that was published: its runs are one level below.
func IsPublished(path string) bool {
	return exists(filepath.Join(path, PublishedRuns)) &&
		(exists(filepath.Join(path, SumsFile)) || exists(filepath.Join(path, ReadmeFile)))
}

// PublishedDir is the folder that has the published sets, below the folder of all sets.
const PublishedDir = "published"

// CheckUnpublished returns an error if a set below root was published, since a new run would change it. A set
// was published if its runs are one level below, if its archive lies beside it, as in a clone, or if it has
// the README.md that publish writes.
func CheckUnpublished(root, set string) error {
	path := filepath.Join(root, set)
	switch full, err := filepath.Abs(root); {
	case set == PublishedDir:
		return fmt.Errorf("%s has published sets alone: choose another name with --set", path)
	case err == nil && filepath.Base(full) == PublishedDir && exists(full):
		return fmt.Errorf("%s has published sets alone: name another folder with --results", root)
	}
	readme, _ := input.ReadFile(filepath.Join(path, ReadmeFile), input.Limit)
	if !IsPublished(path) && !exists(path+ArchiveSuffix) && !strings.Contains(string(readme), ReadmeBegins) {
		return nil
	}
	return fmt.Errorf("%s was published, and stays as it is: say --set %s", path, unused(root, set))
}

// unused returns a name that is like the name of a set, and which no set below root has.
func unused(root, set string) string {
	for i := 2; ; i++ {
		if other := fmt.Sprintf("%s-%d", set, i); !exists(filepath.Join(root, other)) {
			return other
		}
	}
}

// Runs returns all runs of all sets below root, the newest first.
func Runs(root string) []*Folder {
	var runs []*Folder
	paths, _ := filepath.Glob(filepath.Join(escapeGlob(root), "*", "*"))
	for _, path := range paths {
		set := filepath.Base(filepath.Dir(path))
		if set != LatestLink && set != PublishedDir && !hidden(path) && isRun(path) {
			runs = append(runs, &Folder{Path: path})
		}
	}
	slices.SortStableFunc(runs, func(a, b *Folder) int {
		if c := b.writtenAt().Compare(a.writtenAt()); c != 0 {
			return c
		}
		return strings.Compare(b.Name(), a.Name())
	})
	return runs
}

// escapeGlob returns a glob pattern that matches only path.
func escapeGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// writtenAt returns when the record of the run was last written: at its beginning, or again at its end.
func (f *Folder) writtenAt() time.Time {
	for _, name := range []string{RunFile, RowsFile} {
		if info, err := os.Stat(f.File(name)); err == nil {
			return info.ModTime()
		}
	}
	return time.Time{}
}

// noRun returns the error about an unknown run, which names a similar run or set, and recent runs.
func noRun(root, ref string, runs []*Folder) error {
	switch {
	case strings.HasSuffix(ref, ArchiveSuffix) && !exists(ref) && !exists(filepath.Join(root, ref)):
		return fmt.Errorf("there is no archive %s", ref)
	case len(runs) == 0:
		return fmt.Errorf("there is no run %q: there are no runs below %s yet", ref, root)
	}
	hint, nearest := "", len(ref)/3+1
	for _, f := range runs {
		set, _, _ := strings.Cut(f.Ref(), "/")
		for _, like := range []struct{ name, meant string }{{f.Ref(), f.Ref()}, {f.Name(), f.Ref()},
			{set, "the set " + set}} {
			if d := suggest.Distance(ref, like.name); d < nearest {
				hint, nearest = fmt.Sprintf(" Did you mean %s?", like.meant), d
			}
		}
	}
	const few = 5
	return fmt.Errorf("there is no run %q below %s.%s The newest are %s",
		ref, root, hint, refs(runs[:min(few, len(runs))]))
}

func refs(runs []*Folder) string {
	names := make([]string, len(runs))
	for i, f := range runs {
		names[i] = f.Ref()
	}
	return strings.Join(names, ", ")
}

// SetTables are the names of the tables of runs that can be joined over a set.
var SetTables = []string{RowsFile, MessagesFile, SizesFile, ResourcesFile, FaultsFile, TimelineFile,
	BeliefsFile}

// StudyTables are the names of the tables that studies write for a set. Single runs do not have them.
var StudyTables = []string{MatrixFile, SplitBrainFile, FailoverFile}

// A grid is a table as it is in its file: a line of headers, and lines with the same number of cells.
type grid struct {
	folder *Folder
	lines  [][]string
}

// readGrid reads a table of a run without interpreting its columns; nil: the run has no such table.
func readGrid(f *Folder, name string) (*grid, error) {
	if !f.has(name) {
		return nil, nil
	}
	text, is := f.Text(name)
	if !is {
		return nil, fmt.Errorf("reading results: %s cannot be read", f.File(name))
	}
	lines, err := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(text, []byte("\ufeff")))).ReadAll()
	switch {
	case err != nil:
		return nil, tableError(name, err)
	case len(lines) == 0:
		return nil, &cellError{File: name, Line: 1, What: "the file is empty: it lacks even its headers"}
	case !slices.Contains(lines[0], "run"):
		return nil, &cellError{File: name, Line: 1, What: "the column run is missing"}
	}
	return &grid{f, lines}, nil
}

// Joined returns a table of several runs as one table: the rows of one run after the other, with unchanged
// cells except in the column run, which has the name of the folder. The table has each column that any of the
// runs has. Without rows Joined returns nil. It gives up when the context ends.
func Joined(ctx context.Context, name string, runs []*Folder) ([]byte, error) {
	var all []*grid
	var headers []string
	for _, f := range runs {
		g, err := readGrid(f, name)
		if err := cmp.Or(err, ctx.Err()); err != nil {
			return nil, err
		}
		if g != nil {
			all, headers = append(all, g), united(headers, g.lines[0])
		}
	}
	if at := slices.Index(headers, BoundsColumn); at >= 0 { // the last column, as in the tables of runs
		headers = append(slices.Delete(headers, at, at+1), BoundsColumn)
	}
	rows := 0
	var b bytes.Buffer
	out := csv.NewWriter(&b)
	out.Write(headers) // out keeps the first error; writing to memory does not fail
	for _, g := range all {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		for _, line := range g.lines[1:] {
			record := make([]string, len(headers))
			for i, cell := range line {
				if g.lines[0][i] == "run" {
					cell = g.folder.Name() // the folder may have been renamed
				}
				record[slices.Index(headers, g.lines[0][i])] = cell
			}
			out.Write(record)
			rows++
		}
	}
	if out.Flush(); rows == 0 {
		return nil, nil
	}
	return b.Bytes(), out.Error()
}

// united adds the headers in more that headers lacks, each after the header that it follows in more.
func united(headers, more []string) []string {
	at := 0
	for _, h := range more {
		if i := slices.Index(headers, h); i >= 0 {
			at = i + 1
			continue
		}
		headers = slices.Insert(headers, at, h)
		at++
	}
	return headers
}

// CompareJoined returns where a stored table of a set differs from the table made from its runs.
func CompareJoined(name string, stored, made []byte) []Difference {
	d := &differing{file: name}
	header := headerOf(made)
	was, is := strings.Split(string(stored), "\n"), strings.Split(string(made), "\n")
	if len(was) != len(is) {
		d.add(Difference{What: fmt.Sprintf("it has %d lines, and its runs give %d", len(was)-1, len(is)-1)})
	}
	for i := range min(len(was), len(is)) {
		if was[i] == is[i] {
			continue
		}
		one := Difference{Line: i + 1, What: fmt.Sprintf("it says %s, and its run %s", shortened(was[i]),
			shortened(is[i]))}
		had, has := cellsOf(was[i]), cellsOf(is[i])
		for at, column := range header {
			if len(had) == len(header) && len(has) == len(header) && had[at] != has[at] {
				one.Column = column
				one.What = fmt.Sprintf("%s: it says %s, and its run %s", column, shortened(had[at]),
					shortened(has[at]))
				break
			}
		}
		d.add(one)
	}
	return d.list()
}

// cellsOf returns the cells of a line of a table; nil: the line cannot be parsed.
func cellsOf(line string) []string {
	cells, err := csv.NewReader(strings.NewReader(line)).Read()
	if err != nil && err != io.EOF {
		return nil
	}
	return cells
}
