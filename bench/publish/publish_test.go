package publish

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"turnstile/algorithms/catalog"
	"turnstile/bench"
	"turnstile/bench/runs"
	"turnstile/bench/site"
	"turnstile/chaos"
	"turnstile/internal/chance"
	"turnstile/nodes"
	"turnstile/nodes/workload"
	"turnstile/option"
	"turnstile/results"
)

// stored makes a set of three simulated runs, one of them with a fault, and returns it.
func stored(t *testing.T) *results.Set {
	t.Helper()
	root := t.TempDir()
	algo, err := (catalog.Table{}).Find("central")
	if err != nil {
		t.Fatal(err)
	}
	faults, err := chaos.ReadPlan("mine", []byte("faults:\n- delay: 5ms\n  at: 10ms\n  for: 20ms\n"))
	if err != nil {
		t.Fatal(err)
	}
	for i, load := range []workload.Load{workload.Saturated, workload.Saturated, workload.Sequential} {
		o := option.Defaults()
		o.Algorithm, o.Config, o.Duration, o.Warmup = algo.Name, nodes.Config{N: 3}, 100*time.Millisecond, 0
		o.WarmupLimit, o.Latency = 0, chance.Constant(time.Millisecond)
		o.Workload = workload.Workload{Load: load}
		if i == 1 {
			o.Faults = faults.Faults
		}
		j, err := bench.Resolve(catalog.Table{}, o, algo, true)
		if err != nil {
			t.Fatal(err)
		}
		setup := runs.Setup{Results: root, Set: "lan", Name: fmt.Sprintf("run-%d", i),
			Setup: site.Setup{Versions: map[string]string{"turnstile": "v1", "revision": "abc"}}}
		if _, err := runs.Make(t.Context(), j, setup); err != nil {
			t.Fatal(err)
		}
	}
	return results.OpenSet(root, "lan")
}

// published returns the folder of a published set.
func published(t *testing.T, histories bool) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "lan")
	if err := Make(t.Context(), catalog.Table{}, stored(t), folder, nil, histories); err != nil {
		t.Fatal(err)
	}
	return folder
}

