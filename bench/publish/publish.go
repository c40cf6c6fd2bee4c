// Package publish prepares result sets for publication: [Make] makes a folder of a set, with the digests of
// its files, and an archive of the folder; [Check] reports whether such a folder is complete and consistent.
package publish

import (
	"archive/tar"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"turnstile/algorithms/catalog"
	"turnstile/bench/runs"
	"turnstile/internal/disk"
	"turnstile/internal/input"
	"turnstile/results"
)

const readme = "# %s\n" + results.ReadmeBegins + `a benchmark and fault-injection testbed for distributed
mutual exclusion and leader election: %d of them in runs/, and their tables, joined. docs/sets.md and
docs/columns.md explain the files. At the commit that each run.yaml names, Turnstile makes the runs again.

	sha256sum -c SHA256SUMS
	orchestrator verify .
	for run in runs/*; do orchestrator rerun "$run" --results ../again; done
License: Apache-2.0, as Turnstile, https://www.apache.org/licenses/LICENSE-2.0
`

// private matches a credential in a URL, and a command with an absolute path.
var private = regexp.MustCompile(`://[^\s/]*@|\b(command|foreign): (.*[\s"'=])?/`)

// Make publishes a set: it makes a folder named by to, which must not exist, and an archive next to it. It
// returns an error if a file has private contents, or if [Check] finds a difference.
func Make(ctx context.Context, known catalog.Table, set *results.Set, to string, histories bool) error {
	if err := cmp.Or(os.MkdirAll(filepath.Dir(to), 0o755), os.Mkdir(to, 0o755)); err != nil {
		return err
	}
	archive := to + results.ArchiveSuffix
	err := results.WriteFile(archive, func(w io.Writer) error { return fill(ctx, w, set, to, histories) })
	if err == nil {
		var a *Audit
		if a, err = Check(ctx, known, to); err == nil && len(a.Differences) > 0 {
			err = fmt.Errorf("the set cannot be published: %v", a.Differences[0])
		}
	}
	if err != nil {
		err = errors.Join(err, os.RemoveAll(to), os.RemoveAll(archive))
	}
	return err
}

// fill writes the files of a set into a folder and, as an archive, to w.
func fill(ctx context.Context, w io.Writer, set *results.Set, to string, histories bool) (failed error) {
	packed, sums := gzip.NewWriter(w), strings.Builder{}
	out := tar.NewWriter(packed)
	add := func(name string, text []byte, err error) {
		if failed = cmp.Or(failed, err, ctx.Err()); failed != nil || text == nil {
			return
		}
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(text), name)
		header := &tar.Header{Name: filepath.Base(to) + "/" + name, Size: int64(len(text)), Mode: 0o644}
		if failed = cmp.Or(write(filepath.Join(to, name), text), out.WriteHeader(header)); failed == nil {
			_, failed = out.Write(text)
		}
	}
	addAll := func(from, below string, patterns ...string) {
		for _, pattern := range patterns {
			names, _ := fs.Glob(os.DirFS(from), pattern) // all patterns are well-formed
			for _, name := range names {
				text, err := input.ReadFile(filepath.Join(from, name), input.TableLimit)
				if filepath.Ext(name) == ".yaml" && private.Match(text) {
					err = fmt.Errorf("%s has a credential, or a command with a path of this machine", below+name)
				}
				add(below+name, text, err)
			}
		}
	}
	for _, run := range set.Runs {
		below := results.PublishedRuns + "/" + run.Name() + "/"
		addAll(run.Path, below, "*.yaml", "*.csv", "*.svg", "*.txt", "latency.*")
		if histories {
			addAll(run.Path, below, "history-*.zst")
		}
	}
	for _, table := range results.SetTables {
		text, _ := results.Joined(table, set.Runs) // Check names the run whose table cannot be read
		add(table, text, nil)
	}
	addAll(set.Path, "", append(results.StudyTables, results.SetFile, "report.*", "report/*")...)
	add(results.ReadmeFile, fmt.Appendf(nil, readme, filepath.Base(to), len(set.Runs)), nil)
	add(results.SumsFile, []byte(sums.String()), nil)
	return cmp.Or(failed, out.Close(), packed.Close())
}

// write makes a file, and the folders above it.
func write(path string, text []byte) error {
	return cmp.Or(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, text, 0o644))
}

