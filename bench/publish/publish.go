package publish

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"turnstile/bench"
	"turnstile/bench/page"
	"turnstile/results"
)

// The files of a published set beside those that package results names.
const (
	ReadmeFile   = results.ReadmeFile
	CitationFile = "CITATION.cff"
	// HistorySums has the digests of histories that do not come along, as SHA256SUMS has them.
	HistorySums = "HISTORIES.sha256"
	PlansDir    = "plans"
)

// Options say what is published where.
type Options struct {
	Name      string // of the set
	To        string // the folder to be made; the archive is beside it
	Histories bool   // they come along
	Force     bool   // a published set that is there is replaced
}

// A Published is what was made.
type Published struct {
	Folder, Archive string
	Runs            int
	Files           int
	Bytes           int64 // of the archive
	Same            bool  // it was there, with the same content
	// LeftOut is what could not be read, and so is missing.
	LeftOut []string
	// Warnings name what should perhaps not be given away, and what the set does not say.
	Warnings []string
}

// elsewhere keeps the published folder as it is when a run in it is made again.
const elsewhere = " --results ../again"

// ErrNothing says that no run of a set can be published.
var ErrNothing = errors.New("none of its runs can be read, so there is nothing to publish")

// A TakenError says that something is where the folder or the archive should be, and is not replaced.
type TakenError struct{ error }

// taken returns such an error.
func taken(format string, args ...any) error { return TakenError{fmt.Errorf(format, args...)} }

// A maker makes the folder.
type maker struct {
	*Published
	Options
	set     *results.Set
	runs    []*source
	made    []results.Making
	folder  string // where it is made
	tables  map[string]int
	sums    sums
	history sums
	last    time.Time // when the newest run began
}

// Make publishes a set, or those of its runs that the set lists: the folder o.To and its archive. Both get
// their names when they are whole. What is there already is replaced only if o.Force says so, and if it is a
// published set.
func Make(ctx context.Context, set *results.Set, o Options) (*Published, error) {
	o.To = filepath.Clean(o.To)
	m := &maker{Published: &Published{Folder: o.To, Archive: o.To + results.ArchiveSuffix}, Options: o, set: set,
		tables: map[string]int{}, sums: sums{}, history: sums{}}
	if err := m.read(); err != nil {
		return m.Published, err
	}
	parent, base := filepath.Split(o.To)
	if err := os.MkdirAll(filepath.Join(parent, "."), 0o755); err != nil {
		return m.Published, err
	}
	scratch, err := os.MkdirTemp(filepath.Join(parent, "."), "."+base+"-")
	if err != nil {
		return m.Published, err
	}
	defer os.RemoveAll(scratch)
	m.folder = filepath.Join(scratch, base)
	if err := m.fill(ctx); err != nil {
		return m.Published, err
	}
	packed := filepath.Join(scratch, base+results.ArchiveSuffix)
	files := slices.Collect(maps.Keys(m.sums))
	m.Files = len(files)
	err = writeTo(packed, func(w io.Writer) error {
		return archive(ctx, w, m.folder, base, append(files, results.SumsFile), m.last)
	})
	if err != nil {
		return m.Published, err
	}
	return m.Published, m.place(ctx, scratch, packed)
}

// read reads the runs, and by what they were made.
func (m *maker) read() error {
	for _, folder := range m.set.Runs {
		s, problems, err := sourceOf(folder)
		if err != nil {
			m.LeftOut = append(m.LeftOut, folder.Name()+": "+inside(m.set.Path, err.Error()))
			continue
		}
		if s.lacks != "" {
			problems = append(problems, s.lacks)
		}
		for _, problem := range problems {
			m.LeftOut = append(m.LeftOut, folder.Name()+": "+inside(m.set.Path, problem))
		}
		m.runs = append(m.runs, s)
		if s.record.Started.After(m.last) {
			m.last = s.record.Started
		}
	}
	if len(having(m.runs, results.RowsFile)) == 0 {
		return ErrNothing
	}
	m.Runs = len(m.runs)
	if _, err := os.Lstat(filepath.Join(m.set.Path, results.SetFile)); err != nil {
		return nil
	}
	var err error
	m.made, err = results.Makings(filepath.Dir(m.set.Path), filepath.Base(m.set.Path))
	if err != nil {
		m.LeftOut = append(m.LeftOut, inside(m.set.Path, err.Error()))
	}
	return nil
}

// fill writes the files into the folder.
func (m *maker) fill(ctx context.Context) error {
	if err := os.MkdirAll(filepath.Join(m.folder, results.PublishedRuns), 0o755); err != nil {
		return err
	}
	for _, step := range []func(context.Context) error{m.copyRuns, m.joinTables, m.describeSet, m.writePlans,
		m.report} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	if len(m.history) > 0 {
		if err := m.write(HistorySums, m.history.text()); err != nil {
			return err
		}
	}
	err := errors.Join(m.write(CitationFile, m.citation()), m.write(ReadmeFile, m.readme()))
	if err != nil {
		return err
	}
	files, _, err := walk(m.folder)
	if err != nil {
		return err
	}
	m.Warnings = append(m.Warnings, privateIn(m.folder, files)...)
	for _, file := range files {
		if m.sums[file], err = digest(ctx, filepath.Join(m.folder, filepath.FromSlash(file))); err != nil {
			return err
		}
	}
	return m.write(results.SumsFile, m.sums.text())
}

