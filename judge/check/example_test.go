package check_test

import (
	"fmt"

	"turnstile/judge/check"
	"turnstile/nodes"
	"turnstile/nodes/history"
)

// Node 1 enters while node 0 is inside: both read 0 from the account, and both write 1.
func Example() {
	h := &history.History{Logs: []*history.NodeLog{{Node: nodes.None}}}
	mark := func(at int64, mark uint32) {
		h.Events = append(h.Events, history.Event{At: at, Kind: history.Marked, Count: mark, Node: nodes.None})
	}
	mark(0, history.Measuring)
	for i, kind := range []history.Kind{history.Requested, history.Entered, history.Exited} {
		for id := range nodes.ID(2) {
			e := history.Event{At: int64(100*i) + 10*int64(id) + 10, Kind: kind, Node: id, Entry: 1}
			switch kind {
			case history.Requested:
				e.Value, e.Count = e.At, 1
			case history.Entered:
				e.Count = uint32(id) + 1 // what the register shows
			default:
				e.Value = 1
			}
			h.Events = append(h.Events, e)
		}
	}
	mark(300, history.Stopped)
	mark(300, history.Rested)
	for id := range nodes.ID(2) {
		h.Logs = append(h.Logs, &history.NodeLog{Node: id,
			Instances: []history.InstanceTotals{{Requests: 1, Entries: 1, Exits: 1}}})
	}

	v := check.Judge(h, check.Setting{Config: nodes.Config{N: 2}})
	fmt.Println(v.Outcome, v.Overlap)
	for _, f := range v.Findings {
		if f.Outcome != check.Valid {
			fmt.Printf("%s: %s\n", f.Check, f.Says)
		}
	}

	// Output:
	// violated 90ns
	// exclusion: 2 entries overlapped: nodes 0 and 1 were inside together for 0.1 us
	// register: the register counted 2 inside when node 1 entered
	// account: the account lost 1 update: it held at most 1, and there were 2 exits
}
