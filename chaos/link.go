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

// Loss loses messages at a rate, from 0 to 1, and leaves the rest to another shaper.
type Loss struct {
	Rate float64
	Dice chance.Dice
	Of   nodes.Shaper
}

// Shape implements nodes.Shaper.
func (l Loss) Shape(p *nodes.Packet, fate nodes.Fate) nodes.Fate {
	if l.Dice.Unit(roll(chance.ForLoss, p)) < l.Rate {
		return fate
	}
	return l.Of.Shape(p, fate)
}

// Duplication makes messages arrive twice at a rate, from 0 to 1. Another shaper decides when each copy
// arrives.
type Duplication struct {
	Rate float64
	Dice chance.Dice
	Of   nodes.Shaper
}

// ofCopy is set in the number of a second copy, so that decisions about it do not depend on the first.
const ofCopy = 1 << 63

// Shape implements nodes.Shaper.
func (d Duplication) Shape(p *nodes.Packet, fate nodes.Fate) nodes.Fate {
	fate = d.Of.Shape(p, fate)
	if d.Dice.Unit(roll(chance.ForCopy, p)) < d.Rate {
		p.Number |= ofCopy
		fate = d.Of.Shape(p, fate)
		p.Number &^= ofCopy
	}
	return fate
}

var (
	_ nodes.Shaper = Latency{}
	_ nodes.Shaper = Loss{}
	_ nodes.Shaper = Duplication{}
)
