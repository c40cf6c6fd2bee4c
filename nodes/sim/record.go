package sim

import (
	"cmp"
	"slices"

	"turnstile/nodes"
	"turnstile/nodes/history"
)

// record records an event at the current time. It keeps all events of a time until this time has passed; then
// flush sorts them.
func (w *world) record(e history.Event) {
	e.At = w.now
	if len(w.moment) > 0 && w.moment[0].At != w.now {
		w.flush()
	}
	w.moment = append(w.moment, e)
	if w.Counts && counted(&e) {
		w.moment = append(w.moment, history.Event{At: w.now, Kind: history.Counted, Value: int64(w.sent),
			Fence: w.dropped, Node: nodes.None})
	}
}

// counted reports whether an event of the kind history.Counted follows a given event.
func counted(e *history.Event) bool {
	switch e.Kind {
	case history.FaultBegan, history.FaultHealed:
		return true
	case history.Marked:
		return e.Count != history.Began && e.Count != history.Rested
	}
	return false
}

// flush gives the folds the events of the time that has passed, in the order in which the logs of real
// processes would be merged.
func (w *world) flush() {
	if len(w.moment) > 1 {
		slices.SortStableFunc(w.moment, func(a, b history.Event) int { return cmp.Compare(a.Node, b.Node) })
	}
	for _, f := range w.folds {
		for i := range w.moment {
			f.Add(w.moment[i])
		}
	}
	w.moment = w.moment[:0]
}

func (w *world) mark(mark uint32) {
	w.measuring = w.measuring || mark == history.Measuring
	w.lab.Mark(mark, 0)
}

// note records in the trace that a node has sent a message to a peer or handled one. number is 0 unless all
// messages are recorded.
func (w *world) note(id, peer nodes.ID, instance int32, kind uint8, sent bool, number uint32) {
	if w.frozen && !w.numbers {
		return
	}
	if w.Messages != nil && len(w.trace) > 0 && w.trace[0].At != w.now {
		w.tell()
	}
	if w.Messages != nil || uint64(len(w.trace)) < w.keeps {
		w.trace = append(w.trace, history.MessageRecord{})
	}
	w.traced++
	p := w.noted(w.traced - 1)
	p.At, p.Node, p.Peer, p.Instance, p.Kind, p.Sent = w.now, id, peer, uint16(instance), kind, sent
	p.Seq, p.Lost, p.Asks = number, false, false
}

// noted returns the record of a message that the trace still has, given its index among all messages.
func (w *world) noted(at uint64) *history.MessageRecord {
	if w.Messages != nil {
		return &w.trace[at+uint64(len(w.trace))-w.traced]
	}
	return &w.trace[at&(w.keeps-1)]
}

// tell passes on the messages of the time that has passed.
func (w *world) tell() {
	for _, m := range w.trace {
		w.Messages(m)
	}
	w.trace = w.trace[:0]
}

// noteAsks marks the first message that a node has sent for a request. It searches the trace from the index
// that the parameter since holds.
func (w *world) noteAsks(id nodes.ID, instance int32, since uint64) {
	for at := since; w.numbers && at < w.traced; at++ {
		if m := w.noted(at); m.Sent && m.Node == id && m.Instance == uint16(instance) {
			m.Asks = true
			return
		}
	}
}

// noteLoss records that a message to a node is lost, if all messages are recorded.
func (w *world) noteLoss(to, from nodes.ID, instance int32, kind uint8, number uint32) {
	if w.numbers {
		w.note(to, from, instance, kind, false, number)
		w.noted(w.traced - 1).Lost = true
	}
}

// brokeFor records that a fault has hit a message of an instance, and so broken an assumption. It ignores
// messages of failure detectors: the loss of a heartbeat breaks no assumption of an algorithm, only a wrong
// suspicion does.
func (w *world) brokeFor(instance int32, need nodes.Assumption) {
	if !w.detects(instance) {
		w.lab.Break(need)
	}
}

// close gives the folds the remaining events, and the logs of all nodes. Before that it drops the cluster,
// which may be large.
func (w *world) close() {
	w.flush()
	if w.Messages != nil {
		w.tell()
	}
	w.Schedule.Close(w.processes)
	w.processes, w.arrivals, w.queue, w.links = nil, nil, queue{}, nil
	logs := w.lab.Logs(func(yield func(history.MessageRecord) bool) { // the oldest message first
		for i := range w.trace {
			if !yield(w.trace[(w.traced+uint64(i))%uint64(len(w.trace))]) {
				return
			}
		}
	})
	for _, f := range w.folds {
		f.Close(logs)
	}
}
