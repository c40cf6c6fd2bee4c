package history

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/klauspost/compress/zstd"

	"turnstile/nodes"
)

// logFolder returns a folder with the logs of an orchestrator and three nodes; one of them died.
func logFolder(t testing.TB) string {
	dir := filepath.Join(t.TempDir(), "trial [1]") // the name looks like a pattern
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	writeLog(t, filepath.Join(dir, "orchestrator.log"), Options{Node: nodes.None}, 5, true)
	for id := range nodes.ID(3) {
		path := filepath.Join(dir, fmt.Sprintf("%d.log", 10-id)) // names are not in the order of nodes
		writeLog(t, path, Options{Node: id, Nodes: 3, TraceLength: 4}, 100*int(id), id != 1)
	}
	return dir
}

func TestStoreAndLoad(t *testing.T) {
	dir := logFolder(t)
	path := filepath.Join(dir, "history.zst")
	if err := Store(path, dir); err != nil {
		t.Fatal(err)
	}
	fromFolder, fromFile := must(Load(dir))(t), must(Load(path))(t)
	if diff := cmp.Diff(fromFolder, fromFile, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("-folder +file:\n%s", diff)
	}
	var order []nodes.ID
	for _, l := range fromFile.Logs {
		order = append(order, l.Node)
	}
	if diff := cmp.Diff([]nodes.ID{-1, 0, 1, 2}, order); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if left := must(filepath.Glob(filepath.Join(filepath.Dir(dir), "*", ".history-*")))(t); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestLogsThatNeverBeganArePassedOver(t *testing.T) {
	dir := logFolder(t)
	before := must(Load(dir))(t)
	for i, size := range []int{0, 5, preambleLen, 2 * pageLen} {
		b := make([]byte, size)
		if size >= preambleLen {
			b[preambleLen-1] = 7 // the writer died between checksum and magic
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("unborn%d.log", i)), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(dir, "history.zst")
	if err := Store(path, dir); err != nil {
		t.Fatal(err)
	}
	for _, from := range []string{dir, path} {
		if diff := cmp.Diff(before, must(Load(from))(t), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: -want +got:\n%s", from, diff)
		}
	}
	// A log that was in use and has lost its magic gives an error.
	used := filepath.Join(dir, "10.log")
	b := must(os.ReadFile(used))(t)
	clear(b[:len(magic)])
	if err := os.WriteFile(used, b, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(dir); !isFormatError(err, used) {
		t.Errorf("a used log without its magic: error %v", err)
	}
}

// If the logs of all nodes are lost, the nodes are counted by the events of the orchestrator's journal.
func TestTheJournalAloneNamesNodes(t *testing.T) {
	dir := t.TempDir()
	j := must(CreateJournal(filepath.Join(dir, "orchestrator.log"), 7, 0))(t)
	for node, kind := range map[nodes.ID]Kind{2: Crashed, nodes.None: AssumptionBroken} {
		if err := j.Add(Event{At: 9, Kind: kind, Node: node}); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "history.zst")
	if err := Store(path, dir); err != nil {
		t.Fatal(err)
	}
	for _, from := range []string{dir, path} {
		r := must(Open(from))(t)
		if events := must(Load(from))(t).Events; r.Nodes != 3 || len(events) != 2 {
			t.Errorf("%s: %d nodes, %d events", from, r.Nodes, len(events))
		}
		r.Close()
	}
}

func TestNothingToLoad(t *testing.T) {
	empty := t.TempDir()
	err := Store(filepath.Join(empty, "history.zst"), empty)
	if err == nil || !strings.Contains(err.Error(), "no logs") {
		t.Errorf("storing an empty folder: error %v", err)
	}
	if left := must(os.ReadDir(empty))(t); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	for _, path := range []string{empty, filepath.Join(empty, "nowhere")} {
		if _, err := Load(path); err == nil {
			t.Errorf("loading %s: no error", path)
		}
	}
}

// storedBytes returns the bytes of a stored history.
func storedBytes(t testing.TB) []byte {
	dir := logFolder(t)
	path := filepath.Join(dir, "history.zst")
	if err := Store(path, dir); err != nil {
		t.Fatal(err)
	}
	return must(os.ReadFile(path))(t)
}

func TestStoredGarbledOrCutOff(t *testing.T) {
	whole := storedBytes(t)
	step := max(1, len(whole)/100)
	for at := 0; at < len(whole); at += step {
		if err := wholeOf(newReader("h", bytes.NewReader(whole[:at]))); !isFormatError(err, "h") {
			t.Fatalf("cut to %d of %d bytes: error %v", at, len(whole), err)
		}
		b := slices.Clone(whole)
		b[at] ^= 0x40
		if err := wholeOf(newReader("h", bytes.NewReader(b))); err != nil && !isFormatError(err, "h") {
			t.Fatalf("byte %d garbled: error %v", at, err)
		}
	}
}

// packed compresses what a stored history might hold.
func packed(t testing.TB, content []byte) []byte {
	packer := must(zstd.NewWriter(nil))(t)
	defer packer.Close()
	return packer.EncodeAll(content, nil)
}

// Logs are merged only if each is of a different process, and all are of one trial.
func TestLogsOfOneTrialBelongTogether(t *testing.T) {
	dir := logFolder(t)
	one, other := filepath.Join(dir, "9.log"), filepath.Join(dir, "10.log")
	kept := must(os.ReadFile(one))(t)
	if err := os.WriteFile(one, must(os.ReadFile(other))(t), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir); !isFormatError(err, one) || !strings.Contains(err.Error(), "of node 0, and so is") {
		t.Errorf("two logs of one node: error %v", err)
	}
	if err := errors.Join(os.WriteFile(one, kept, 0o644), os.Remove(other)); err != nil {
		t.Fatal(err)
	}
	writeLog(t, other, Options{Node: 0, Nodes: 3, Origin: 7}, 3, true)
	if _, err := Open(dir); !isFormatError(err, other) || !strings.Contains(err.Error(), "of another trial") {
		t.Errorf("a log of another trial: error %v", err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(packed(f, []byte(storedMagic)))
	f.Add(packed(f, content(f, saved())))
	f.Add([]byte{0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xf8, 0x00, 0x00}) // a frame with a window of two terabytes
	f.Fuzz(func(t *testing.T, b []byte) {
		if err := wholeOf(newReader("f", bytes.NewReader(b))); err != nil && !isFormatError(err, "f") {
			t.Fatal(err)
		}
	})
}
