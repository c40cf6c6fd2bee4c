package sim

import (
	"turnstile/nodes"
	"turnstile/nodes/history"
)

// crash takes a node down. Its open requests are over, and messages on their way to it will be lost.
func (w *world) crash(p *nodes.Process) {
	if !p.Up() {
		return
	}
	w.broke(nodes.NoCrash)
	crashed := history.Event{Kind: history.Crashed, Node: p.ID()}
	for r := range w.resources {
		res := &w.resources[r]
		if int(p.ID()) >= w.n {
			break
		}
		if r == 0 {
			crashed.Entry = w.client(p.ID(), 0).count
		}
		if p.Client(res.instance) == nodes.Inside {
			res.taken -= p.Units(res.instance)
		}
		if p.Client(res.instance) == nodes.Waiting {
			w.servedCold(w.client(p.ID(), int32(r)).count)
		}
		w.over(p.Client(res.instance))
	}
	w.record(crashed)
	w.lives[p.ID()]++
	p.Crash()
}

// over counts a request as over whose client is in a state.
func (w *world) over(state nodes.ClientState) {
	switch state {
	case nodes.Inside:
		w.open--
	case nodes.Waiting:
		w.open--
		w.waiting--
	}
}

// restart brings a node up again. Its clients begin again.
func (w *world) restart(p *nodes.Process, amnesia bool) {
	if p.Up() {
		return
	}
	w.record(history.Event{Kind: history.Restarted, Count: p.Incarnation() + 1, Node: p.ID()})
	if p.Forgets(amnesia) {
		w.broke(nodes.NoAmnesia)
	}
	w.turn = p.ID()
	w.lives[p.ID()]++
	p.Restart(amnesia)
	w.planAll(p.ID())
}
