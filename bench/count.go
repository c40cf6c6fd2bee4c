package bench

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

// readAhead reads the counters if a fault is about to begin.
func (t *trial) readAhead(now int64) {
	at := t.driver.NextBeginning()
	if now < at && at-now <= int64(2*countAhead) && t.ahead.moment != at {
		t.ahead = reading{moment: at}
		t.ahead.sent, t.ahead.dropped = t.watch.messages()
	}
}

// count records how many messages there were at a moment whose event has just been recorded, if the run has
// faults. What is read too late is not recorded: it would give the messages of one phase to another.
func (t *trial) count(at int64, begins bool) error {
	if !t.counts {
		return nil
	}
	r := t.ahead
	if !begins || r.moment != at {
		r.sent, r.dropped = t.watch.messages()
		if t.now()-at > int64(countWithin) {
			return nil
		}
	}
	// The journal gives it the stamp of the event before it, since its own is earlier.
	return t.journal.Add(history.Event{Kind: history.Counted, Value: int64(r.sent), Fence: r.dropped})
}
