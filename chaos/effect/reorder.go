package effect

import (
	"time"

	"turnstile/internal/chance"
	"turnstile/nodes"
)

// Reorder makes messages arrive later, and overtake each other.
type Reorder struct {
	plain
	Later chance.Distribution `yaml:"reorder"`
}

var reorder = Kind{Key: "reorder", Layer: OfLinks, Says: "messages arrive later, and overtake each other",
	Example: "reorder: uniform:0s,5ms", Filters: ofMessages, Breaks: nodes.FIFO | nodes.Timing,
	Zero: new(Reorder),
	Flag: "have messages delayed, and overtake each other"}

func (r *Reorder) Idle() bool                         { return r.Later.Zero() }
func (r *Reorder) Leaves(time.Duration) time.Duration { return r.Later.Longest() }

func (r *Reorder) Start(at *Place) Link {
	return func(p *nodes.Packet, fate nodes.Fate, begun int) (nodes.Fate, bool) {
		p.Loose = p.Loose || !r.Later.Zero()
		return postpone(fate, begun, r.Later.Draw(at.Dice, roll(chance.ForReorder, p)))
	}
}
