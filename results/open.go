package results

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"turnstile/internal/suggest"
)

// SetLatest points the link "latest" in root at f, which lies below it.
func SetLatest(root string, f *Folder) error {
	to, err := filepath.Rel(root, f.Path)
	if err != nil {
		return fmt.Errorf("pointing %s at %s: %w", LatestLink, f.Path, err)
	}
	// A link is replaced by renaming another over it, so that there always is one.
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

// Open finds the run that ref names: as set/run or latest below root, by its path if that is more
// than one name, or by the name of the run alone if only one set has it.
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

// pathsOf returns where what ref names may be.
func pathsOf(root, ref string) []string {
	paths := []string{filepath.Join(root, ref)}
	// A bare name is no path: "latest" in the working directory would be another.
	if bare := filepath.Base(ref) == ref && ref != "." && ref != ".."; !bare {
		paths = append(paths, ref)
	}
	return paths
}

// A Set is a folder of runs.
type Set struct {
	Path string
	Runs []*Folder // the oldest first
}

// OpenSet finds the set that ref names below root, or by its path if that is more than one name. It returns
// nil if there is no folder with runs.
func OpenSet(root, ref string) *Set {
	for _, path := range pathsOf(root, ref) {
		s, below := &Set{Path: path}, path
		if IsPublished(path) {
			below = filepath.Join(path, PublishedRuns)
		}
		inside, _ := os.ReadDir(below)
		for _, entry := range inside {
			if run := filepath.Join(below, entry.Name()); entry.IsDir() && !hidden(run) && isRun(run) {
				s.Runs = append(s.Runs, &Folder{run})
			}
		}
		if len(s.Runs) > 0 {
			return s
		}
	}
	return nil
}

// Made returns the folders in a set that say how a run was made, by name: those of its runs, and those that
// were set aside. A link is none of them, nor is what lies behind one.
func Made(root, set string) (all []*Folder) {
	if info, err := os.Lstat(filepath.Join(root, set)); err != nil || !info.IsDir() {
		return nil
	}
	inside, _ := os.ReadDir(filepath.Join(root, set))
	for _, entry := range inside {
		if run := filepath.Join(root, set, entry.Name()); entry.IsDir() && exists(filepath.Join(run, RunFile)) {
			all = append(all, &Folder{run})
		}
	}
	return all
}

// SetAside reports whether the run was set aside by Hide.
func (f *Folder) SetAside() bool { return hidden(f.Path) }

// folderAt resolves links, so that a run that was opened as latest is called by its name.
func folderAt(path string) (*Folder, error) {
	real, err := filepath.EvalSymlinks(path)
	if err == nil {
		real, err = filepath.Abs(real)
	}
	if err != nil {
		return nil, fmt.Errorf("opening run %s: %w", path, err)
	}
	return &Folder{real}, nil
}

// hidden reports whether the name of a folder begins with a dot, as those of runs that were made again do.
func hidden(path string) bool { return strings.HasPrefix(filepath.Base(path), ".") }

// isRun reports whether path is the folder of a run: it was described, or it has results.
func isRun(path string) bool {
	return exists(filepath.Join(path, RunFile)) ||
		exists(filepath.Join(path, RowsFile)) && !exists(filepath.Join(path, SetFile)) && // then it is a set
			!IsPublished(path)
}

// IsPublished reports whether path is the folder of a set that was published: its runs are one level below.
func IsPublished(path string) bool {
	return exists(filepath.Join(path, PublishedRuns)) &&
		(exists(filepath.Join(path, SumsFile)) || exists(filepath.Join(path, ReadmeFile)))
}

// CheckUnpublished returns an error if a set below root was published, so that a new run would change what
// others refer to: its runs are one level below, or its archive lies beside it, as in a clone, or it has the
// README.md that publish writes.
func CheckUnpublished(root, set string) error {
	path := filepath.Join(root, set)
	readme, _ := os.ReadFile(filepath.Join(path, ReadmeFile))
	if !IsPublished(path) && !exists(path+ArchiveSuffix) && !strings.Contains(string(readme), ReadmeBegins) {
		return nil
	}
	other := ""
	for i := 2; ; i++ {
		if other = fmt.Sprintf("%s-%d", set, i); !exists(filepath.Join(root, other)) {
			break
		}
	}
	return fmt.Errorf("%s was published, and stays as it is: say --set %s", path, other)
}

// Runs returns all runs of all sets below root, the newest first.
func Runs(root string) []*Folder {
	var runs []*Folder
	paths, _ := filepath.Glob(filepath.Join(escapeGlob(root), "*", "*"))
	for _, path := range paths {
		if set := filepath.Dir(path); filepath.Base(set) != LatestLink && !hidden(path) && isRun(path) {
			runs = append(runs, &Folder{path})
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

// escapeGlob makes a pattern that matches path alone.
func escapeGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// writtenAt returns when the record of the run was written last: at its beginning, and again at its end.
func (f *Folder) writtenAt() time.Time {
	for _, name := range []string{RunFile, RowsFile} {
		if info, err := os.Stat(f.File(name)); err == nil {
			return info.ModTime()
		}
	}
	return time.Time{}
}

// noRun says that there is no run ref, and which runs there are.
func noRun(root, ref string, runs []*Folder) error {
	if len(runs) == 0 {
		return fmt.Errorf("there is no run %q: there are no runs below %s yet", ref, root)
	}
	best := slices.MinFunc(runs, func(a, b *Folder) int { return a.distance(ref) - b.distance(ref) })
	hint := ""
	if best.distance(ref) <= len(ref)/3 {
		hint = fmt.Sprintf(" Did you mean %s?", best.Ref())
	}
	const few = 5
	return fmt.Errorf("there is no run %q below %s.%s The newest are %s",
		ref, root, hint, refs(runs[:min(few, len(runs))]))
}

// distance returns how many letters of ref must be changed for it to name f.
func (f *Folder) distance(ref string) int {
	return min(suggest.Distance(ref, f.Name()), suggest.Distance(ref, f.Ref()))
}

func refs(runs []*Folder) string {
	names := make([]string, len(runs))
	for i, f := range runs {
		names[i] = f.Ref()
	}
	return strings.Join(names, ", ")
}

// OpenTable finds the folder of a set that has its table alone, without the folders of its runs, as those
// that are kept in a repository. ref names it as it does for OpenSet. It returns nil if there is none.
func OpenTable(root, ref string) *Folder {
	for _, path := range pathsOf(root, ref) {
		if exists(filepath.Join(path, RowsFile)) && exists(filepath.Join(path, SetFile)) {
			return &Folder{path}
		}
	}
	return nil
}
