package sim

import (
	"turnstile/bench/history"
	"turnstile/nodes"
)

// record and mark note what happens now.
func (w *world) record(e history.Event) {
	e.At = w.now
	w.events = append(w.events, e)
}

func (w *world) mark(mark uint32) {
	w.journal = append(w.journal, history.Event{At: w.now, Kind: history.Marked, Count: mark, Node: nodes.None})
}

// pass puts a message that goes by at a node, sent to a peer or handled, into the ring.
func (w *world) pass(id, peer nodes.ID, kind uint8, sent bool) {
	if w.frozen {
		return
	}
	if len(w.ring) < ringLen {
		w.ring = append(w.ring, history.Passage{})
	}
	p := &w.ring[w.passed%ringLen]
	p.At, p.Node, p.Peer, p.Kind, p.Sent = w.now, id, peer, kind, sent
	w.passed++
}

// broke notes that an assumption about the system holds no more.
func (w *world) broke(need nodes.Need) {
	if w.broken&need != 0 {
		return
	}
	w.broken |= need
	w.journal = append(w.journal,
		history.Event{At: w.now, Kind: history.Broke, Value: int64(w.broken), Node: nodes.None})
}

// history sorts what was recorded into the logs of the nodes.
func (w *world) history() *history.History {
	h := &history.History{Logs: []*history.NodeLog{{Node: nodes.None, Events: w.journal}}}
	ends := make([]int, len(w.members)) // of each node's events, when they lie node by node
	for i := range w.events {
		ends[w.events[i].Node]++
	}
	for id := 1; id < len(ends); id++ {
		ends[id] += ends[id-1]
	}
	sorted := make([]history.Event, len(w.events))
	for i := len(w.events) - 1; i >= 0; i-- { // from the last, so that each node's stay in order
		id := w.events[i].Node
		ends[id]--
		sorted[ends[id]] = w.events[i]
	}
	w.events = nil
	ends = append(ends, len(sorted)) // now they are where each node's events begin
	for id := range w.members {
		l := &history.NodeLog{Node: nodes.ID(id), Totals: w.totals(nodes.ID(id)),
			Events: sorted[ends[id]:ends[id+1]:ends[id+1]]}
		l.Totals.EventCount = uint64(len(l.Events))
		h.Logs = append(h.Logs, l)
	}
	for i := range w.ring { // the oldest first
		p := w.ring[(w.passed+uint64(i))%uint64(len(w.ring))]
		l := h.Logs[p.Node+1]
		l.Ring = append(l.Ring, p)
		l.Totals.RingNext++
	}
	h.Logs[0].Totals.EventCount = uint64(len(w.journal))
	return h
}

// totals returns what a node would have counted in its log.
func (w *world) totals(id nodes.ID) history.Totals {
	m := &w.members[id].totals
	t := history.Totals{Requests: m.requests, Entries: m.entries, Exits: m.exits,
		Resent: m.resent, Dropped: m.dropped, Copied: m.copied}
	for kind := range w.codec.Kinds() {
		k := w.tally(id, uint8(kind))
		t.Sent[kind], t.Publishes[kind], t.Delivered[kind] = k.sent, k.publishes, k.delivered
	}
	return t
}