func read(t *testing.T, path ...string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func put(t *testing.T, text string, path ...string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(path...), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// resum writes SHA256SUMS of a folder anew.
func resum(t *testing.T, folder string) {
	t.Helper()
	var sums strings.Builder
	for _, file := range files(t, folder) {
		if file != results.SumsFile {
			fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256([]byte(read(t, folder, file))), file)
		}
	}
	put(t, sums.String(), folder, results.SumsFile)
}

func files(t *testing.T, folder string) (names []string) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(folder), ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// differences returns the findings of Check, one per line.
func differences(t *testing.T, folder string) (all []string) {
	t.Helper()
	a, err := Check(t.Context(), catalog.Table{}, folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range a.Differences {
		all = append(all, d.String())
	}
	return all
}

// replaced replaces the first occurrence of a text, and renews the seal if there is one.
func replaced(t *testing.T, text, was, is string) string {
	t.Helper()
	if !strings.Contains(text, was) {
		t.Fatalf("no %q in %s", was, text)
	}
	text = strings.Replace(text, was, is, 1)
	if body, _, sealed := strings.Cut(text, "checksum: "); sealed {
		text = string(results.Sealed([]byte(body)))
	}
	return text
}

// withCell returns a table with another value in a column of the first row.
func withCell(t *testing.T, table, column, is string) string {
	t.Helper()
	lines, err := csv.NewReader(strings.NewReader(table)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	lines[1][slices.Index(lines[0], column)] = is
	var b strings.Builder
	if err := csv.NewWriter(&b).WriteAll(lines); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Check finds a changed byte in any file, a missing file, an added one, and a link.
func TestEveryChangeIsFound(t *testing.T) {
	folder := published(t, true)
	if all := differences(t, folder); len(all) > 0 {
		t.Fatalf("it differs from the beginning: %q", all)
	}
	for _, file := range files(t, folder) {
		text := read(t, folder, file)
		changed := []byte(text)
		changed[len(changed)/2] ^= 1
		put(t, string(changed), folder, file)
		all := differences(t, folder)
		if len(all) == 0 || file != results.SumsFile && !strings.HasPrefix(all[0], file+": it was changed") {
			t.Errorf("a byte of %s was changed: %q", file, all)
		}
		put(t, text, folder, file)
	}
	path := filepath.Join(folder, "extra.csv")
	put(t, "x", path)
	if all := differences(t, folder); len(all) != 1 || !strings.HasPrefix(all[0], "extra.csv: it was ") {
		t.Errorf("a file was added: %q", all)
	}
	os.Remove(path)
	table := filepath.Join(folder, results.RowsFile)
	os.Remove(table)
	if all := differences(t, folder); !slices.Equal(all, []string{"runs.csv: it is missing"}) {
		t.Errorf("a file is missing: %q", all)
	}
	if err := os.Symlink("/dev/zero", table); err != nil {
		t.Fatal(err)
	}
	if all := differences(t, folder); len(all) == 0 ||
		all[0] != "runs.csv: it is neither a file nor a folder" {
		t.Errorf("a file became a link: %q", all)
	}
}

// Check finds that a set contradicts itself, even if all its digests were renewed.
func TestNewDigestsHideNoContradiction(t *testing.T) {
	run := results.PublishedRuns + "/run-0/"
	for says, change := range map[string]func(folder string){
		"runs.csv, line 2: verdict: it says violated, and its run valid": func(folder string) {
			put(t, withCell(t, read(t, folder, results.RowsFile), "verdict", "violated"), folder, results.RowsFile)
		},
		"messages.csv: it has 0 lines": func(folder string) {
			os.Remove(filepath.Join(folder, results.MessagesFile))
		},
		run + "verdict.txt: it was changed after the run, or is missing": func(folder string) {
			put(t, read(t, folder, run, "verdict.txt")+"\n", folder, run, "verdict.txt")
		},
		run + "run.yaml: the run is unfinished": func(folder string) {
			put(t, replaced(t, read(t, folder, run, results.RunFile), "status: over", "status: running"), folder, run,
				results.RunFile)
		},
		run + "runs.csv, trial 1: wait_us_p99 is 1234.5, but latency.hlog gives ": func(folder string) {
			of := &results.Folder{Path: filepath.Join(folder, run)}
			was, _ := of.Digest(results.RowsFile)
			for _, below := range []string{"", run} {
				put(t, withCell(t, read(t, folder, below, results.RowsFile), "wait_us_p99", "1234.5"), folder, below,
					results.RowsFile)
			}
			is, _ := of.Digest(results.RowsFile)
			put(t, replaced(t, read(t, folder, run, results.RunFile), was, is), folder, run, results.RunFile)
		},
	} {
		folder := published(t, false)
		change(folder)
		resum(t, folder)
		if all := differences(t, folder); len(all) == 0 || !strings.HasPrefix(all[0], says) {
			t.Errorf("%q, and nothing begins with %q", all, says)
		}
	}
}

// The cells and lines in the files of a run are compared with each other.
func TestFilesThatContradictEachOther(t *testing.T) {
	folder := filepath.Join(published(t, false), results.PublishedRuns, "run-1")
	for _, c := range []struct {
		file, column string // column whose cell in the first row changes; empty: a text changes
		was, is      string
		says         string
	}{
		{results.RowsFile, "wait_us_p99", "", "1234.5", "wait_us_p99 is 1234.5, but latency.hlog gives "},
		{results.RowsFile, "hold_us_p50", "", "", "hold_us_p50 is empty, but latency.hlog gives "},
		{results.RowsFile, "messages", "", "7", "messages is 7, but messages.csv gives "},
		{results.RowsFile, "messages_per_entry", "", "7", "messages_per_entry is 7, but messages.csv gives 3"},
		{results.RowsFile, "entries", "", "7", "entries is 7, but verdict.yaml gives "},
		{results.RowsFile, "entries_in_window", "", "7", "entries_in_window is 7, but timeline.csv gives "},
		{results.RowsFile, "entries_per_s", "", "7", "entries_per_s is 7, but accepted_in_window and "},
		{results.RowsFile, "violations", "", "7", "violations is 7, but verdict.yaml gives 0"},
		{results.RowsFile, "reason", "", "all is well", `reason is "all is well", but verdict.yaml gives `},
		{results.MessagesFile, "sent", "", "7", "but messages.csv gives "},
		{results.TimelineFile, "entries", "", "77", "but timeline.csv gives "},
		{"verdict.txt", "", "trial 1: valid", "trial 1: violated", "it lacks the line that verdict.yaml gives"},
		{results.LatencyProfile, "", "#[Mean", "#[mean", "latency.hgrm, line "},
		{results.VerdictFile, "", "- check: progress\n      outcome: valid",
			"- check: progress\n      outcome: violated",
			"the outcome is valid, but the check progress found violated"},
	} {
		text := read(t, folder, c.file)
		if c.column != "" {
			put(t, withCell(t, text, c.column, c.is), folder, c.file)
		} else {
			put(t, replaced(t, text, c.was, c.is), folder, c.file)
		}
		s, err := runs.ReadSummary(catalog.Table{}, &results.Folder{Path: folder})
		if err != nil {
			t.Fatal(err)
		}
		all, err := s.Contradictions()
		if err != nil || !slices.ContainsFunc(all, func(d results.Difference) bool {
			return strings.Contains(d.String(), c.says)
		}) {
			t.Errorf("%s %s: %v, %v; nothing says %q", c.file, c.column, all, err, c.says)
		}
		put(t, text, folder, c.file)
	}
}

// A run whose algorithm, option or format this version lacks is no difference; the commit that has it is
// named.
func TestARunOfAnotherTurnstileIsNoDifference(t *testing.T) {
	for was, is := range map[string]string{
		"\n  algorithm: central\n":                     "\n  algorithm: later\n",
		"\n    options:\n":                             "\n    options:\n      later: 1\n",
		fmt.Sprintf("format: %d\n", results.RunFormat): "format: 99\n",
	} {
		folder := published(t, true)
		file := filepath.Join(folder, results.PublishedRuns, "run-0", results.RunFile)
		put(t, replaced(t, read(t, file), was, is), file)
		resum(t, folder)
		a, err := Check(t.Context(), catalog.Table{}, folder)
		if err != nil || len(a.Differences) > 0 || len(a.Judgeable) != 2 || a.Without != 0 ||
			!strings.Contains(fmt.Sprint(a.Lacking), "commit abc") {
			t.Errorf("%q: %+v, %v", is, a, err)
		}
	}
}

// A publication that is interrupted, private or damaged leaves no files.
func TestWhatIsNotPublished(t *testing.T) {
	set, to := stored(t), filepath.Join(t.TempDir(), "lan")
	refused := func(ctx context.Context, says string) {
		t.Helper()
		err := Make(ctx, catalog.Table{}, set, to, nil, false)
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, and nothing says %q", err, says)
		}
		if left, _ := os.ReadDir(filepath.Dir(to)); len(left) > 0 {
			t.Errorf("it leaves %v", left)
		}
	}
	interrupted, cancel := context.WithCancel(t.Context())
	cancel()
	refused(interrupted, "context canceled")
	for _, text := range []string{"nats: nats://me:secret@host", "command: orchestrator sweep /home/me/lan.yaml",
		"command: /bin/orchestrator sweep", "  foreign: python3 '/home/me/x.py'"} {
		put(t, text, set.Path, results.SetFile)
		refused(t.Context(), "set.yaml has a credential, or a command with a path of this machine")
	}
	put(t, "command: bin/orchestrator sweep lan.yaml --nats=nats://host:4222", set.Path, results.SetFile)
	put(t, "x", set.Runs[1].File(results.MessagesFile))
	refused(t.Context(), "run-1")
}

// An archive that leads out of its folder or would fill the disk is refused, and a changed one is detected.
func TestArchives(t *testing.T) {
	for name, test := range map[string]struct {
		entry tar.Header
		says  string
	}{
		"above":     {tar.Header{Typeflag: tar.TypeReg, Name: "a/../../b"}, "not a file inside the archive"},
		"absolute":  {tar.Header{Typeflag: tar.TypeReg, Name: "/tmp/b"}, "not a file inside the archive"},
		"link":      {tar.Header{Typeflag: tar.TypeSymlink, Name: "a/b", Linkname: "/etc"}, "not a file inside"},
		"hard link": {tar.Header{Typeflag: tar.TypeLink, Name: "a/b", Linkname: "a/c"}, "not a file inside"},
		"device":    {tar.Header{Typeflag: tar.TypeChar, Name: "a/b"}, "not a file inside the archive"},
		"no folder": {tar.Header{Typeflag: tar.TypeReg, Name: "b"}, "not a file inside the archive"},
		"huge":      {tar.Header{Typeflag: tar.TypeReg, Name: "a/b", Size: 1 << 60}, "unpack it by hand"},
		"cut off":   {tar.Header{Typeflag: tar.TypeReg, Name: "a/b", Size: 9}, "unexpected EOF"},
	} {
		var b bytes.Buffer
		packed := gzip.NewWriter(&b)
		if err := tar.NewWriter(packed).WriteHeader(&test.entry); err != nil {
			t.Fatal(err)
		}
		packed.Close()
		path, to := filepath.Join(t.TempDir(), "x.tar.gz"), t.TempDir()
		put(t, b.String(), path)
		if err := Unpack(t.Context(), path, to); err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: it is taken, or not as it should be: %v", name, err)
		}
	}
	archive := published(t, false) + results.ArchiveSuffix
	text := read(t, archive)
	interrupted, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Unpack(interrupted, archive, t.TempDir()); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
	for _, at := range []int{len(text) / 3, len(text) / 2, len(text) - 6} {
		changed, to := []byte(text), t.TempDir()
		changed[at] ^= 0x10
		put(t, string(changed), archive)
		if err := Unpack(t.Context(), archive, to); err == nil && len(differences(t, to)) == 0 {
			t.Errorf("byte %d was changed, and nothing is said", at)
		}
	}
}

// A small archive of large files, and one with a file that it does not list, is refused before it takes
// memory or disk space.
func TestArchivesAreBounded(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for says, fill := range map[string]func(*tar.Writer){
		"times as large unpacked": func(w *tar.Writer) {
			for i := range 300 {
				add(t, w, fmt.Sprintf("lan/%d", i), 1<<20)
			}
		},
		"more than is unpacked here": func(w *tar.Writer) { add(t, w, "lan/a", 300<<20) },
		"more than 10000 files": func(w *tar.Writer) {
			for i := range 10_001 {
				add(t, w, fmt.Sprintf("lan/%d", i), 0)
			}
		},
		"SHA256SUMS does not list it": func(w *tar.Writer) { add(t, w, "lan/a", 1) },
	} {
		path, to := filepath.Join(t.TempDir(), "lan.tar.gz"), t.TempDir()
		file, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		packed := gzip.NewWriter(file)
		w := tar.NewWriter(packed)
		fill(w)
		if err := errors.Join(w.Close(), packed.Close(), file.Close()); err != nil {
			t.Fatal(err)
		}
		if err := Unpack(t.Context(), path, to); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("nothing says %q: %v", says, err)
		}
		if left, _ := os.ReadDir(to); len(left) > 0 {
			t.Errorf("%s: %d files were unpacked", says, len(left))
		}
	}
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 100<<20 {
		t.Errorf("it takes %d MB", took>>20)
	}
}

var zeros [1 << 20]byte

// add adds a file of zeros to an archive.
func add(t *testing.T, w *tar.Writer, name string, size int64) {
	t.Helper()
	err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: size, Mode: 0o644})
	for block := zeros[:]; err == nil && size > 0; size -= int64(len(block)) {
		_, err = w.Write(block[:min(size, int64(len(block)))])
	}
	if err != nil {
		t.Fatal(err)
	}
}
