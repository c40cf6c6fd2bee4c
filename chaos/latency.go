package chaos

import (
	"turnstile/internal/chance"
	"turnstile/nodes"
)

// roll returns the decision of a purpose about a packet.
func roll(purpose chance.Purpose, p *nodes.Packet) chance.Roll {
	return chance.OnLink(purpose, p.From, p.To, p.Kind, p.Number)
}

// Latency delays every message. Hosts keep the order of a link under it.
type Latency struct {
	Of   chance.Distribution
	Dice chance.Dice
}

// Shape implements nodes.Shaper.
func (l Latency) Shape(p *nodes.Packet, fate nodes.Fate) nodes.Fate {
	return append(fate, l.Of.Draw(l.Dice, roll(chance.ForDelay, p)))
}

var _ nodes.Shaper = Latency{}
