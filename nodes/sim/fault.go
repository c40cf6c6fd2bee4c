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
		switch c := w.client(p.ID(), int32(r)); {
		case c.inside:
			res.taken -= p.Units(res.instance)
			c.inside = false
			w.open--
		case c.left: // it died before it handed it back
		case p.Client(res.instance) != nodes.Idle:
			w.servedCold(c.count)
			w.open--
			w.waiting--
		}
	}
	w.record(crashed)
	w.lives[p.ID()]++
	p.Crash()
	delete(w.clocks, p.ID()) // a new process begins with a clock that is right
	w.falls(p.ID())
	w.goesOn(p.ID()) // what it has missed is lost
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
	w.begins(p.ID())
	if w.links != nil {
		w.links.Restart(p.ID(), p.Incarnation()+1)
	}
	p.Restart(amnesia)
	w.planAll(p.ID())
	if w.Workload.CampaignEvery > 0 {
		w.planCampaign(p.ID(), w.now)
	}
}
