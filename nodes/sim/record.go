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

// note puts a message that goes by at a node, sent to a peer or handled, into the trace.
func (w *world) note(id, peer nodes.ID, instance int32, kind uint8, sent bool) {
	if w.frozen {
		return
	}
	if len(w.trace) < traceLen {
		w.trace = append(w.trace, history.MessageRecord{})
	}
	p := &w.trace[w.traced%traceLen]
	p.At, p.Node, p.Peer, p.Instance, p.Kind, p.Sent = w.now, id, peer, uint16(instance), kind, sent
	w.traced++
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
	for id := range nodes.ID(len(w.processes)) {
		l := &history.NodeLog{Node: id}
		for i := range w.stack.Instances() {
			l.Instances = append(l.Instances, w.totalsOf(id, int32(i)))
		}
		logs = append(logs, l)
	}
	h := history.Ordered(logs, w.events)
	w.events = nil
	for i := range w.trace { // the oldest first
		p := w.trace[(w.traced+uint64(i))%uint64(len(w.trace))]
		l := logs[p.Node+1]
		l.Trace = append(l.Trace, p)
		l.Totals.TraceNext++
	}
	return h
}

// totalsOf returns what an instance of a node would have counted in its log.
func (w *world) totalsOf(id nodes.ID, instance int32) history.InstanceTotals {
	m := &w.totals[w.at(id, instance)]
	t := history.InstanceTotals{Requests: m.requests, Entries: m.entries, Exits: m.exits,
		Resent: m.resent, Dropped: m.dropped, Copied: m.copied}
	for kind := range w.stack.Codec().Kinds() {
		k := w.tally(id, instance, uint8(kind))
		t.Kinds = append(t.Kinds,
			history.KindTotals{Sent: k.sent, Publishes: k.publishes, Delivered: k.delivered})
	}
	return t
}