// copyRuns copies the files of the runs, and notes the digests of histories that do not come along.
func (m *maker) copyRuns(ctx context.Context) error {
	for _, s := range m.runs {
		below := filepath.Join(m.folder, results.PublishedRuns, s.folder.Name())
		if err := os.Mkdir(below, 0o755); err != nil {
			return err
		}
		names := s.files()
		if m.Histories {
			names = append(names, s.histories...)
		} else {
			for _, name := range s.histories {
				sum, err := digest(ctx, s.folder.File(name))
				if err != nil {
					return err
				}
				m.history[results.PublishedRuns+"/"+s.folder.Name()+"/"+name] = sum
			}
		}
		for _, name := range names {
			if err := copyFile(ctx, s.folder.File(name), filepath.Join(below, name)); err != nil {
				return err
			}
		}
	}
	return nil
}

// joinTables writes the tables of the set.
func (m *maker) joinTables(ctx context.Context) error {
	for _, name := range results.SetTables {
		text, rows, err := results.Joined(name, having(m.runs, name))
		if err == nil && rows > 0 {
			m.tables[name] = rows
			err = m.write(name, string(text))
		}
		if err != nil {
			return err
		}
	}
	for _, name := range results.StudyTables {
		if from := filepath.Join(m.set.Path, name); isFile(from) {
			if err := copyFile(ctx, from, filepath.Join(m.folder, name)); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}

// describeSet writes by which commands the set was made, and the files that these name.
func (m *maker) describeSet(context.Context) error {
	for i := range m.made {
		grid := ""
		if m.made[i].Grid != "" {
			grid = "sweep.yaml"
			if i > 0 {
				grid = fmt.Sprintf("sweep-%d.yaml", i+1)
			}
			if err := m.write(grid, m.made[i].Grid); err != nil {
				return err
			}
		}
		m.made[i] = anonymous(m.made[i], grid)
	}
	if len(m.made) == 0 {
		return nil
	}
	return results.WriteMakings(filepath.Join(m.folder, results.SetFile), m.made)
}

// report writes the page of the set. Its commands are those of a reader who is in the folder.
func (m *maker) report(context.Context) error {
	set := &results.Set{Path: m.folder}
	for _, s := range m.runs {
		set.Runs = append(set.Runs,
			&results.Folder{Path: filepath.Join(m.folder, results.PublishedRuns, s.folder.Name())})
	}
	p, err := page.Make(set, m.Name, page.Calls{Command: bench.Program + " report . --out FOLDER",
		OnePicture: bench.Program + " report . --out FILE.svg --picture",
		Program:    bench.Program, Runs: results.PublishedRuns, Flags: elsewhere})
	if errors.Is(err, page.ErrNoTrials) {
		m.LeftOut = append(m.LeftOut, "the report: "+err.Error())
		return nil
	}
	if err != nil {
		return err
	}
	return p.Write(m.folder)
}

// place gives the folder and the archive their names.
func (m *maker) place(ctx context.Context, scratch, packed string) error {
	same, err := m.sameFolder(ctx)
	if err != nil {
		return err
	}
	packedToo, err := sameFile(ctx, m.Archive, packed)
	if err != nil {
		return err
	}
	if exists(m.Archive) && !packedToo && !m.Force {
		return taken("%s is there, with other content: name another folder with --to, or replace it with --force",
			m.Archive)
	}
	if m.Same = same && packedToo; !same {
		if exists(m.Folder) {
			if err := os.Rename(m.Folder, filepath.Join(scratch, "before")); err != nil {
				return err
			}
		}
		if err := os.Rename(m.folder, m.Folder); err != nil {
			return errors.Join(err, os.Rename(filepath.Join(scratch, "before"), m.Folder)) // if there was one
		}
	}
	if !packedToo {
		if err := os.Rename(packed, m.Archive); err != nil {
			return err
		}
	}
	info, err := os.Stat(m.Archive)
	if err == nil {
		m.Bytes = info.Size()
	}
	return err
}

// sameFolder reports whether the folder is there with the same content. It is an error if it is there with
// other content, and may not be replaced.
func (m *maker) sameFolder(ctx context.Context) (bool, error) {
	switch info, err := os.Lstat(m.Folder); {
	case errors.Is(err, os.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	case !info.IsDir():
		return false, taken("%s is in the way: name another folder with --to", m.Folder)
	case !IsFolder(m.Folder):
		return false, taken("%s is there, and is no published set, so it is not replaced: name another folder "+
			"with --to", m.Folder)
	}
	same, err := sameFile(ctx, filepath.Join(m.Folder, results.SumsFile),
		filepath.Join(m.folder, results.SumsFile))
	if err != nil {
		return false, err
	}
	if same {
		differences, err := checkSums(ctx, m.Folder)
		if err != nil || len(differences) == 0 {
			return err == nil, err
		}
	}
	if !m.Force {
		return false, taken("%s is there, with other content: name another folder with --to, or replace it with "+
			"--force", m.Folder)
	}
	return false, nil
}

// write writes a text to a file of the folder.
func (m *maker) write(name, text string) error {
	return writeTo(filepath.Join(m.folder, filepath.FromSlash(name)), func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
}

// writeTo makes a file, which is on the disk when writeTo returns.
func writeTo(path string, write func(io.Writer) error) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return results.WriteFile(path, write)
}

// copyFile copies a file.
func copyFile(ctx context.Context, from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	return writeTo(to, func(w io.Writer) error {
		_, err := io.Copy(w, until{ctx, in})
		return err
	})
}

// sameFile reports whether two files have the same content; not if the first is missing.
func sameFile(ctx context.Context, a, b string) (bool, error) {
	if !exists(a) {
		return false, nil
	}
	was, err := digest(ctx, a)
	if err != nil {
		return false, err
	}
	is, err := digest(ctx, b)
	return was == is, err
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
