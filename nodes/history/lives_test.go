package history

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"turnstile/nodes"
)

// leave leaves a log of a process of node 1 of two, with an event at a time.
func leave(t *testing.T, path string, incarnation uint32, at int64) {
	t.Helper()
	l, err := Create(path, Options{Node: 1, Nodes: 2, Incarnation: incarnation, Instances: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Append(Event{At: at, Kind: Requested, Entry: 1}); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

// keep leaves a journal with events.
func keep(t *testing.T, dir string, events ...Event) {
	t.Helper()
	journal := must(CreateJournal(filepath.Join(dir, "orchestrator.log"), 0, 1))(t)
	for _, e := range events {
		if err := journal.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := journal.Close(); err != nil {
		t.Fatal(err)
	}
}

// The logs of several processes of a node make one history, with what the orchestrator says about the node.
func TestLogsOfSeveralIncarnations(t *testing.T) {
	dir := t.TempDir()
	leave(t, filepath.Join(dir, "node-1.1.log"), 1, 40)
	leave(t, filepath.Join(dir, "node-1.log"), 0, 10)
	keep(t, dir, Event{At: 20, Kind: Crashed, Node: 1, Count: 3},
		Event{At: 30, Kind: Restarted, Node: 1, Count: 1},
		Event{At: 50, Kind: Marked, Count: Rested, Node: nodes.None})
	path := filepath.Join(t.TempDir(), "history")
	if err := Store(path, dir); err != nil {
		t.Fatal(err)
	}
	for _, from := range []string{dir, path} {
		h := must(Load(from))(t)
		want := []Event{{At: 10, Kind: Requested, Entry: 1, Node: 1}, {At: 20, Kind: Crashed, Node: 1, Count: 3},
			{At: 30, Kind: Restarted, Node: 1, Count: 1}, {At: 40, Kind: Requested, Entry: 1, Node: 1},
			{At: 50, Kind: Marked, Count: Rested, Node: nodes.None}}
		for i, e := range h.Events {
			if i >= len(want) || e != want[i] {
				t.Errorf("%s: event %d is %+v", from, i, e)
			}
		}
		var lives []uint32
		for _, l := range h.Logs {
			lives = append(lives, l.Incarnation)
		}
		if len(lives) != 3 || lives[0] != 0 || lives[1] != 0 || lives[2] != 1 || len(h.Events) != len(want) {
			t.Errorf("%s: %d events, and logs of the incarnations %v", from, len(h.Events), lives)
		}
	}
	leave(t, filepath.Join(dir, "again.log"), 1, 60)
	if _, err := Load(dir); err == nil {
		t.Error("two logs of one process are one history")
	}
}

// A node that somebody killed is dead from its last sign of life, whatever the journal recorded until the
// orchestrator saw that. Otherwise the node would be inside together with the next one.
func TestLateKillsStandAtTheirTime(t *testing.T) {
	dir := t.TempDir()
	leave(t, filepath.Join(dir, "node-1.log"), 0, 41)
	keep(t, dir, Event{At: 30, Kind: Killed, Node: 1, Value: 30},
		Event{At: 50, Kind: Marked, Count: Rested, Node: nodes.None},
		Event{At: 42, Kind: Killed, Node: 1, Value: 42},
		Event{At: 41, Kind: Killed, Node: 0, Value: 41}, Event{At: 60, Kind: Crashed, Node: 0},
		Event{At: 45, Kind: Marked, Count: Interrupted, Node: nodes.None, Value: 45})
	path := filepath.Join(t.TempDir(), "history")
	if err := Store(path, dir); err != nil {
		t.Fatal(err)
	}
	want := []Event{{At: 30, Kind: Killed, Node: 1}, {At: 41, Kind: Killed, Node: 0},
		{At: 41, Kind: Requested, Entry: 1, Node: 1}, {At: 42, Kind: Killed, Node: 1},
		{At: 50, Kind: Marked, Count: Rested, Node: nodes.None},
		{At: 51, Kind: Marked, Count: Interrupted, Node: nodes.None}, // marks keep their order
		{At: 60, Kind: Crashed, Node: 0}}
	for _, from := range []string{dir, path} {
		if diff := cmp.Diff(want, must(Load(from))(t).Events); diff != "" {
			t.Errorf("%s: -want +got:\n%s", from, diff)
		}
	}
}

// What a journal says about a node that does not exist is an error.
func TestJournalsNameNodesThatExist(t *testing.T) {
	dir := t.TempDir()
	leave(t, filepath.Join(dir, "node-1.log"), 0, 10)
	journal, err := CreateJournal(filepath.Join(dir, "orchestrator.log"), 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := journal.Add(Event{At: 20, Kind: Crashed, Node: 2}); err != nil {
		t.Fatal(err)
	}
	if err := journal.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(dir); err == nil {
		t.Error("node 2 of two has crashed")
	}
}
