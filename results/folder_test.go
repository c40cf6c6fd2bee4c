package results

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"turnstile/internal/disk"
	"turnstile/internal/figure"
	"turnstile/judge/measure"
	"turnstile/nodes"
	"turnstile/nodes/history"
)

func mustCreate(t *testing.T, root, set, name string) *Folder {
	t.Helper()
	f, err := Create(root, set, name, DiskSpace{})
	if err != nil {
		t.Fatal(err)
	}
	if err := f.WriteYAML(map[string]int{"seed": 1}); err != nil {
		t.Fatal(err)
	}
	return f
}

// mustWrite writes tables, and returns their digests.
func mustWrite(t *testing.T, f *Folder, tables ...Table) (digests []string) {
	t.Helper()
	for _, table := range tables {
		digest, err := f.Write(table)
		if err != nil {
			t.Fatal(err)
		}
		digests = append(digests, digest)
	}
	return digests
}

func wantError(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("no error, though it should say %q", parts)
		return
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("the error %q does not say %q", err, part)
		}
	}
}

func TestCreateIsUnique(t *testing.T) {
	root := t.TempDir()
	var wg sync.WaitGroup
	names := make([]string, 8)
	for i := range names {
		wg.Go(func() {
			if f, err := Create(root, "set", "run", DiskSpace{}); err == nil {
				names[i] = f.Name()
			}
		})
	}
	wg.Wait()
	seen := map[string]bool{}
	for _, name := range names {
		if name == "" || seen[name] {
			t.Errorf("the names %q are not each another", names)
		}
		seen[name] = true
	}
	if !seen["run"] || !seen["run-8"] {
		t.Errorf("the names are %q", names)
	}
}

func TestCreateErrors(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := Create(filepath.Join(file, "results"), "set", "run", DiskSpace{})
	wantError(t, err, "results cannot be written to "+file, "put the results elsewhere")
	_, err = Create("", "set", "run", DiskSpace{})
	wantError(t, err, "the folder of all result sets has no name")
	_, err = Create(t.TempDir(), "latest", "run", DiskSpace{})
	wantError(t, err, `"latest" cannot name a set or a run: it stands for the newest run`)
	for _, name := range []string{"", ".", "..", "a/b", ".hidden", "latest"} {
		if _, err := Create(t.TempDir(), "set", name, DiskSpace{}); err == nil {
			t.Errorf("a run may be called %q", name)
		}
		if _, err := Create(t.TempDir(), name, "run", DiskSpace{}); err == nil {
			t.Errorf("a set may be called %q", name)
		}
	}
}

