package sim

import (
	"turnstile/nodes"
	"turnstile/nodes/history"
)

// crash takes a node down: what was open at it is over, and what is on its way there will be lost.
func (w *world) crash(id nodes.ID) {
	m := &w.members[id]
	if !w.lives[id].up() {
		return
	}
	w.lives[id]++
	w.broke(nodes.NoCrash)
	w.record(history.Event{Kind: history.Crashed, Entry: m.count, Node: id})
	switch w.nodes[id].Client(0) {
	case nodes.Inside:
		w.inside--
		w.open--
	case nodes.Waiting:
		w.open--
	}
}

// restart brings a node up anew. Its client begins again.
func (w *world) restart(id nodes.ID, amnesia bool) {
	m := &w.members[id]
	if w.lives[id].up() {
		return
	}
	w.lives[id]++
	if amnesia {
		m.saved = nil
	}
	w.record(history.Event{Kind: history.Restarted, Count: w.lives[id].incarnation(), Node: id})
	w.nodes[id] = w.node(id)
	if _, remembers := w.nodes[id].Machine(0).(nodes.Recoverer); amnesia || !remembers {
		w.broke(nodes.NoAmnesia)
	}
	w.feed(id, &nodes.Input{Kind: nodes.Recover, Message: m.saved})
	if int(id) < w.n {
		w.plan(id, w.now, w.now)
	}
}
