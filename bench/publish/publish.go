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
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"turnstile/algorithms/catalog"
	"turnstile/bench/runs"
	"turnstile/internal/disk"
	"turnstile/internal/input"
	"turnstile/internal/pattern"
	"turnstile/results"
)

const readme = "# %s\n" + results.ReadmeBegins + `a benchmark and fault-injection testbed for distributed
mutual exclusion and leader election: %d of them in runs/, and their tables, joined. docs/sets.md and
docs/columns.md explain the files. At the commit that each run.yaml names, Turnstile makes the runs again.%s

	sha256sum -c SHA256SUMS
	orchestrator verify .          # with --again, simulated runs are made again, too
License: Apache-2.0, as Turnstile, https://www.apache.org/licenses/LICENSE-2.0
`

// sourceDir is the folder of the algorithms that Turnstile lacks.
const sourceDir = "source"

// ofModule says for README.md which module has the algorithms in the folder source.
func ofModule(set *results.Set, sources int) string {
	if sources == 0 {
		return ""
	}
	version := "unknown"
	for _, f := range set.Runs {
		if rows, err := f.Rows(); err == nil && len(rows) > 0 {
			version = rows[0].Version
		}
	}
	ours, module, _ := strings.Cut(version, " in ")
	return fmt.Sprintf("\nThe algorithms in %s/ are of the module %s, built with Turnstile %s:\n"+
		"its program takes the place of orchestrator, and they have its license.", sourceDir, module, ours)
}

// private matches a credential in a URL, and a command with an absolute path.
var private = pattern.Of(`://[^\s/]*@|\b(command|foreign): (.*[\s"'=])?/`)

// Make publishes a set: it makes a folder named by to, which must not exist, and an archive next to it. It
// returns an error if a file has private contents, or if [Check] finds a difference. sources are the files of
// algorithms that Turnstile lacks, by name.
func Make(ctx context.Context, known catalog.Table, set *results.Set, to string, sources map[string][]byte,
	histories bool) error {
	if err := cmp.Or(os.MkdirAll(filepath.Dir(to), 0o755), os.Mkdir(to, 0o755)); err != nil {
		return err
	}
	archive := to + results.ArchiveSuffix
	err := results.WriteFile(archive,
		func(w io.Writer) error { return fill(ctx, w, set, to, sources, histories) })
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
func fill(ctx context.Context, w io.Writer, set *results.Set, to string, sources map[string][]byte,
	histories bool) (failed error) {
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
				if failed != nil {
					return
				}
				text, err := input.ReadFile(filepath.Join(from, name), input.TableLimit)
				if filepath.Ext(name) == ".yaml" && private().Match(text) {
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
		text, _ := results.Joined(ctx, table, set.Runs) // Check names the run whose table cannot be read
		add(table, text, nil)
	}
	addAll(set.Path, "", append(results.StudyTables, results.SetFile, "report.*", "report/*")...)
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		add(sourceDir+"/"+name, sources[name], nil)
	}
	add(results.ReadmeFile, fmt.Appendf(nil, readme, filepath.Base(to), len(set.Runs),
		ofModule(set, len(sources))), nil)
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
		if ctx.Err() != nil {
			return a, ctx.Err()
		}
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
		made, err := results.Joined(ctx, name, set.Runs)
		if err != nil {
			a.differ(name, err.Error())
		}
		a.Differences = append(a.Differences, results.CompareJoined(name, stored, made)...)
	}
	return a, ctx.Err()
}