func TestCreateNeedsDiskSpace(t *testing.T) {
	dir := t.TempDir()
	if _, known := disk.Free(dir); !known {
		t.Skip("nobody knows here what space a disk has left")
	}
	_, err := Create(dir, "set", "run", DiskSpace{1<<62 + 1, "-n 9"})
	wantError(t, err, "the disk of "+dir, "and a run with -n 9 takes 4398046511105 MB: free some")
	if left, _ := os.ReadDir(filepath.Join(dir, "set")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestOpen(t *testing.T) {
	root := filepath.Join(t.TempDir(), "odd[results]")
	one := mustCreate(t, root, "mutex", "20260101-ra")
	two := mustCreate(t, root, "mutex", "20260102-ra")
	mustCreate(t, root, "other", "20260102-ra")
	past := time.Now().Add(-time.Hour)
	if err := os.Chtimes(one.File(RunFile), past, past); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time, the link exists already
		if err := SetLatest(root, one); err != nil {
			t.Fatal(err)
		}
	}
	for _, ref := range []string{"latest", "20260101-ra", "mutex/20260101-ra", one.Path, one.Path + "/",
		filepath.Join(root, "latest")} {
		f, err := Open(root, ref)
		if err != nil || f.Ref() != "mutex/20260101-ra" {
			t.Errorf("%s opens %+v, %v", ref, f, err)
		}
	}
	_, err := Open(root, "20260102-ra")
	wantError(t, err, "several sets", "mutex/20260102-ra", "other/20260102-ra")
	_, err = Open(root, "20260101-rb")
	wantError(t, err, `no run "20260101-rb"`, "Did you mean mutex/20260101-ra?", "newest are")
	_, err = Open(root, "something else")
	if wantError(t, err, "The newest are"); strings.Contains(err.Error(), "mean") {
		t.Errorf("it guesses wildly: %v", err)
	}
	t.Chdir(root) // it has a folder "latest", which must not be found
	_, err = Open(t.TempDir(), "latest")
	wantError(t, err, "there are no runs below")
	table := filepath.Join(root, PublishedDir, "lan", RowsFile) // a published set, which has no run.yaml
	if err := errors.Join(os.MkdirAll(filepath.Dir(table), 0o755), os.WriteFile(table, nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	runs := Runs(root)
	if len(runs) != 3 || runs[2].Ref() != one.Ref() {
		t.Errorf("the runs are %s", refs(runs))
	}
	if err := SetLatest(root, two); err != nil {
		t.Fatal(err)
	}
	if f, err := Open(root, "latest"); err != nil || f.Ref() != two.Ref() {
		t.Errorf("latest is %v, %v", f, err)
	}
}

func TestYAML(t *testing.T) {
	type config struct {
		Seed    uint64        `yaml:"seed"`
		Hold    time.Duration `yaml:"hold"`
		Machine Machine       `yaml:"machine"`
	}
	f := mustCreate(t, t.TempDir(), "set", "run")
	want := config{1<<64 - 1, 3 * time.Millisecond, ThisMachine()}
	if err := f.WriteYAML(want); err != nil {
		t.Fatal(err)
	}
	var got config
	if err := f.ReadYAML(&got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if err := f.WriteText(RunFile, string(Sealed([]byte("seed: 1\nsede: 2\n")))); err != nil {
		t.Fatal(err)
	}
	wantError(t, f.ReadYAML(&got), RunFile, "line 2", "sede")
	if err := f.WriteText(RunFile, ""); err != nil {
		t.Fatal(err)
	}
	wantError(t, f.ReadYAML(&got), "is empty")
	wantError(t, (&Folder{Path: t.TempDir()}).ReadYAML(&got), "reading results", RunFile)
}

// A run.yaml with any change is not read.
func TestYAMLIsNotReadOnceItWasChanged(t *testing.T) {
	f := mustCreate(t, t.TempDir(), "set", "run")
	if err := f.WriteYAML(map[string]int{"nodes": 3, "seed": 17}); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(f.File(RunFile))
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]int
	for at := range whole {
		garbled := bytes.Clone(whole)
		garbled[at] ^= 1
		for _, b := range [][]byte{garbled, whole[:at], slices.Delete(bytes.Clone(whole), at, at+1)} {
			if err := f.WriteText(RunFile, string(b)); err != nil {
				t.Fatal(err)
			}
			if err := f.ReadYAML(&got); err == nil {
				t.Fatalf("changed at %d, it is read as %v:\n%s", at, got, b)
			}
		}
	}
	if err := f.WriteText(RunFile, "nodes: 3\n"); err != nil {
		t.Fatal(err)
	}
	wantError(t, f.ReadYAML(&got), RunFile, "does not end with its checksum: it was cut off")
}

// A run or a set of another format is refused with one sentence, which says what reads it.
func TestOtherFormatsAreRefused(t *testing.T) {
	f := mustCreate(t, t.TempDir(), "set", "run")
	for text, reads := range map[string]string{
		"format: 4\nversions: {turnstile: v1, revision: 'abc123, changed'}\n": "commit abc123 reads it",
		"format: 4\nkey: [of, old]\nversions: {turnstile: v1}\n":              "Turnstile v1 reads it",
	} {
		if err := f.WriteText(RunFile, text); err != nil {
			t.Fatal(err)
		}
		var got map[string]int
		wantError(t, f.ReadYAML(&got), RunFile+": it is of format 4, and this Turnstile reads format 6: "+reads)
	}
	root := filepath.Dir(filepath.Dir(f.Path))
	const set = "format: 7\nmade: [{versions: {revision: abc123}}]\n"
	if err := os.WriteFile(filepath.Join(root, "set", SetFile), []byte(set), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := Makings(root, "set")
	wantError(t, err, "it is of format 7, and this Turnstile reads format 1: commit abc123 reads it")
}

func TestFilesAreWholeOrNot(t *testing.T) {
	f := mustCreate(t, t.TempDir(), "set", "run")
	mustWrite(t, f, TableOf(RowsFile, someRows()[:1]))
	rows, err := f.Rows()
	if diff := cmp.Diff(someRows()[:1], rows); diff != "" || err != nil {
		t.Error(diff, err)
	}
	messages := []MessageRow{{Run: "r", Trial: 1,
		OfMessages: measure.OfMessages{Phase: measure.WholeRun, Kind: "Reply", Sent: figure.Count(80)}}}
	mustWrite(t, f, TableOf(MessagesFile, messages))
	read, err := f.Messages()
	if diff := cmp.Diff(messages, read); diff != "" || err != nil {
		t.Error(diff, err)
	}
	err = f.WriteText("no/such/folder.txt", "x")
	wantError(t, err, "writing", "folder.txt")
	entries, _ := os.ReadDir(f.Path)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if diff := cmp.Diff([]string{"messages.csv", "run.yaml", "runs.csv"}, names); diff != "" {
		t.Error(diff)
	}
}

func TestHistories(t *testing.T) {
	f := mustCreate(t, t.TempDir(), "set", "run")
	if _, err := f.History(1); err == nil {
		t.Error("there is a history of nothing")
	}
	for trial := range 2 {
		dir := f.LogFolder(trial + 1)
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		log, err := history.Create(filepath.Join(dir, "0.log"), history.Options{Node: nodes.ID(trial), Nodes: 2})
		if err != nil {
			t.Fatal(err)
		}
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := history.Store(f.HistoryFile(1), f.LogFolder(1)); err != nil {
		t.Fatal(err)
	}
	want := []string{f.HistoryFile(1), f.LogFolder(2)}
	if diff := cmp.Diff(want, f.Histories()); diff != "" {
		t.Error(diff)
	}
	h, err := f.History(2)
	if err != nil || h.Nodes != 2 {
		t.Errorf("trial 2 is %+v, %v", h, err)
	}
	_, err = f.History(3)
	wantError(t, err, "no history of trial 3: it has 2")
}
