package history

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"turnstile/nodes"
)

func TestSavedHistoryReadsBack(t *testing.T) {
	h := &History{Logs: []*NodeLog{{Node: nodes.None,
		Events: []Event{{At: 3, Kind: Marked, Count: Began, Node: nodes.None}}}}}
	h.Logs[0].Totals.EventCount = 1
	for id := range nodes.ID(3) {
		l := &NodeLog{Node: id, StampError: 7, Events: []Event{}}
		for i := range int(id) * 3 {
			l.Events = append(l.Events,
				Event{At: int64(i), Value: -1, Fence: 8, Entry: 4, Count: 5, Instance: 6, Kind: Entered, Node: id})
			l.Trace = append(l.Trace,
				MessageRecord{At: int64(i), Seq: 9, Node: id, Peer: nodes.None, Kind: 3, Sent: i%2 == 0})
		}
		l.Instance(1).Kind(3).Sent, l.Instance(0).Dropped = 8, uint64(id)
		l.Totals.EventCount, l.Totals.TraceNext = uint64(len(l.Events)), uint64(len(l.Trace))
		if id == 2 {
			l.Late = make([]uint64, LatenessBuckets)
			l.Late[5] = 1
		}
		h.Logs = append(h.Logs, l)
	}
	path := filepath.Join(t.TempDir(), "history.zst")
	if err := h.Save(path); err != nil {
		t.Fatal(err)
	}
	back, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(h.Logs, back.Logs, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("-saved +loaded:\n%s", diff)
	}
	var once, again bytes.Buffer
	h.Encode(&once)
	back.Encode(&again)
	if !bytes.Equal(once.Bytes(), again.Bytes()) {
		t.Error("the history read back is written in other bytes")
	}
}