// sums compares the files below a folder with SHA256SUMS.
func (a *Audit) sums(ctx context.Context, folder string) error {
	list, err := input.Read(filepath.Join(folder, results.SumsFile))
	if err != nil {
		return err
	}
	want := digests(list)
	err = fs.WalkDir(os.DirFS(folder), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path == results.SumsFile {
			return cmp.Or(err, ctx.Err())
		}
		if !d.Type().IsRegular() {
			a.differ(path, "it is neither a file nor a folder")
			return nil
		}
		sum, err := digest(ctx, filepath.Join(folder, path))
		if want[path] != sum {
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

// digest returns the SHA-256 of a file.
func digest(ctx context.Context, path string) (string, error) {
	file, err := input.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	sum := sha256.New()
	_, err = io.Copy(sum, &bounded{ctx, file, math.MaxInt64})
	return fmt.Sprintf("%x", sum.Sum(nil)), err
}

// Limits of an archive. The user has to unpack a larger one by hand, and can verify the folder.
const (
	mostFiles  = 10_000
	mostTimes  = 100     // how many times as large as the archive its files may be together
	alwaysRead = 1 << 20 // this much is unpacked from an archive of any size
)

// ErrByHand is the end of errors about an archive that exceeds a limit.
var ErrByHand = errors.New("unpack it by hand, and name its folder")

// Unpack unpacks the set in an archive into an empty folder. It reads SHA256SUMS first, and then unpacks the
// files that are listed there. It refuses others, links, paths that lead out of the folder, and files that
// are larger than the free disk space.
func Unpack(ctx context.Context, archive, to string) error {
	file, err := input.Open(archive)
	if err != nil {
		return err
	}
	defer file.Close()
	listed := map[string]string{}
	err = entries(ctx, file, func(name string, h *tar.Header, in io.Reader) error {
		if name != results.SumsFile {
			return nil
		}
		if h.Size > input.Limit {
			return fmt.Errorf("%s has %d bytes: %w", name, h.Size, ErrByHand)
		}
		list, err := io.ReadAll(in)
		listed = digests(list)
		return err
	})
	if err != nil {
		return err
	}
	free, known := disk.Free(to)
	return entries(ctx, file, func(name string, h *tar.Header, in io.Reader) error {
		switch {
		case listed[name] == "" && name != results.SumsFile:
			return fmt.Errorf("%q was added: %s does not list it", name, results.SumsFile)
		case known && uint64(h.Size) > free:
			return fmt.Errorf("%.80q has %d bytes, more than the disk has left: %w", name, h.Size, ErrByHand)
		}
		free -= uint64(h.Size)
		return writeFrom(filepath.Join(to, name), in)
	})
}

// digests returns the digests of files by their names, as SHA256SUMS lists them.
func digests(list []byte) map[string]string {
	all := map[string]string{}
	for line := range strings.Lines(string(list)) {
		sum, file, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		all[file] = sum
	}
	return all
}

// entries calls each for every file of an archive, with its name below the only top folder.
func entries(ctx context.Context, archive *os.File, each func(string, *tar.Header, io.Reader) error) error {
	info, err := archive.Stat()
	if err == nil {
		_, err = archive.Seek(0, io.SeekStart)
	}
	if err != nil {
		return err
	}
	unzipped, err := gzip.NewReader(archive)
	if err != nil {
		return fmt.Errorf("it is not a .tar.gz: %w", err)
	}
	most := max(alwaysRead, mostTimes*info.Size())
	packed := &bounded{ctx, unzipped, most}
	files := 0
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
		}
		_, below, _ := strings.Cut(filepath.Clean(h.Name), "/")
		switch files++; {
		case h.Typeflag != tar.TypeReg || !filepath.IsLocal(h.Name) || below == "":
			return fmt.Errorf("%.80q is not a file inside the archive's folder: the archive is refused", h.Name)
		case h.Size > most:
			return fmt.Errorf("%.80q has %d bytes, more than is unpacked here: %w", h.Name, h.Size, ErrByHand)
		case files > mostFiles:
			return fmt.Errorf("it has more than %d files: %w", mostFiles, ErrByHand)
		}
		if err := each(below, h, in); err != nil {
			return err
		}
	}
}

// A bounded reader returns an error when the context ends, or after so many bytes.
type bounded struct {
	ctx  context.Context
	in   io.Reader
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if err := b.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := b.in.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, fmt.Errorf("it is more than %d times as large unpacked: %w", mostTimes, ErrByHand)
	}
	return n, err
}

// writeFrom copies the rest of a reader to a new file. It makes the folders that the file needs.
func writeFrom(path string, in io.Reader) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, in)
	return cmp.Or(err, file.Close())
}
