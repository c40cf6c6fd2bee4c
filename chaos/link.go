package chaos

import (
	"time"

	"turnstile/nodes"
)

// A Link is the one-way path between two nodes.
type Link struct{ From, To nodes.ID }

// A Fate is when the copies of one message arrive, each that much later than it would have: empty, the
// message is lost; {0}, untouched; {0, d}, duplicated; {d}, late.
type Fate []time.Duration

// A Shaper decides the fates of messages. It is asked once for each, in the receiving host, after the
// broker and before the inbox, so that a message in flight outlives the crash of its sender and dies
// with its receiver, as on a real network.
type Shaper interface {
	// Shape appends the fate of the n-th message of kind on link, from 1, to fate.
	Shape(link Link, kind uint8, n uint64, fate Fate) Fate
}

// Latency delays every message by a span. Hosts keep the order of a link under it.
type Latency struct {
	Span Span
	Dice Dice
}

// Shape implements Shaper.
func (l Latency) Shape(link Link, kind uint8, n uint64, fate Fate) Fate {
	return append(fate, l.Span.Draw(l.Dice, Roll{ForDelay, link.From, link.To, uint64(kind), n}))
}

// Loss loses messages at a rate, from 0 to 1, and leaves the rest to another shaper.
type Loss struct {
	Rate float64
	Dice Dice
	Of   Shaper
}

// Shape implements Shaper.
func (l Loss) Shape(link Link, kind uint8, n uint64, fate Fate) Fate {
	if l.Dice.Unit(Roll{ForLoss, link.From, link.To, uint64(kind), n}) < l.Rate {
		return fate
	}
	return l.Of.Shape(link, kind, n, fate)
}

// Duplication has messages arrive twice at a rate, from 0 to 1. Another shaper decides when each copy
// arrives.
type Duplication struct {
	Rate float64
	Dice Dice
	Of   Shaper
}

// ofCopy marks the number of a message's second copy, for decisions that are its own.
const ofCopy = 1 << 63

// Shape implements Shaper.
func (d Duplication) Shape(link Link, kind uint8, n uint64, fate Fate) Fate {
	fate = d.Of.Shape(link, kind, n, fate)
	if d.Dice.Unit(Roll{ForCopy, link.From, link.To, uint64(kind), n}) < d.Rate {
		fate = d.Of.Shape(link, kind, n|ofCopy, fate)
	}
	return fate
}

var (
	_ Shaper = Latency{}
	_ Shaper = Loss{}
	_ Shaper = Duplication{}
)
