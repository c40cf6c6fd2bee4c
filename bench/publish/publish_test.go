package publish

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"turnstile/bench"
	"turnstile/bench/option"
	"turnstile/chaos"
	"turnstile/internal/chance"
	"turnstile/internal/yamlfile"
	"turnstile/nodes"
	"turnstile/nodes/catalog"
	"turnstile/nodes/workload"
	"turnstile/results"
)

// stored makes a set of two simulated runs, one of them with a fault, and returns it.
func stored(t *testing.T) *results.Set {
	t.Helper()
	root := t.TempDir()
	row, err := catalog.Find("central")
	if err != nil {
		t.Fatal(err)
	}
	faults, err := chaos.ReadPlan("mine", []byte("faults:\n- delay: 5ms\n  at: 10ms\n  for: 20ms\n"))
	if err != nil {
		t.Fatal(err)
	}
	for i, all := range [][]chaos.Fault{nil, faults.Faults} {
		o := option.Defaults()
		o.Algorithm, o.Config, o.Duration, o.Warmup = row.Name, nodes.Config{N: 3}, 100*time.Millisecond, 0
		o.WarmupLimit, o.Latency = 0, chance.Constant(time.Millisecond)
		o.Workload, o.Faults = workload.Workload{Load: workload.Saturated}, all
		j, err := bench.Resolve(o, row, true)
		if err != nil {
			t.Fatal(err)
		}
		setup := bench.Setup{Results: root, Set: "lan", Name: fmt.Sprintf("run-%d", i),
			Versions: map[string]string{"turnstile": "v1", "revision": "abc"}}
		if _, err := bench.Make(t.Context(), j, setup); err != nil {
			t.Fatal(err)
		}
	}
	return results.OpenSet(root, "lan")
}

