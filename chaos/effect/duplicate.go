package effect

import (
	"turnstile/internal/chance"
	"turnstile/nodes"
)

// Duplicate makes a share of messages arrive twice.
type Duplicate struct {
	plain
	Of Share `yaml:"duplicate"`
}

var duplicate = Kind{Key: "duplicate", Layer: OfLinks, Says: "messages arrive twice",
	Example: "duplicate: 5%", Filters: ofMessages, Breaks: nodes.NoDuplication,
	Zero: new(Duplicate),
	Flag: "have a share of messages arrive twice"}

func (d *Duplicate) Idle() bool { return d.Of == 0 }

// ofCopy is a bit in the number of a second copy, so that decisions about it do not depend on the first copy.
const ofCopy = 1 << 63

func (d *Duplicate) Start(at *Place) Link {
	return func(p *nodes.Packet, fate nodes.Fate, begun int) (nodes.Fate, bool) {
		if len(fate) == begun || at.Dice.Unit(roll(chance.ForCopy, p)) >= float64(d.Of) {
			return fate, false
		}
		p.Number |= ofCopy
		fate = at.Beneath.Shape(p, fate)
		p.Number &^= ofCopy
		return fate, true
	}
}
