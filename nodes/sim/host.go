package sim

import (
	"time"

	"turnstile/internal/chance"
	"turnstile/nodes"
	"turnstile/nodes/history"
)

// The world is the host of all its processes.
var _ nodes.Host = (*world)(nil)

// Send implements nodes.Host.
func (w *world) Send(p *nodes.Process, e *nodes.Effect) {
	w.send(p.ID(), e.To, e)
	w.count(p.ID(), e, 1, 1)
}

// Broadcast implements nodes.Host.
func (w *world) Broadcast(p *nodes.Process, e *nodes.Effect) {
	from := p.ID()
	for to := range nodes.ID(w.n) {
		if to != from {
			w.send(from, to, e)
		}
	}
	hearers := p.HearerCount()
	publishes := hearers
	if w.Multicast {
		publishes = 1
	}
	w.count(from, e, hearers, publishes)
}

// count counts a message by its deliveries and its publishes.
func (w *world) count(id nodes.ID, e *nodes.Effect, deliveries, publishes int) {
	w.sent += uint64(deliveries)
	t := w.tally(id, e.Instance, e.Kind)
	t.sent += uint64(deliveries)
	t.publishes += uint64(publishes)
	if e.Resend {
		w.totals[w.at(id, e.Instance)].resent += uint64(deliveries)
	}
	if w.circulates[e.Instance] {
		for range deliveries {
			w.record(history.Event{Kind: history.Sent, Count: uint32(e.Kind), Node: id, Instance: uint16(e.Instance)})
		}
	}
}

// send puts a message on its way.
func (w *world) send(from, to nodes.ID, e *nodes.Effect) {
	w.note(from, to, e.Instance, e.Kind, true)
	if w.links == nil { // the usual case, which must be fast
		w.travel(w.now+w.latency, from, to, e)
		return
	}
	p := &w.packet
	p.From, p.To, p.Instance, p.Kind, p.Net, p.At = from, to, e.Instance, e.Kind, w.nets[e.Kind], w.now
	arrivals, reordered := w.links.Take(p)
	switch {
	case len(arrivals) == 0:
		w.totals[w.at(to, e.Instance)].dropped++
		w.broke(nodes.NoLoss)
	case len(arrivals) > 1:
		w.totals[w.at(to, e.Instance)].copied += uint64(len(arrivals) - 1)
		w.broke(nodes.NoDuplication)
	}
	if reordered {
		w.broke(nodes.FIFO)
	}
	for _, at := range arrivals {
		w.travel(max(at, w.now+1), from, to, e)
	}
}

func (w *world) travel(at int64, from, to nodes.ID, e *nodes.Effect) {
	w.inflight++
	arrival := w.plan(at, toDeliver, to)
	arrival.kind, arrival.input.Instance = e.Kind, e.Instance
	arrival.input.Kind, arrival.input.From, arrival.input.Message = nodes.Receive, from, e.Message
}

// SetTimer implements nodes.Host.
func (w *world) SetTimer(p *nodes.Process, e *nodes.Effect) {
	dice := w.dice.Of(chance.ForTimer, int(e.Instance))
	roll := chance.OnLink(chance.ForTimer, p.ID(), e.Timer.Peer, uint8(e.Timer.Kind), uint64(e.Gen))
	length := e.Min + time.Duration(dice.Unit(roll)*float64(e.Max-e.Min))
	t := w.plan(w.now+max(1, int64(length)), toTimeout, p.ID())
	t.input.Kind, t.input.Instance = nodes.Timeout, e.Instance
	t.input.Timer, t.input.Gen = e.Timer, e.Gen
}

// Save implements nodes.Host: what a process has saved outlives it anyway.
func (w *world) Save(*nodes.Process, *nodes.Effect) {}

// Enter implements nodes.Host.
func (w *world) Enter(p *nodes.Process, e *nodes.Effect) { w.enter(p, e) }

// Revoke implements nodes.Host.
func (w *world) Revoke(p *nodes.Process, e *nodes.Effect) {
	w.revoke(p, e.Instance)
}

// Elect implements nodes.Host.
func (w *world) Elect(p *nodes.Process, e *nodes.Effect) {
	w.record(history.Event{Kind: history.Elected, Node: p.ID(), Instance: uint16(e.Instance),
		Count: uint32(e.To), Value: int64(e.Number)})
}

// Suspect implements nodes.Host. A detector that suspects a process that is up is not perfect.
func (w *world) Suspect(_ *nodes.Process, e *nodes.Effect, suspects bool) {
	if suspects && e.To >= 0 && int(e.To) < len(w.processes) && w.processes[e.To].Up() {
		w.broke(nodes.PerfectDetector)
	}
}
