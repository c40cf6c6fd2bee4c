package bench

import (
	"path/filepath"
	"runtime"
	"testing"

	"turnstile/bench/option"
	"turnstile/judge/check"
	"turnstile/nodes"
	"turnstile/nodes/history"
)

// storeTurns stores a history of entries, which nodes make in turn.
func storeTurns(t *testing.T, path string, n, entries int) {
	t.Helper()
	f, err := history.CreateFile(path, history.Header{Nodes: n})
	if err != nil {
		t.Fatal(err)
	}
	logs := []*history.NodeLog{{Node: nodes.None}}
	for id := range n {
		logs = append(logs, &history.NodeLog{Node: nodes.ID(id), Instances: make([]history.InstanceTotals, 1)})
	}
	mark := func(at int64, mark uint32) {
		f.Add(history.Event{At: at, Kind: history.Marked, Count: mark, Node: nodes.None})
	}
	mark(0, history.Measuring)
	at := int64(0)
	for i := range entries {
		id, entry := nodes.ID(i%n), uint32(i/n+1)
		at += 1000
		f.Add(history.Event{At: at, Kind: history.Requested, Node: id, Entry: entry, Count: 1, Value: at})
		f.Add(history.Event{At: at + 100, Kind: history.Entered, Node: id, Entry: entry, Count: 1, Value: int64(i)})
		f.Add(history.Event{At: at + 200, Kind: history.Exited, Node: id, Entry: entry, Value: int64(i + 1)})
		c := logs[id+1].Instance(0)
		c.Requests, c.Entries, c.Exits = c.Requests+1, c.Entries+1, c.Exits+1
	}
	mark(at+1000, history.Stopped)
	mark(at+1000, history.Rested)
	f.Close(logs)
	if err := f.Save(); err != nil {
		t.Fatal(err)
	}
}

// However long a history is, what reads and judges it holds the same memory at its end.
func TestJudgingTakesBoundedMemory(t *testing.T) {
	held := func(entries int) uint64 {
		path := filepath.Join(t.TempDir(), "history.zst")
		storeTurns(t, path, 8, entries)
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		r, err := history.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		job := &Job{Options: option.Defaults()}
		j := job.judgementOf(r.Header, check.Setting{Config: nodes.Config{N: 8}})
		if err := r.Run(j); err != nil {
			t.Fatal(err)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		v := j.checks.Verdict()
		if v.Outcome != check.Valid || j.measures.Measures.Wait.Count() != uint64(entries) {
			t.Fatalf("%v: %s", v.Outcome, v.Reason)
		}
		return after.HeapAlloc - before.HeapAlloc
	}
	short, long := held(20_000), held(100_000)
	if more := int64(long) - int64(short); more > 1<<17 {
		t.Errorf("a history with 80,000 entries more takes %d bytes more", more)
	}
}
