package sim

import (
	"turnstile/nodes"
	"turnstile/nodes/history"
)

// record and mark note what happens now.
func (w *world) record(e history.Event) {
	e.At = w.now
	w.events = append(w.events, e)
}

func (w *world) mark(mark uint32) {
	w.measuring = w.measuring || mark == history.Measuring
	w.record(history.Event{Kind: history.Marked, Count: mark, Node: nodes.None})
}

// pass puts a message that goes by at a node, sent to a peer or handled, into the trace.
func (w *world) pass(id, peer nodes.ID, kind uint8, sent bool) {
	if w.frozen {
		return
	}
	if len(w.trace) < traceLength {
		w.trace = append(w.trace, history.MessageRecord{})
	}
	p := &w.trace[w.passed%traceLength]
	p.At, p.Node, p.Peer, p.Kind, p.Sent = w.now, id, peer, kind, sent
	w.passed++
}

// broke notes that an assumption about the system holds no more.
func (w *world) broke(need nodes.Assumption) {
	if w.broken&need != 0 {
		return
	}
	w.broken |= need
	w.record(history.Event{Kind: history.AssumptionBroken, Value: int64(w.broken), Node: nodes.None})
}

// history makes a history of what was recorded.
func (w *world) history() *history.History {
	logs := []*history.NodeLog{{Node: nodes.None}}
	for id := range nodes.ID(len(w.members)) {
		logs = append(logs, &history.NodeLog{Node: id, Instances: []history.InstanceTotals{w.totals(id)}})
	}
	h := history.Ordered(logs, w.events)
	w.events = nil
	for i := range w.trace { // the oldest first
		p := w.trace[(w.passed+uint64(i))%uint64(len(w.trace))]
		l := logs[p.Node+1]
		l.Trace = append(l.Trace, p)
		l.Totals.TraceNext++
	}
	return h
}

// totals returns what a node would have counted in its log.
func (w *world) totals(id nodes.ID) history.InstanceTotals {
	m := &w.members[id].totals
	t := history.InstanceTotals{Requests: m.requests, Entries: m.entries, Exits: m.exits,
		Resent: m.resent, Dropped: m.dropped, Copied: m.copied}
	for kind := range w.codec.Kinds() {
		k := w.tally(id, uint8(kind))
		t.Kinds = append(t.Kinds,
			history.KindTotals{Sent: k.sent, Publishes: k.publishes, Delivered: k.delivered})
	}
	return t
}
