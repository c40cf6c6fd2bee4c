package effect

import "turnstile/nodes"

// PauseBroker has brokers stand still.
type PauseBroker struct {
	plain
	Which brokerGroup `yaml:"pause-broker"`
}

var pauseBroker = Kind{Key: "pause-broker", Layer: ofBrokers, Says: "brokers stand still (SIGSTOP)",
	Example: "pause-broker: 0, for: 500ms", Filters: []string{"network"}, Breaks: nodes.NoPause | nodes.Timing,
	Holds: true, Cuts: true, StandIn: "links of the nodes there that hold all back",
	Zero:   new(PauseBroker),
	Random: func(d *Draw) Effect { return &PauseBroker{Which: brokerGroup{Group{d.Broker}}} },
	Flag:   "have `brokers` stand still for some time"}

func (p *PauseBroker) Begin(c *Carrier, of Group) (int, error) { return c.take(of, c.PauseBroker) }

func (*PauseBroker) Heal(c *Carrier) error {
	return c.giveBack(func(i int) error {
		if !c.BrokerUp(i) { // killed since by another
			return nil
		}
		return c.ResumeBroker(i)
	})
}

func (p *PauseBroker) Start(at *Place) Link { return at.holdBack(at.at(p.Which.Group)) }
