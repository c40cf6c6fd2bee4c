package sim

import "turnstile/nodes"

// crash takes a node down. Its open requests are over, and messages on their way to it will be lost.
func (w *world) crash(p *nodes.Process) {
	if !p.Up() {
		return
	}
	w.lab.Break(nodes.NoCrash)
	for r := range w.lab.Resources {
		if int(p.ID()) >= w.n {
			break
		}
		switch c := w.lab.Client(p.ID(), int32(r)); {
		case c.Inside:
			w.open--
		case c.Left: // it died before it handed it back
		case p.Client(w.lab.Resources[r].Instance) != nodes.Idle:
			w.servedCold(c.Count)
			w.open--
			w.waiting--
		}
	}
	w.lab.Crash(p)
	w.lives[p.ID()]++
	p.Crash()
	w.loseInbox(p.ID())
	delete(w.clocks, p.ID()) // a new process begins with a clock that is right
	w.falls(p.ID())
	w.goesOn(p.ID()) // what it has missed is lost
}

// restart brings a node up again. Its clients begin again.
func (w *world) restart(p *nodes.Process, amnesia bool) {
	if p.Up() {
		return
	}
	w.lab.Restart(p, amnesia)
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
