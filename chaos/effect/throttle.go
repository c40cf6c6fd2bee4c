package effect

import (
	"errors"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/port"
)

// Throttle limits the bytes that pass the connections of nodes to their brokers in a second.
type Throttle struct {
	plain
	Who Target `yaml:"throttle"`
	To  Bytes  `yaml:"to"`
}

var throttle = Kind{Key: "throttle", Layer: OfConnections, Proxies: true,
	Says:    "each connection between a node and its broker carries at most this many bytes a second, each way",
	Example: "throttle: 2, to: 100KB", Filters: []string{"network"}, Breaks: nodes.Timing, Weighs: true,
	StandIn: "a bandwidth of their links together", Zero: new(Throttle),
	Flag: "limit the bytes a second on the connections of `nodes` to their brokers",
	More: []Key{{Name: "to", Says: "how many bytes pass in a second with --throttle, as in 100KB"}}}

func (t *Throttle) more() []string { return []string{"to " + t.To.String()} }

// Leaves returns how long a node may take to reconnect: what waited passes at the heal, but a broker may have
// given up the connection.
func (*Throttle) Leaves(time.Duration) time.Duration { return reconnecting }

func (t *Throttle) Check(time.Duration, bool) (string, error) {
	if t.To == 0 {
		return "to", errors.New("throttle takes how many bytes pass in a second, as in to: 100KB")
	}
	return "", nil
}

func (t *Throttle) Strain(w *Wires) (port.Strain, error) {
	return port.Strain{Links: w.connections(), Bandwidth: int64(t.To)}, nil
}

func (t *Throttle) Start(at *Place) Link {
	hit, q := at.on(&t.Who), newQueues(t.To)
	return func(p *nodes.Packet, fate nodes.Fate, begun int) (nodes.Fate, bool) {
		if !hit(p.From) && !hit(p.To) {
			return fate, false
		}
		q.renew(p.At)
		done := p.At
		for _, end := range [2][2]nodes.ID{{p.From, nodes.None}, {nodes.None, p.To}} {
			if hit(max(end[0], end[1])) {
				done = q.pass(end, done, p.Bytes)
			}
		}
		fate, _ = postpone(fate, begun, time.Duration(done-p.At))
		return fate, len(fate) > begun
	}
}