// An Audit lists where a published set was changed, or contradicts itself.
type Audit struct {
	Differences []results.Difference `json:"differences"`
	Lacking     map[string]int       `json:"lacking,omitempty"` // counts of runs that cannot be read, by reason
	Judgeable   []*results.Folder    `json:"-"`                 // readable runs that have histories
	Without     int                  `json:"-"`                 // how many readable runs have no histories
}

func (a *Audit) differ(file, what string) {
	a.Differences = append(a.Differences, results.Difference{File: file, What: what})
}

// Check compares the files of a published set with their digests. If all agree, it compares the tables of the
// set with the tables of its runs, and the files of each run with each other. It judges no run. It returns an
// error if it cannot go on.
func Check(ctx context.Context, known catalog.Table, folder string) (*Audit, error) {
	a := &Audit{Differences: []results.Difference{}, Lacking: map[string]int{}}
	if err := a.sums(ctx, folder); err != nil || len(a.Differences) > 0 {
		return a, err
	}
	set := cmp.Or(results.OpenSet(folder, "."), &results.Set{})
	for _, run := range set.Runs {
		var all []results.Difference
		s, err := runs.ReadSummary(known, run)
		if err == nil {
			all, err = s.Contradictions()
		}
		below, lack := results.PublishedRuns+"/"+run.Name(), results.LackError{}
		switch {
		case errors.As(err, &lack):
			a.Lacking[lack.Error()]++
		case err != nil:
			a.differ(below, err.Error())
		case len(run.Histories()) > 0:
			a.Judgeable = append(a.Judgeable, run)
		default:
			a.Without++
		}
		for _, d := range all {
			d.File = below + "/" + d.File
			a.Differences = append(a.Differences, d)
		}
	}
	for _, name := range results.SetTables {
		// Most sets lack some of these tables.
		stored, _ := input.ReadFile(filepath.Join(folder, name), input.TableLimit)
		made, err := results.Joined(name, set.Runs)
		if err != nil {
			a.differ(name, err.Error())
		}
		a.Differences = append(a.Differences, results.CompareJoined(name, stored, made)...)
	}
	return a, ctx.Err()
}

// sums compares the files below a folder with SHA256SUMS.
func (a *Audit) sums(ctx context.Context, folder string) error {
	files, want := os.DirFS(folder), map[string]string{}
	list, err := input.Read(filepath.Join(folder, results.SumsFile))
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(list)) {
		sum, file, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		want[file] = sum
	}
	err = fs.WalkDir(files, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path == results.SumsFile {
			return cmp.Or(err, ctx.Err())
		}
		if !d.Type().IsRegular() {
			a.differ(path, "it is neither a file nor a folder")
			return nil
		}
		text, err := fs.ReadFile(files, path)
		if want[path] != fmt.Sprintf("%x", sha256.Sum256(text)) {
			a.differ(path, "it was changed or added: "+results.SumsFile+" has no such digest")
		}
		delete(want, path)
		return err
	})
	for _, file := range slices.Sorted(maps.Keys(want)) {
		a.differ(file, "it is missing")
	}
	return err
}

// Unpack unpacks the set in an archive into an empty folder. It refuses links, paths that lead out of the
// folder, and files that are larger than the free disk space.
func Unpack(ctx context.Context, archive, to string) error {
	file, err := input.Open(archive)
	if err != nil {
		return err
	}
	defer file.Close()
	packed, err := gzip.NewReader(file)
	if err != nil {
		return fmt.Errorf("it is not a .tar.gz: %w", err)
	}
	free, known := disk.Free(to)
	for in := tar.NewReader(packed); ; {
		h, err := in.Next()
		switch {
		case err == io.EOF:
			_, err = io.Copy(io.Discard, packed) // reads on to the checksum, which is verified
			return err
		case err != nil:
			return err
		case h.Typeflag == tar.TypeDir:
			continue
		case h.Typeflag != tar.TypeReg || !filepath.IsLocal(h.Name):
			return fmt.Errorf("%q is not a file inside the archive: the archive is refused", h.Name)
		case h.Size > 1<<30 || known && uint64(h.Size) > free:
			return fmt.Errorf("%q has %d bytes, more than is unpacked here: unpack it by hand", h.Name, h.Size)
		}
		free -= uint64(h.Size)
		_, below, _ := strings.Cut(filepath.Clean(h.Name), "/") // removes the name of the archive's only top folder
		text, err := io.ReadAll(in)
		if err := cmp.Or(err, ctx.Err(), write(filepath.Join(to, below), text)); err != nil {
			return err
		}
	}
}
