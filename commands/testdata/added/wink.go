package effect

import (
	"turnstile/nodes"
	"turnstile/nodes/port"
)

// Wink has brokers stand still.
type Wink struct {
	plain
	Who Target `yaml:"wink"`
}

var wink = Kind{Key: "wink", Role: port.Broker, Layer: ofBrokers, Says: "brokers stand still",
	Example: "wink: broker 0, for: 100ms", Breaks: nodes.NoPause | nodes.Timing, Stops: true, Holds: true,
	Zero: new(Wink), Flag: "have a `broker` stand still, as in 'broker 0'"}

func (*Wink) role() port.Role                       { return port.Broker }
func (*Wink) Strike(c Cluster, m port.Member) error { return c.Stop(m) }
func (*Wink) Undo(c Cluster, m port.Member) error   { return c.Continue(m) }
