package effect

import (
	"time"

	"turnstile/nodes"
	"turnstile/nodes/port"
)

// Reset closes the connections of nodes to their brokers. Messages on them are lost.
type Reset struct {
	plain
	Who Target `yaml:"reset"`
}

var reset = Kind{Key: "reset", Layer: OfConnections, Proxies: true,
	Says: "the connections of nodes to their brokers are closed, with all that is on its way, and new ones " +
		"refused for the time of `for`",
	Example: "reset: 2, for: 100ms", Filters: []string{"network"}, Breaks: nodes.NoLoss | nodes.Timing,
	Cuts: true, Did: "has closed connections", StandIn: "a cut of all their links", Zero: new(Reset),
	Flag: "have the connections of `nodes` closed, and with --for refused for some time"}

func (*Reset) Leaves(time.Duration) time.Duration { return reconnecting }
func (*Reset) ForGood() bool                      { return true }

func (*Reset) Strain(w *Wires) (port.Strain, error) {
	return port.Strain{Links: w.connections(), Close: true}, nil
}

func (r *Reset) Start(at *Place) Link { return cutOff(at.on(&r.Who)) }
