package effect

import (
	"time"

	"turnstile/internal/chance"
	"turnstile/nodes"
)

// Bandwidth limits the bytes that pass each link in a second.
type Bandwidth struct {
	plain
	Rate Bytes `yaml:"bandwidth"`
}

var bandwidth = Kind{Key: "bandwidth", Layer: OfLinks,
	Says:    "each link carries at most this many bytes a second; other messages wait",
	Example: "bandwidth: 10KB", Filters: []string{"between", "kind", "instance", "network"},
	Breaks: nodes.Timing, Weighs: true, Zero: new(Bandwidth),
	Flag: "limit each link to this many bytes a second, as in 10KB"}

func (*Bandwidth) Leaves(time.Duration) time.Duration { return chance.Longest }

func (b *Bandwidth) Start(*Place) Link {
	q := newQueues(b.Rate)
	return func(p *nodes.Packet, fate nodes.Fate, begun int) (nodes.Fate, bool) {
		q.renew(p.At)
		done := q.pass([2]nodes.ID{p.From, p.To}, p.At, p.Bytes+1) // the encoded fields, and one byte for the kind
		return postpone(fate, begun, time.Duration(done-p.At))
	}
}

// queues keeps the time until which each link is busy with packets.
type queues struct {
	rate Bytes
	busy map[[2]nodes.ID]int64 // until when a link, or one direction of a connection, is busy
	last int64                 // when the latest packet came
}

func newQueues(rate Bytes) *queues { return &queues{rate: rate, busy: map[[2]nodes.ID]int64{}} }

// renew clears the queues if time has gone back, since another run has begun.
func (q *queues) renew(at int64) {
	if at < q.last {
		clear(q.busy)
	}
	q.last = at
}

// pass returns when a packet that comes at a time has passed a link: after all earlier packets and its own
// bytes.
func (q *queues) pass(link [2]nodes.ID, at int64, bytes int) int64 {
	q.busy[link] = max(q.busy[link], at) + int64(bytes)*int64(time.Second)/int64(q.rate)
	return q.busy[link]
}
