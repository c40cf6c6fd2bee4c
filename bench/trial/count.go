package trial

import (
	"time"

	"turnstile/nodes/history"
)

// The counters are read shortly before a fault begins, so that their growth during the fault includes
// everything that the fault does. At other moments they are read as soon as possible after the moment.
const (
	countAhead  = 2 * time.Millisecond
	countWithin = 50 * time.Millisecond // a reading that comes later than this is not recorded
)

// A reading has the counts of messages shortly before a moment.
type reading struct {
	moment        int64
	sent, dropped uint64
}

// messageCounts record the counts of messages at the moments of faults.
type messageCounts struct {
	*journal
	watch *watch
	wants bool    // the trial has faults
	ahead reading // counts read in advance for the fault that begins next
}

// readAhead reads the counters if a fault begins soon, at the time at.
func (c *messageCounts) readAhead(now, at int64) {
	if now < at && at-now <= int64(2*countAhead) && c.ahead.moment != at && !c.watch.stale {
		c.ahead = reading{moment: at}
		c.ahead.sent, c.ahead.dropped = c.watch.messages()
	}
}

// record records the counts of messages at a moment whose event was just recorded, if the trial has faults.
// It records nothing if the counters were read too late, which would count messages in the wrong phase.
func (c *messageCounts) record(at int64, begins bool) error {
	if !c.wants {
		return nil
	}
	r := c.ahead
	if !begins || r.moment != at {
		known := c.watch.renew()
		r.sent, r.dropped = c.watch.messages()
		if !known || c.now()-at > int64(countWithin) {
			return nil
		}
	}
	// The event has no time: the journal stamps it like the event before it.
	return c.Add(history.Event{Kind: history.Counted, Value: int64(r.sent), Fence: r.dropped})
}
