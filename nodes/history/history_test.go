package history

import (
	"bytes"
	"strings"
	"testing"
)

// readerOf stores a history, and opens it.
func readerOf(t *testing.T, h Header, events []Event, logs []*NodeLog) *Reader {
	t.Helper()
	var b bytes.Buffer
	w := NewWriter(&b, h)
	for _, e := range events {
		w.Add(e)
	}
	w.Close(logs)
	s, err := newStored("a history", &b)
	if err != nil {
		t.Fatal(err)
	}
	return &Reader{s.Header, s, func() error { return nil }}
}

func TestDifference(t *testing.T) {
	header := Header{Nodes: 2, Origin: 1}
	events := []Event{{At: 1, Kind: Requested, Entry: 1, Count: 1}, {At: 5, Kind: Entered, Entry: 1, Value: 7}}
	logs := []*NodeLog{{Node: 0, Totals: Totals{Gaps: 1}}}
	later := []Event{events[0], {At: 6, Kind: Entered, Entry: 1, Value: 7}}
	for name, c := range map[string]struct {
		header Header
		events []Event
		logs   []*NodeLog
		says   string
		same   uint64
	}{
		"the same, of another run": {Header{Nodes: 2, Origin: 2}, events, logs, "", 2},
		"another time": {header, later, logs, "event 2 is (node 0 at 5ns: entered, entry 1, value 7) in one, " +
			"and (node 0 at 6ns: entered, entry 1, value 7) in the other", 1},
		"an event fewer": {header, events[:1], logs, "and missing in the other", 1},
		"other counts":   {header, events, []*NodeLog{{Node: 0}}, "what node 0 counted differs", 2},
		"a log fewer":    {header, events, nil, "1 nodes left a log in one, and 0 in the other", 2},
		"more nodes":     {Header{Nodes: 3}, events, logs, "one is of 2 nodes", 0},
	} {
		says, same, err := readerOf(t, header, events, logs).Difference(readerOf(t, c.header, c.events, c.logs))
		if err != nil || !strings.Contains(says, c.says) || (says == "") != (c.says == "") || same != c.same {
			t.Errorf("%s: %q after %d events, %v", name, says, same, err)
		}
	}
}
