package chaos

import (
	"time"

	"turnstile/nodes"
)

// A simulation has neither connections nor brokers. What their faults do to messages, links do there.

// standsFor reports whether a rule that stands in for a fault is for a packet.
func (x *rule) standsFor(p *nodes.Packet) bool {
	if !x.CutRoutes.IsZero() {
		return x.CutRoutes.Separates(x.brokerOf(p.From), x.brokerOf(p.To))
	}
	return x.isAt(p.From) || x.isAt(p.To)
}

// brokerOf returns the number of the broker that a node would be at.
func (x *rule) brokerOf(id nodes.ID) nodes.ID {
	if x.net() > 0 {
		return x.broker(0, x.among)
	}
	return id % nodes.ID(x.among)
}

// isAt reports whether the fault hits the connection of a node, or its broker.
func (x *rule) isAt(id nodes.ID) bool {
	switch t := x.target(); {
	case t == nil:
		return contains(x.at, x.brokerOf(id))
	case t.ByRun():
		return id == x.slot.victim()
	}
	return contains(x.at, id)
}

// standIn changes the fate of a packet, from begun on, as the fault of a connection or a broker would, and
// reports whether it hits it.
func (x *rule) standIn(p *nodes.Packet, fate nodes.Fate, begun int) (nodes.Fate, bool) {
	later := time.Duration(0)
	switch {
	case x.Breaks()&nodes.NoLoss != 0:
		return fate[:begun], true
	case !x.Lag.IsZero(): // of each connection that it passes
		for _, id := range [2]nodes.ID{p.From, p.To} {
			if x.isAt(id) {
				later += x.By
			}
		}
	case !x.Throttle.IsZero():
		later = x.squeeze(p)
	default: // held back until it is healed
		later = time.Duration(x.slot.to.Load() - p.At)
	}
	for i := range fate[begun:] {
		fate[begun+i] += later
	}
	return fate, len(fate) > begun
}

// squeeze returns how much later a packet arrives, since others pass the same connections before it, and
// since it takes its own time.
func (x *rule) squeeze(p *nodes.Packet) time.Duration {
	x.renew(p.At)
	takes := int64(p.Bytes) * int64(time.Second) / int64(x.To)
	at := p.At
	for _, end := range [2][2]nodes.ID{{p.From, nodes.None}, {nodes.None, p.To}} {
		if x.isAt(max(end[0], end[1])) {
			x.busy[end] = max(x.busy[end], at) + takes
			at = x.busy[end]
		}
	}
	return time.Duration(at - p.At)
}
