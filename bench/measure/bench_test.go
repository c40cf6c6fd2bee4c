package measure

import (
	"testing"

	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/workload"
)

// busyHistory is that of n saturated nodes that enter in turn.
func busyHistory(n, entries int) *history.History {
	h := &history.History{Logs: []*history.NodeLog{{Node: nodes.None}}}
	for i := range n {
		h.Logs = append(h.Logs, &history.NodeLog{Node: nodes.ID(i)})
	}
	mark := func(at int64, count uint32) {
		e := history.Event{At: at, Kind: history.Marked, Count: count, Node: nodes.None}
		h.Logs[0].Events = append(h.Logs[0].Events, e)
	}
	mark(0, history.Measuring)
	for i := range entries {
		l := h.Logs[1+i%n]
		at, asked := int64(i)*1000, int64(max(0, i-n))*1000+900
		for _, e := range []history.Event{
			{At: asked, Value: asked, Kind: history.Requested},
			{At: at + 950, Kind: history.Entered},
			{At: at + 960, Kind: history.Exited},
		} {
			e.Node = l.Node
			l.Events = append(l.Events, e)
		}
	}
	mark(int64(entries)*1000, history.Stopped)
	mark(int64(entries)*1000+1, history.Rested)
	return h
}

func BenchmarkMeasure(b *testing.B) {
	h := busyHistory(32, 1_000_000)
	for b.Loop() {
		if m := Of(h, workload.Saturated); m.Entries != 1_000_000 {
			b.Fatal(m.Entries)
		}
	}
}
