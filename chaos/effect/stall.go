package effect

import (
	"turnstile/nodes"
	"turnstile/nodes/port"
)

// Stall has nothing pass the connections of nodes to their brokers until it is healed.
type Stall struct {
	ofConnection
	Who Target `yaml:"stall"`
}

var stall = Kind{Key: "stall", Layer: OfConnections,
	Says: "nothing passes the connections of nodes to their brokers, and it all comes once they are " +
		"healed",
	Example: "stall: 2, for: 500ms", Filters: []string{"network"}, Breaks: nodes.NoPause | nodes.Timing,
	Holds: true, Cuts: true, StandIn: "links that hold all back", Zero: new(Stall),
	Random: func(d *Draw) Effect { return &Stall{Who: d.Who} },
	Flag:   "have nothing pass the connections of `nodes` for some time"}

func (*Stall) Begin(c *Carrier, of Group) (int, error) {
	return strain(c, of, port.Strain{Stall: true})
}

func (s *Stall) Start(at *Place) Link { return at.holdBack(at.on(&s.Who)) }
