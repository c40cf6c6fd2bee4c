package trial

import (
	"time"

	"turnstile/nodes/history"
)

// The counters of the nodes are read shortly before a fault begins, so that nothing it does is missed in what
// they grow by while it lasts; and as soon as possible after any other moment.
const (
	countAhead  = 2 * time.Millisecond
	countWithin = 50 * time.Millisecond // later, they do not count as of that moment
)

// A reading is how many messages there were shortly before a moment.
type reading struct {
	moment        int64
	sent, dropped uint64
}

// messageCounts count the messages at the moments of faults.
type messageCounts struct {
	*journal
	watch *watch
	wants bool    // there are faults
	ahead reading // for the next that begins
}

// readAhead reads the counters if a fault is about to begin at a time.
func (c *messageCounts) readAhead(now, at int64) {
	if now < at && at-now <= int64(2*countAhead) && c.ahead.moment != at && !c.watch.stale {
		c.ahead = reading{moment: at}
		c.ahead.sent, c.ahead.dropped = c.watch.messages()
	}
}

// record records how many messages there were at a moment whose event has just been recorded, if there are
// faults. What is read too late is not recorded: it would give the messages of one phase to another.
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
	// The journal gives it the stamp of the event before it, since its own is earlier.
	return c.Add(history.Event{Kind: history.Counted, Value: int64(r.sent), Fence: r.dropped})
}
