package effect

import (
	"slices"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/port"
)

// reconnecting is how long nodes and brokers may take to find each other again, on a slow machine.
const reconnecting = 10 * time.Second

// connections returns the connections of nodes to their brokers, whose numbers are not looked at.
func (w *Wires) connections() (all []port.Link) {
	for _, id := range w.Nodes {
		all = append(all, port.Link{A: port.NodeOf(id), B: port.Member{Role: port.Broker}})
	}
	return all
}

// on reports of a node whether a fault of connections hits its own.
func (at *Place) on(who *Target) func(nodes.ID) bool {
	if who.ByRun() {
		return func(id nodes.ID) bool { return id == at.Victim() }
	}
	return func(id nodes.ID) bool { return slices.Contains(who.List, id) }
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
