package sim

import (
	"turnstile/nodes"
	"turnstile/nodes/port"
)

// deliver hands a message to its node, which may have gone down or restarted since it was sent. If the
// application of the node does not receive now, the message waits.
func (w *world) deliver(p *nodes.Process, e *event, there bool) {
	switch {
	case !there:
		w.arrived(e)
		w.lose(e)
		w.lab.Break(nodes.NoCrash)
	case w.inboxes == nil || w.detects(e.input.Instance):
		w.receive(p, e)
	default:
		inbox := &w.inboxes[e.to]
		if !inbox.Keeps(w.now, p.Inside()) {
			w.receive(p, e)
			return
		}
		if poll := inbox.Keep(*e, w.now); poll > 0 {
			w.plan(poll, toReceive, e.to)
		}
	}
}

// arrived takes note that a message is on its way no more.
func (w *world) arrived(e *event) {
	if w.detects(e.input.Instance) {
		w.idling--
	} else {
		w.inflight--
	}
}

// lose takes note that a message has come to a node that went down since it was sent.
func (w *world) lose(e *event) {
	w.drop(e.to, e.input.Instance)
	w.noteLoss(e.to, e.input.From, e.input.Instance, e.kind, uint32(e.local))
}

// attend has a node handle the messages that wait, as far as its application receives them now. A fault may
// take the node down meanwhile, or stop it.
func (w *world) attend(p *nodes.Process) {
	inbox := &w.inboxes[p.ID()]
	for !inbox.Empty() && p.Up() {
		if _, stands := w.missed[p.ID()]; stands {
			return // goesOn comes back to it
		}
		e, receives := inbox.Take(w.now, p.Inside())
		if !receives {
			return
		}
		w.receive(p, &e)
	}
}

// loseInbox loses what waits at a node that goes down.
func (w *world) loseInbox(id nodes.ID) {
	if w.inboxes == nil {
		return
	}
	for _, e := range w.inboxes[id].Lose() {
		w.arrived(&e)
		w.lose(&e)
	}
}

// receive has a node handle a message.
func (w *world) receive(p *nodes.Process, e *event) {
	detects := w.detects(e.input.Instance)
	if detects {
		w.idling--
		w.beats++
	} else {
		w.inflight--
		w.handled++
		w.steps++
	}
	// Now, so that its memory is fetched together with the node's.
	w.lab.Deliver(e.to, e.input.Instance, e.kind)
	w.note(e.to, e.input.From, e.input.Instance, e.kind, false, uint32(e.local))
	if !w.parked && !(detects && w.hushed) {
		kind := e.kind
		w.feed(p, &e.input)
		w.tellFaults(port.OnReceive, p.ID(), kind)
	}
}
