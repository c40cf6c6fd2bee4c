package effect

import (
	"time"

	"turnstile/nodes"
	"turnstile/nodes/port"
)

// Reset has the connections of nodes to their brokers closed, with all that is on its way.
type Reset struct {
	ofConnection
	Who Target `yaml:"reset"`
}

var reset = Kind{Key: "reset", Layer: OfConnections,
	Says: "the connections of nodes to their brokers are closed, with all that is on its way, and new ones " +
		"refused for the time that it lasts",
	Example: "reset: 2, for: 100ms", Filters: []string{"network"}, Breaks: nodes.NoLoss | nodes.Timing,
	Cuts: true, StandIn: "a cut of all their links", Zero: new(Reset),
	Random: func(d *Draw) Effect { return &Reset{Who: d.Who} },
	Flag:   "have the connections of `nodes` closed, and with --for refused for some time"}

func (*Reset) Leaves() time.Duration { return reconnecting }
func (*Reset) ForGood() bool         { return true }

func (*Reset) Begin(c *Carrier, of Group) (int, error) {
	return strain(c, of, port.Strain{Reset: true})
}

func (r *Reset) Start(at *Place) Link { return cutOff(at.on(&r.Who)) }
