package effect

import (
	"slices"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/port"
)

// reconnecting is how long nodes and brokers may take to reconnect, on a slow machine.
const reconnecting = 10 * time.Second

// connections returns the connections of nodes to their brokers. The numbers of the brokers are left 0.
func (w *Wires) connections() (all []port.Link) {
	for _, id := range w.Nodes {
		all = append(all, port.Link{A: port.NodeOf(id), B: port.Member{Role: port.Broker}})
	}
	return all
}

// on returns a function that reports whether a fault of connections hits the connection of a node.
func (at *Place) on(target *Target) func(nodes.ID) bool {
	if target.ByRun() {
		return func(id nodes.ID) bool { return id == at.Victim() }
	}
	return func(id nodes.ID) bool { return slices.Contains(target.List, id) }
}

// brokerOf returns the broker that a node would connect to in a real run.
func (at *Place) brokerOf(id nodes.ID) nodes.ID {
	if at.Second {
		return 0
	}
	return id % nodes.ID(at.Brokers)
}

// connected returns a function that reports whether a node would connect to one of some brokers.
func (at *Place) connected(brokers nodes.Group) func(nodes.ID) bool {
	return func(id nodes.ID) bool { return slices.Contains(brokers, at.brokerOf(id)) }
}

// cutOff drops all packets from and to nodes that are hit.
func cutOff(hit func(nodes.ID) bool) Link {
	return func(p *nodes.Packet, fate nodes.Fate, begun int) (nodes.Fate, bool) {
		if hit(p.From) || hit(p.To) {
			return fate[:begun], true
		}
		return fate, false
	}
}

// holdBack delays all packets from and to nodes that are hit until the fault is healed.
func (at *Place) holdBack(hit func(nodes.ID) bool) Link {
	return func(p *nodes.Packet, fate nodes.Fate, begun int) (nodes.Fate, bool) {
		if hit(p.From) || hit(p.To) {
			return postpone(fate, begun, time.Duration(at.Until()-p.At))
		}
		return fate, false
	}
}
