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

var _ Shaper = Latency{}
