package effect

import (
	"turnstile/nodes"
	"turnstile/nodes/port"
)

// Stall holds back everything on the connections of nodes to their brokers until the fault is healed.
type Stall struct {
	plain
	Who Target `yaml:"stall"`
}

var stall = Kind{Key: "stall", Layer: OfConnections, Proxies: true,
	Says:    "the connections between nodes and brokers pass nothing; what was held back arrives after the heal",
	Example: "stall: 2, for: 500ms", Filters: []string{"network"}, Breaks: nodes.NoPause | nodes.Timing,
	Holds: true, Cuts: true, StandIn: "links that hold all back", Zero: new(Stall),
	Flag: "have nothing pass the connections of `nodes` for some time"}

func (*Stall) Strain(w *Wires) (port.Strain, error) {
	return port.Strain{Links: w.connections(), Stall: true}, nil
}

func (s *Stall) Start(at *Place) Link { return at.holdBack(at.on(&s.Who)) }
