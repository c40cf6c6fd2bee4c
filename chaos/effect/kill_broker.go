package effect

import (
	"errors"
	"time"

	"turnstile/nodes"
)

// KillBroker has brokers killed, and restarted after the time that it lasts.
type KillBroker struct {
	plain
	Which brokerGroup `yaml:"kill-broker"`
}

var killBroker = Kind{Key: "kill-broker", Layer: ofBrokers,
	Says:    "brokers are killed (SIGKILL), and restarted after the time that it lasts",
	Example: "kill-broker: 0, for: 500ms", Filters: []string{"network"}, Breaks: nodes.NoLoss | nodes.Timing,
	Cuts: true, StandIn: "a cut of all links of the nodes there", Zero: new(KillBroker),
	Random: func(d *Draw) Effect { return &KillBroker{Which: brokerGroup{Group{d.Broker}}} },
	Flag:   "have `brokers` killed, as in 0, and restarted after some time"}

func (*KillBroker) Leaves() time.Duration { return reconnecting }

func (*KillBroker) Check(lasts time.Duration, _ bool) (string, error) {
	if lasts > 0 {
		return "", nil
	}
	return "for", errors.New(
		"no run comes to rest without a broker: say after how long it is restarted, as in for: 500ms")
}

func (k *KillBroker) Begin(c *Carrier, of Group) (int, error) { return c.take(of, c.KillBroker) }

func (*KillBroker) Heal(c *Carrier) error { return c.giveBack(c.RestartBroker) }

func (k *KillBroker) Start(at *Place) Link { return cutOff(at.at(k.Which.Group)) }