func made(t *testing.T, set *results.Set, o Options) *Published {
	t.Helper()
	o.Name = "lan"
	p, err := Make(t.Context(), set, o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func read(t *testing.T, path ...string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func write(t *testing.T, text []byte, path ...string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(path...), text, 0o644); err != nil {
		t.Fatal(err)
	}
}

func differing(t *testing.T, folder string) (files []string) {
	t.Helper()
	a, err := Check(t.Context(), folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range a.Differences {
		files = append(files, d.File)
	}
	return files
}

// A byte that is changed in any file is found, and so are a file that is missing, one that was added, a link,
// and tables that were changed together with their digests.
func TestEveryChangeIsFound(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "lan")
	made(t, stored(t), Options{To: folder, Histories: true})
	if files := differing(t, folder); len(files) > 0 {
		t.Fatalf("%q differ from the beginning", files)
	}
	files, _, err := walk(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text := read(t, folder, file)
		changed := bytes.Clone(text)
		changed[len(changed)/2] ^= 1
		write(t, changed, folder, file)
		found, err := checkSums(t.Context(), folder)
		is := func(d results.Difference) bool { return d.File == file || file == results.SumsFile }
		if err != nil || !slices.ContainsFunc(found, is) {
			t.Errorf("a byte of %s was changed, and these differ: %v, %v", file, found, err)
		}
		write(t, text, folder, file)
	}
	write(t, nil, folder, "extra.csv")
	if got := differing(t, folder); !slices.Equal(got, []string{"extra.csv"}) {
		t.Errorf("a file was added, and %q differ", got)
	}
	os.Remove(filepath.Join(folder, "extra.csv"))
	table := read(t, folder, results.RowsFile)
	os.Remove(filepath.Join(folder, results.RowsFile))
	if got := differing(t, folder); !slices.Contains(got, results.RowsFile) {
		t.Errorf("a file is missing, and %q differ", got)
	}
	if err := os.Symlink("/dev/zero", filepath.Join(folder, results.RowsFile)); err != nil {
		t.Fatal(err)
	}
	if got := differing(t, folder); !slices.Equal(got, []string{results.RowsFile}) {
		t.Errorf("a file became a link, and %q differ", got)
	}
	os.Remove(filepath.Join(folder, results.RowsFile))
	was, is := string(table), strings.Replace(string(table), ",valid,", ",violated,", 1)
	write(t, []byte(is), folder, results.RowsFile)
	resum(t, folder, results.RowsFile)
	a, err := Check(t.Context(), folder)
	if err != nil || len(a.Differences) != 1 || was == is || !strings.Contains(a.Differences[0].String(),
		"runs.csv, line 2: verdict: it says violated, and its run valid") {
		t.Errorf("a table of the set was changed, with its digest: %v, %v", a, err)
	}
	write(t, table, folder, results.RowsFile)
	resum(t, folder, results.RowsFile)
	run := results.PublishedRuns + "/run-0/" + results.MessagesFile
	write(t, append(read(t, folder, run), '\n'), folder, run)
	resum(t, folder, run)
	if got := differing(t, folder); !slices.Contains(got, results.PublishedRuns+"/run-0") {
		t.Errorf("a table of a run was changed, with its digest, and %q differ", got)
	}
}

// resum writes the digest of a file anew.
func resum(t *testing.T, folder, file string) {
	t.Helper()
	path := filepath.Join(folder, results.SumsFile)
	known, err := readSums(path)
	if err == nil {
		known[file], err = digest(t.Context(), filepath.Join(folder, file))
	}
	if err != nil {
		t.Fatal(err)
	}
	write(t, []byte(known.text()), path)
}

// An interrupted publication leaves nothing, and the plans and the citation can be read by others.
func TestPublishedFilesAreWholeAndReadable(t *testing.T) {
	set, parent := stored(t), t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Make(ctx, set, Options{Name: "lan", To: filepath.Join(parent, "lan")})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("it was interrupted: %v", err)
	}
	if left, _ := os.ReadDir(parent); len(left) > 0 {
		t.Errorf("an interrupted publication leaves %v", left)
	}
	folder := filepath.Join(parent, "lan")
	p := made(t, set, Options{To: folder})
	if p.Runs != 2 || len(p.LeftOut) > 0 {
		t.Errorf("published: %+v", p)
	}
	plan, err := chaos.ReadPlan("faults", read(t, folder, PlansDir, "faults.yaml"))
	if err != nil || len(plan.Faults) != 1 {
		t.Errorf("the plan: %v, %v", plan, err)
	}
	var c citation
	err = yamlfile.Decode(read(t, folder, CitationFile), &c)
	if err != nil || c.Format != "1.2.0" || c.Type != "dataset" || len(c.Authors) != 1 ||
		c.References[0].Commit != "abc" || c.License != "Apache-2.0" {
		t.Errorf("the citation: %+v, %v", c, err)
	}
	if text := read(t, folder, ReadmeFile); !bytes.Contains(text, []byte("Apache License 2.0 (Apache-2.0)")) {
		t.Errorf("%s names no license:\n%s", ReadmeFile, text)
	}
	if _, err := time.Parse(time.DateOnly, c.Released); err != nil {
		t.Error(err)
	}
	if err := yaml.Unmarshal(read(t, folder, CitationFile), new(map[string]any)); err != nil {
		t.Error(err)
	}
	os.Remove(p.Archive)
	if again := made(t, set, Options{To: folder}); again.Same || !exists(p.Archive) {
		t.Error("an archive that was missing is not made again")
	}
}

// Archives that Make does not write are refused before anything is written.
func TestHostileArchivesAreRefused(t *testing.T) {
	file := func(name string, size int64) tar.Header {
		return tar.Header{Typeflag: tar.TypeReg, Name: name, Size: size, Mode: 0o644}
	}
	link := tar.Header{Typeflag: tar.TypeSymlink, Name: "a/b", Linkname: "/etc/passwd"}
	hard := tar.Header{Typeflag: tar.TypeLink, Name: "a/b", Linkname: "a/c"}
	device := tar.Header{Typeflag: tar.TypeChar, Name: "a/b"}
	for name, test := range map[string]struct {
		entries []tar.Header
		says    string
	}{
		"above":      {[]tar.Header{file("a/../../b", 1)}, "leads out of its folder"},
		"absolute":   {[]tar.Header{file("/tmp/b", 1)}, "leads out of its folder"},
		"backslash":  {[]tar.Header{file(`a/..\b`, 1)}, "leads out of its folder"},
		"link":       {[]tar.Header{link}, "neither a file nor a folder"},
		"hard link":  {[]tar.Header{hard}, "neither a file nor a folder"},
		"device":     {[]tar.Header{device}, "neither a file nor a folder"},
		"twice":      {[]tar.Header{file("a/b", 1), file("a/b", 1)}, "is in it twice"},
		"two roots":  {[]tar.Header{file("a/b", 1), file("b/b", 1)}, "not in one folder"},
		"no root":    {[]tar.Header{file("b", 1)}, "not in one folder"},
		"huge":       {[]tar.Header{file("a/b", 1<<60)}, "unpack it by hand"},
		"nothing":    {nil, "it is empty"},
		"below file": {[]tar.Header{file("a/b", 1), file("a/b/c", 1)}, "a/b"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("TMPDIR", t.TempDir())
			path := filepath.Join(t.TempDir(), "x.tar.gz")
			var b bytes.Buffer
			packed := gzip.NewWriter(&b)
			out := tar.NewWriter(packed)
			for _, h := range test.entries {
				if err := out.WriteHeader(&h); err != nil {
					t.Fatal(err)
				}
				io.CopyN(out, zeros{}, min(h.Size, 1))
			}
			out.Flush()
			if test.entries == nil {
				out.Close()
			}
			packed.Close()
			write(t, b.Bytes(), path)
			_, _, err := Unpack(t.Context(), path)
			if err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("it is taken, or not as it should be: %v", err)
			}
			if left, _ := os.ReadDir(os.Getenv("TMPDIR")); len(left) > 0 {
				t.Errorf("it leaves %v", left)
			}
		})
	}
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }

// A flipped byte of an archive is an error, or is found in what it holds.
func TestChangedArchivesAreFound(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "lan")
	p := made(t, stored(t), Options{To: folder})
	text := read(t, p.Archive)
	for _, at := range []int{len(text) / 3, len(text) / 2, len(text) - 6} {
		changed := bytes.Clone(text)
		changed[at] ^= 0x10
		write(t, changed, p.Archive)
		_, done, err := Unpack(t.Context(), p.Archive)
		if err == nil {
			t.Errorf("byte %d was changed, and nothing is said", at)
			done()
		}
	}
}

// Names of the machine are seen, and those of commands go.
func TestPrivateNames(t *testing.T) {
	for text, want := range map[string]string{
		"opened /home/me/x.yaml: no": "the path /home/me/x.yaml",
		"nats://me:pw@host:4222":     "the credential of a server, in a URL",
		"nats://host:4222, 1/2/3":    "",
		"see results/lan/run.yaml":   "",
	} {
		if got := strings.Join(private(text), ", "); got != want {
			t.Errorf("%q has %q, not %q", text, got, want)
		}
	}
	m := results.Making{Command: "/home/me/bin/orchestrator sweep /tmp/lan.yaml --nats=nats://a:b@c"}
	if got := anonymous(m, "sweep.yaml").Command; got != "orchestrator sweep sweep.yaml --nats=nats://c" {
		t.Errorf("the command is %q", got)
	}
}
