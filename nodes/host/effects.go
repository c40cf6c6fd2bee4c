package host

import (
	"turnstile/internal/chance"
	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/port"
)

// The host does what its one process asks for.
var _ nodes.Host = (*host)(nil)

// Send implements nodes.Host. A node that cannot go on sends nothing: what it said may not be saved.
func (h *host) Send(_ *nodes.Process, e *nodes.Effect) {
	switch {
	case h.err != nil:
	case h.revoking > 0:
		h.held = append(h.held, *e)
	default:
		h.traffic.send(e)
		h.tellFaults(port.OnSend, e.Kind)
	}
}

// Broadcast implements nodes.Host.
func (h *host) Broadcast(p *nodes.Process, e *nodes.Effect) {
	switch {
	case h.err != nil:
	case h.revoking > 0:
		h.held = append(h.held, *e)
	default:
		h.traffic.broadcast(p, e)
		h.tellFaults(port.OnSend, e.Kind)
	}
}

// sendHeld sends what was held up by revocations, now that the register knows of all.
func (h *host) sendHeld() {
	held := h.held
	h.held = nil
	for i := range held {
		if e := &held[i]; e.Op == nodes.OpSend {
			h.Send(&h.process, e)
		} else {
			h.Broadcast(&h.process, e)
		}
	}
}

// SetTimer implements nodes.Host.
func (h *host) SetTimer(_ *nodes.Process, e *nodes.Effect) {
	dice := h.dice.Of(chance.ForTimer, int(e.Instance))
	roll := chance.OnLink(chance.ForTimer, h.config.Node, e.Timer.Peer, uint8(e.Timer.Kind), uint64(e.Gen))
	length := int64(e.Min) + int64(dice.Unit(roll)*float64(e.Max-e.Min))
	local := h.skew.Now(h.clock.Now()) + length
	h.pendFor(e.Instance, task{at: h.skew.When(local), local: local, what: toTimeout,
		input: nodes.Input{Kind: nodes.Timeout, Instance: e.Instance, Timer: e.Timer, Gen: e.Gen}})
}

// Save implements nodes.Host.
func (h *host) Save(_ *nodes.Process, e *nodes.Effect) {
	if h.err == nil {
		h.err = h.memory.save(e.Instance, e.Kind, e.Message)
	}
}

// Enter implements nodes.Host. Nor does a node that cannot go on let its client in.
func (h *host) Enter(_ *nodes.Process, e *nodes.Effect) {
	if h.err == nil {
		h.clientOf[e.Instance].enter(e.Number)
	}
}

// Revoke implements nodes.Host. Whom Enter did not let in does not leave.
func (h *host) Revoke(_ *nodes.Process, e *nodes.Effect) {
	if h.err == nil {
		h.clientOf[e.Instance].revoke()
	}
}

// Inform implements nodes.Host.
func (h *host) Inform(_ *nodes.Process, e *nodes.Effect) {
	if h.err != nil {
		return
	}
	switch c := h.clientOf[e.Instance]; e.Op {
	case nodes.OpTellLost:
		c.toldLost()
	case nodes.OpRefuse:
		c.hears(history.Event{Kind: history.TryRefused, Value: c.triedAt})
	case nodes.OpRetry:
		c.triedAt = h.clock.Now()
	}
}

// Elect implements nodes.Host.
func (h *host) Elect(_ *nodes.Process, e *nodes.Effect) {
	h.record(history.Event{Kind: history.Elected, Instance: uint16(e.Instance),
		Count: uint32(e.To), Value: int64(e.Number)})
	what := port.OnFollow
	if e.To == h.config.Node {
		what = port.OnLead
	}
	h.tellFaultsOf(port.Hook{What: what, Term: e.Number})
}

// Suspect implements nodes.Host. A host sees one process, and does not know whether a suspicion is true.
func (h *host) Suspect(_ *nodes.Process, e *nodes.Effect, suspects bool) {
	kind := history.Trusted
	if suspects {
		kind = history.Suspected
	}
	h.record(history.Event{Kind: kind, Instance: uint16(e.Instance), Count: uint32(e.To)})
}

// choose answers Env.Choose.
func (h *host) choose(id nodes.ID, instance int32, n int) int {
	h.choices[instance]++
	dice := h.dice.Of(chance.ForChoice, int(instance))
	return dice.Below(chance.At(chance.ForChoice, id, h.choices[instance]), n)
}
