package sim

import (
	"slices"

	"turnstile/internal/chance"
	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/workload"
)

// plan finds out when the next request of a client is due, the one before having been due at lastDue and
// over at lastEnd.
func (w *world) plan(id nodes.ID, lastDue, lastEnd int64) {
	m := &w.members[id]
	if m.over || w.stopped {
		return
	}
	m.made = false
	m.due = w.Workload.Next(w.dice, id, uint64(m.count)+1, lastDue, lastEnd)
	if m.due == workload.Never {
		return
	}
	next := w.queue.add(max(w.now, m.due))
	next.what, next.to, next.life = toRequest, id, w.lives[id]
}

// ask has a client that is drawn at random among those that are up make a request now.
func (w *world) ask() {
	if w.stopped {
		return
	}
	up := slices.ContainsFunc(w.lives[:w.n], life.up)
	if !up {
		return
	}
	var id nodes.ID
	for again := true; again; again = !w.lives[id].up() {
		w.drawn++
		id = nodes.ID(w.dice.Below(chance.Roll{Purpose: chance.ForNode, Count: w.drawn}, w.n))
	}
	w.members[id].due = w.now
	w.asked = asked{true, id, w.sent}
	w.request(id)
}

// settle records what the request that is over has cost.
func (w *world) settle() {
	if w.asked.open {
		w.asked.open = false
		w.record(history.Event{Kind: history.Settled, Count: uint32(w.asked.node),
			Value: int64(w.sent - w.asked.sent), Node: nodes.None})
	}
}

// request has the machine asked for the critical section, if the run still issues requests.
func (w *world) request(id nodes.ID) {
	m := &w.members[id]
	w.issued++
	if w.Entries > 0 && w.issued > w.Entries {
		m.over = true
		w.stop()
		return
	}
	m.count++
	m.totals.requests++
	m.made = true
	if w.open == w.inside { // nobody has waited until now
		w.moved = w.handled
	}
	w.open++
	w.record(history.Event{Kind: history.Requested, Entry: m.count, Value: m.due, Count: 1, Node: id})
	if w.issued == w.Entries {
		w.stop()
	}
	w.feed(id, &nodes.Input{Kind: nodes.Request})
}

// stop ends the issuing of requests. What an open load had planned before is on record as unissued.
func (w *world) stop() {
	if w.stopped {
		return
	}
	w.stopped = true
	if w.Duration == 0 && w.steady() > 0 && !w.measuring {
		w.mark(history.Measuring)
	}
	if !w.short() {
		w.markStopped()
	}
	for id := range nodes.ID(w.n) {
		w.members[id].over = true
		if w.Workload.Load == workload.Open {
			w.unissued(id)
		}
	}
}

// markStopped ends what is measured: of a short run when its last request is over, of others when that was
// issued.
func (w *world) markStopped() {
	if !w.ended {
		w.ended = true
		w.mark(history.Stopped)
	}
}

// short reports whether the run has too few entries for any to warm it up: then it is measured to its last
// exit, or there might be nobody who entered before the last had asked.
func (w *world) short() bool { return w.Duration == 0 && w.steady() == 0 }

// unissued records the arrivals at a client that were due and will never be issued.
func (w *world) unissued(id nodes.ID) {
	m := &w.members[id]
	due, count := m.due, uint64(m.count)+1
	if m.made { // the request after it is not planned yet
		due = w.Workload.Next(w.dice, id, count, due, w.now)
	}
	for ; due < w.now; count++ {
		w.record(history.Event{Kind: history.Unissued, Value: due, Node: id})
		due = w.Workload.Next(w.dice, id, count+1, due, w.now)
	}
}

// enter begins a critical section, and plans its end. It takes a moment at least, or a client that needs
// no message to enter again would hold up time.
func (w *world) enter(id nodes.ID) {
	m := &w.members[id]
	w.inside++
	w.moved = w.handled
	w.entries++
	m.money = w.account
	m.totals.entries++
	w.record(history.Event{Kind: history.Entered, Entry: m.count, Value: m.money,
		Count: uint32(w.inside), Node: id})
	if w.Duration == 0 && w.steady() > 0 && w.entries == w.steady() {
		w.mark(history.Measuring)
	}
	hold := max(1, int64(w.Workload.HoldFor(w.dice, id, uint64(m.count))))
	end := w.queue.add(w.now + hold)
	end.what, end.to, end.life = toRelease, id, w.lives[id]
}

// release ends a critical section and has the machine release it.
func (w *world) release(id nodes.ID) {
	m := &w.members[id]
	w.account = m.money + 1
	w.frozen = w.frozen || w.inside > 1
	w.inside--
	w.open--
	w.record(history.Event{Kind: history.Exited, Entry: m.count, Value: m.money + 1, Node: id})
	w.feed(id, &nodes.Input{Kind: nodes.Release})
	m.totals.exits++
	w.plan(id, m.due, w.now)
}
