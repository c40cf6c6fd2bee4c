package effect

import (
	"errors"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/port"
)

// Lag delays everything on the connections of nodes to their brokers.
type Lag struct {
	plain
	Who Target        `yaml:"lag"`
	By  time.Duration `yaml:"by"`
}

var lag = Kind{Key: "lag", Layer: OfConnections, Proxies: true,
	Says:    "data on the connections between nodes and brokers is delayed, both ways",
	Example: "lag: 2, by: 50ms", Filters: []string{"network"}, Breaks: nodes.Timing,
	StandIn: "a delay on their links", Zero: new(Lag),
	Flag: "have data on the connections of `nodes` to their brokers delayed"}

func (l *Lag) more() []string { return []string{"by " + l.By.String()} }

// Leaves returns twice the delay, since a message passes up to two such connections.
func (l *Lag) Leaves(time.Duration) time.Duration { return 2 * l.By }

func (l *Lag) Check(time.Duration, bool) (string, error) {
	if l.By <= 0 && l.By >= -24*time.Hour {
		return "by", errors.New("lag takes how much later everything comes, as in by: 50ms")
	}
	return checkBy(l.By)
}

func (l *Lag) Strain(w *Wires) (port.Strain, error) {
	return port.Strain{Links: w.connections(), Latency: l.By}, nil
}

func (l *Lag) Start(at *Place) Link {
	hit := at.on(&l.Who)
	return func(p *nodes.Packet, fate nodes.Fate, begun int) (nodes.Fate, bool) {
		later := time.Duration(0)
		for _, id := range [2]nodes.ID{p.From, p.To} { // for each connection that the packet passes
			if hit(id) {
				later += l.By
			}
		}
		return postpone(fate, begun, later)
	}
}
