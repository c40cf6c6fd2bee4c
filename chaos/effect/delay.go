package effect

import (
	"time"

	"turnstile/internal/chance"
	"turnstile/nodes"
)

// Delay makes messages arrive later, in order.
type Delay struct {
	plain
	Later chance.Distribution `yaml:"delay"`
}

var delay = Kind{Key: "delay", Layer: OfLinks, Says: "messages arrive later, in order",
	Example: "delay: uniform:5ms,50ms", Filters: ofMessages, Breaks: nodes.Timing,
	Zero: new(Delay),
	Flag: "have messages delayed for some time, beside --latency"}

func (d *Delay) Idle() bool                         { return d.Later.Zero() }
func (d *Delay) Leaves(time.Duration) time.Duration { return d.Later.Longest() }

func (d *Delay) Start(at *Place) Link {
	return func(p *nodes.Packet, fate nodes.Fate, begun int) (nodes.Fate, bool) {
		return postpone(fate, begun, d.Later.Draw(at.Dice, roll(chance.ForDelay, p)))
	}
}
