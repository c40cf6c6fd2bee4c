package effect

import (
	"slices"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/port"
)

// reconnecting is how long nodes and brokers may take to find each other again, on a slow machine.
const reconnecting = 10 * time.Second

// ofConnection is what effects on connections have in common.
type ofConnection struct{ plain }

func (ofConnection) Heal(c *Carrier) error { return c.HealConnection(c.Number) }

// strain puts a strain on the connections of some nodes, and returns how many of these are up.
func strain(c *Carrier, of Group, s port.Strain) (hit int, err error) {
	for _, id := range of {
		if c.Up(id) {
			hit++
		}
	}
	s.Network = c.Network
	return hit, c.BeginConnection(c.Number, of, s)
}

// on reports of a node whether a fault of connections hits its own.
func (at *Place) on(who *Target) func(nodes.ID) bool {
	if who.ByRun() {
		return func(id nodes.ID) bool { return id == at.Victim() }
	}
	return func(id nodes.ID) bool { return slices.Contains(who.Nodes, id) }
}

// brokerOf returns the number of the broker of its network that a node would be at.
func (at *Place) brokerOf(id nodes.ID) nodes.ID {
	if at.Second {
		return 0
	}
	return id % nodes.ID(at.Brokers)
}

// at reports of a node whether it would be at one of some brokers.
func (at *Place) at(brokers Group) func(nodes.ID) bool {
	return func(id nodes.ID) bool { return slices.Contains(brokers, at.brokerOf(id)) }
}

// cutOff loses what passes the connection of a node that is hit.
func cutOff(hit func(nodes.ID) bool) Link {
	return func(p *nodes.Packet, fate nodes.Fate, begun int) (nodes.Fate, bool) {
		if hit(p.From) || hit(p.To) {
			return fate[:begun], true
		}
		return fate, false
	}
}

// holdBack holds back what passes the connection of a node that is hit, until the fault is healed.
func (at *Place) holdBack(hit func(nodes.ID) bool) Link {
	return func(p *nodes.Packet, fate nodes.Fate, begun int) (nodes.Fate, bool) {
		if hit(p.From) || hit(p.To) {
			return postpone(fate, begun, time.Duration(at.Until()-p.At))
		}
		return fate, false
	}
}
