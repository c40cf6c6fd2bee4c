package bench

import (
	"turnstile/nodes/history"
)

// A watch reads the counters in the mapped logs of the nodes of a trial, while they run.
type watch struct {
	kinds int // of messages
	logs  []*history.Watched
}

// add begins to watch the log at path.
func (w *watch) add(path string) error {
	l, err := history.Watch(path)
	if err != nil {
		return err
	}
	w.logs = append(w.logs, l)
	return nil
}

// close ends the watch.
func (w *watch) close() {
	for _, l := range w.logs {
		l.Close()
	}
	w.logs = nil
}

// sums are the counters of all nodes together.
type sums struct{ requests, entries, exits, sent, delivered uint64 }

// read adds up the counters. Effects are read before their causes: if their sums are equal, everything was at
// rest in between (see history.Counters).
func (w *watch) read() sums {
	var s sums
	w.each(func(c *history.InstanceCounters) {
		s.exits += c.Exits.Load()
		for kind := range w.kinds {
			s.delivered += c.Kinds[kind].Delivered.Load()
		}
	})
	w.each(func(c *history.InstanceCounters) { s.entries += c.Entries.Load() })
	w.each(func(c *history.InstanceCounters) {
		s.requests += c.Requests.Load()
		for kind := range w.kinds {
			s.sent += c.Kinds[kind].Sent.Load()
		}
	})
	return s
}

// each calls do for the counters of each instance of each node.
func (w *watch) each(do func(*history.InstanceCounters)) {
	for _, l := range w.logs {
		for i := range l.Instances {
			do(&l.Instances[i])
		}
	}
}

// atRest reports whether no message is on its way and no request open.
func (s sums) atRest() bool { return s.exits == s.requests && s.delivered == s.sent }

// open reports whether some request is open. Even if its client is inside, something must move before long,
// since no hold lasts for ever.
func (s sums) open() bool { return s.requests > s.exits }

// A patience notices that nothing moves.
type patience struct {
	circulates bool
	limit      int64 // in nanoseconds
	last       sums
	since      int64
}

// over reports whether the sums s, read at the time now, have not changed for too long. Messages that
// circulate do not count as a change.
func (p *patience) over(s sums, now int64) bool {
	if p.circulates {
		s.sent, s.delivered = 0, 0
	}
	if s != p.last || p.since == 0 {
		p.last, p.since = s, now
	}
	return now-p.since > p.limit
}
