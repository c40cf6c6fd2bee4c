package chaos

import (
	"turnstile/internal/chance"
	"turnstile/nodes"
)

// Latency delays every message. Hosts keep the order of a link under it.
type Latency struct {
	Of   chance.Distribution
	Dice chance.Dice
}

// Shape implements nodes.Shaper.
func (l Latency) Shape(p *nodes.Packet, fate nodes.Fate) nodes.Fate {
	return append(fate, l.Of.Draw(l.Dice, chance.OnLink(chance.ForDelay, p.From, p.To, p.Kind, p.Number)))
}

var _ nodes.Shaper = Latency{}
