package history

import (
	"math"
	"sync/atomic"
	"time"

	"turnstile/nodes"
)

// LateFrom is how late a process must handle a timer or a message for a Lagged event to record it. Shorter
// lateness is only counted, and checks must allow for it. On two processors with a load average of 14, 99 of
// 100 timers of a run with five nodes were less than 0.3 ms late, and such events came two or three times a
// second.
const LateFrom = 5 * time.Millisecond

// A Lag is a time in which a process was late: at From a timer was due or a message was sent, and at To the
// process had handled all that was due. Times count from the run's zero.
type Lag struct {
	From, To int64
	// Sender sent all messages that were late; nodes.None: only timers were late, or messages of several nodes.
	Sender nodes.ID
	Timers uint32 // how many timers were late
}

// Event returns the event of kind Lagged that says this, recorded now.
func (l Lag) Event(now int64) Event {
	return Event{At: now, Kind: Lagged, Value: now - l.From, Fence: uint64(now - l.To), Entry: l.Timers,
		Count: uint32(l.Sender)}
}

// Lag returns what an event of kind Lagged says.
func (e *Event) Lag() Lag {
	return Lag{e.At - e.Value, e.At - int64(min(e.Fence, math.MaxInt64)), nodes.ID(e.Count), e.Entry}
}

// A Lags counts how late a process handles timers or messages, and joins what is later than LateFrom to lags.
type Lags struct {
	Append func(Event)
	open   Lag // the lag that goes on; zero: none
	last   int64
}

// Add notes that something due at a time was handled now. The sender is that of a message, or nodes.None.
// Counts has the number of timers or messages by lateness: see LatenessBucket.
func (l *Lags) Add(counts []atomic.Uint64, due, now int64, sender nodes.ID) {
	if now-due < int64(LateFrom) {
		counts[LatenessBucket(now-due)].Add(1)
		return
	}
	timers := uint32(0)
	if sender == nodes.None {
		timers = 1
	}
	switch o := &l.open; {
	case o.To == 0:
		*o = Lag{due, now, sender, timers}
	case due > o.To+int64(LateFrom):
		l.Flush(now)
		*o = Lag{due, now, sender, timers}
	default:
		o.From, o.To, o.Timers = min(o.From, due), now, o.Timers+timers
		if sender != o.Sender {
			o.Sender = nodes.None
		}
	}
}

// Idle records the lag that goes on, unless one was recorded less than lagEvery ago.
func (l *Lags) Idle(now int64) {
	if l.open.To != 0 && now-l.last >= int64(lagEvery) {
		l.Flush(now)
	}
}

// lagEvery bounds how often a process that is always late records it: 20 events a second are few beside those
// of its entries. It is ten times LateFrom, so that lags that follow each other closely become one event.
const lagEvery = 10 * LateFrom

// Flush records the lag that goes on.
func (l *Lags) Flush(now int64) {
	if l.open.To != 0 {
		l.Append(l.open.Event(now))
		l.open, l.last = Lag{}, now
	}
}

// A Lateness is the number of timers or messages by lateness, in LatenessBuckets.
type Lateness [LatenessBuckets]uint64

// TimersIn adds up the timers in the logs of nodes that were less than LateFrom late.
func TimersIn(logs []*NodeLog) (all Lateness) {
	for _, l := range logs {
		all.add(l.Late)
	}
	return all
}

// MessagesIn adds up the messages in the logs of nodes that were handled in less than LateFrom.
func MessagesIn(logs []*NodeLog) (all Lateness) {
	for _, l := range logs {
		all.add(l.Transit)
	}
	return all
}

func (l *Lateness) add(counts []uint64) {
	for b, n := range counts {
		l[b] += n
	}
}

// Quantile returns the upper end of the bucket that a quantile lies in, in nanoseconds. It reports whether
// anything was counted.
func (l *Lateness) Quantile(q float64) (ns int64, known bool) {
	var total, seen uint64
	for _, n := range l {
		total += n
	}
	rank := max(1, uint64(math.Ceil(q*float64(total)-1e-9)))
	for b, n := range l {
		if seen += n; n > 0 && seen >= rank {
			return latenessOf(b+1) - 1, true
		}
	}
	return 0, false
}
