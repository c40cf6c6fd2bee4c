package sim

import (
	"time"

	"turnstile/internal/chance"
	"turnstile/nodes"
	"turnstile/nodes/port"
)

// The world is the host of all its processes.
var _ nodes.Host = (*world)(nil)

// Send implements nodes.Host.
func (w *world) Send(p *nodes.Process, e *nodes.Effect) {
	w.send(p.ID(), e.To, e)
	w.Schedule.Did(e.Instance)
	w.count(p.ID(), e, 1, 1)
	w.tellFaults(port.OnSend, p.ID(), e.Kind)
}

// Broadcast implements nodes.Host.
func (w *world) Broadcast(p *nodes.Process, e *nodes.Effect) {
	from := p.ID()
	for to := range nodes.ID(w.n) {
		if to != from {
			w.send(from, to, e)
		}
	}
	w.Schedule.Did(e.Instance)
	hearers := p.HearerCount()
	publishes := hearers
	if w.Multicast {
		publishes = 1
	}
	w.count(from, e, hearers, publishes)
	w.tellFaults(port.OnSend, from, e.Kind)
}

// count counts a message by its deliveries (one per receiver) and by its publishes.
func (w *world) count(id nodes.ID, e *nodes.Effect, deliveries, publishes int) {
	if !w.detects(e.Instance) && !w.heartbeats[e.Kind] {
		w.sent += uint64(deliveries)
	}
	w.lab.Send(id, e, deliveries, publishes)
}

// send puts a message on its way.
func (w *world) send(from, to nodes.ID, e *nodes.Effect) {
	if w.numbers {
		w.message++
	}
	w.note(from, to, e.Instance, e.Kind, true, w.message)
	if w.links == nil { // the usual case, which must be fast
		w.Schedule.Send(from, to, e, w.message, 1)
		w.travel(w.now+w.latency, from, to, e)
		return
	}
	p := &w.packet
	p.From, p.To, p.Instance, p.Kind, p.Net, p.At = from, to, e.Instance, e.Kind, w.nets[e.Kind], w.now
	if w.weighs {
		w.buffer = w.Stack.Codec().Append(w.buffer[:0], int(e.Kind), e.Message)
		p.Bytes = len(w.buffer)
	}
	arrivals, reordered := w.links.Take(p)
	if w.FaultDriver != nil && w.FaultDriver.Next() <= w.now { // a fault may have hit its last packet
		w.planFault()
	}
	w.Schedule.Send(from, to, e, w.message, len(arrivals))
	switch {
	case len(arrivals) == 0:
		w.drop(to, e.Instance)
		w.noteLoss(to, from, e.Instance, e.Kind, w.message)
		w.brokeFor(e.Instance, nodes.NoLoss)
	case len(arrivals) > 1:
		w.lab.Copy(to, e.Instance, len(arrivals)-1)
		w.brokeFor(e.Instance, nodes.NoDuplication)
	}
	if reordered {
		w.brokeFor(e.Instance, nodes.FIFO)
	}
	for _, at := range arrivals {
		w.travel(max(at, w.now+1), from, to, e)
	}
}

// drop counts a lost message for an instance of a node.
func (w *world) drop(to nodes.ID, instance int32) {
	if !w.detects(instance) {
		w.dropped++
	}
	w.lab.Drop(to, instance)
}

func (w *world) travel(at int64, from, to nodes.ID, e *nodes.Effect) {
	if w.detects(e.Instance) {
		w.idling++
	} else {
		w.inflight++
	}
	arrival := w.plan(at, toDeliver, to)
	arrival.kind, arrival.input.Instance, arrival.local = e.Kind, e.Instance, int64(w.message)
	arrival.input.Kind, arrival.input.From, arrival.input.Message = nodes.Receive, from, e.Message
}

// SetTimer implements nodes.Host.
func (w *world) SetTimer(p *nodes.Process, e *nodes.Effect) {
	dice := w.dice.Of(chance.ForTimer, int(e.Instance))
	roll := chance.OnLink(chance.ForTimer, p.ID(), e.Timer.Peer, uint8(e.Timer.Kind), uint64(e.Gen))
	length := e.Min + time.Duration(dice.Unit(roll)*float64(e.Max-e.Min))
	if w.detects(e.Instance) {
		w.idling++
	}
	local := w.clockOf(p.ID())
	due := local.Now(w.now) + max(1, int64(length))
	t := w.plan(max(w.now+1, local.When(due)), toTimeout, p.ID())
	t.local = due
	t.input.Kind, t.input.Instance = nodes.Timeout, e.Instance
	t.input.Timer, t.input.Gen = e.Timer, e.Gen
}

// Save implements nodes.Host. The process keeps the message itself.
func (w *world) Save(_ *nodes.Process, e *nodes.Effect) { w.Schedule.Did(e.Instance) }

// Enter implements nodes.Host.
func (w *world) Enter(p *nodes.Process, e *nodes.Effect) { w.enter(p, e) }

// Revoke implements nodes.Host.
func (w *world) Revoke(p *nodes.Process, e *nodes.Effect) {
	w.revoke(p, e.Instance)
}

// Inform implements nodes.Host.
func (w *world) Inform(p *nodes.Process, e *nodes.Effect) { w.lab.Inform(p, e, w.now) }

// Elect implements nodes.Host.
func (w *world) Elect(p *nodes.Process, e *nodes.Effect) {
	w.lab.Elect(p.ID(), e)
	what := port.OnFollow
	if e.To == p.ID() {
		what = port.OnLead
	}
	w.tellFaultsOf(port.Hook{Node: p.ID(), What: what, Term: e.Number})
}

// Suspect implements nodes.Host.
func (w *world) Suspect(p *nodes.Process, e *nodes.Effect, suspects bool) {
	w.Schedule.Suspect(p, e.To, suspects)
	w.suspect(p.ID(), e.To, e.Instance, suspects)
}

// deliver hands a message to its receiver, which may have gone down or restarted since the message was sent.
// If the application of the receiver does not take in messages now, the message waits.
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

// arrived updates the counts of messages on their way: a message is no longer one of them.
func (w *world) arrived(e *event) {
	if w.detects(e.input.Instance) {
		w.idling--
	} else {
		w.inflight--
	}
}

// lose records the loss of a message to a node that went down after it was sent.
func (w *world) lose(e *event) {
	w.drop(e.to, e.input.Instance)
	w.noteLoss(e.to, e.input.From, e.input.Instance, e.kind, uint32(e.local))
}

// attend has a node handle the messages in its inbox, as far as its application takes in messages now. A
// fault may take the node down or pause it meanwhile.
func (w *world) attend(p *nodes.Process) {
	inbox := &w.inboxes[p.ID()]
	for !inbox.Empty() && p.Up() {
		if _, stands := w.missed[p.ID()]; stands {
			return // resume plans another attend
		}
		e, receives := inbox.Take(w.now, p.Inside())
		if !receives {
			return
		}
		w.receive(p, &e)
	}
}

// loseInbox loses the messages in the inbox of a node that goes down.
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
	// Counted here, so the memory of the counter is fetched together with that of the node.
	w.lab.Deliver(e.to, e.input.Instance, e.kind)
	w.note(e.to, e.input.From, e.input.Instance, e.kind, false, uint32(e.local))
	if !w.parked && !(detects && w.silenced) {
		kind := e.kind
		w.arriving = uint32(e.local)
		w.feed(p, &e.input)
		w.tellFaults(port.OnReceive, p.ID(), kind)
	}
}
