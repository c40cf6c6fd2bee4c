package bench

import (
	"turnstile/nodes/history"
	"turnstile/nodes/workload"
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

// sums are the counters of all nodes together. What faults drop counts as delivered, and what they add as
// sent.
type sums struct {
	requests, entries, exits uint64
	sent, delivered          uint64
	timeouts                 uint64
	pending                  int64
}

// read adds up the counters. Effects are read before their causes: if their sums are equal, everything was at
// rest in between (see history.Counters).
func (w *watch) read() sums {
	var s sums
	w.each(func(c *history.InstanceCounters) {
		s.exits += c.Exits.Load()
		s.timeouts += c.Timeouts.Load()
		s.delivered += c.Dropped.Load()
		for kind := range w.kinds {
			s.delivered += c.Kinds[kind].Delivered.Load()
		}
	})
	w.each(func(c *history.InstanceCounters) { s.entries += c.Entries.Load() })
	for _, l := range w.logs {
		s.pending += l.Pending.Load()
	}
	w.each(func(c *history.InstanceCounters) {
		s.requests += c.Requests.Load()
		s.sent += c.Copied.Load()
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

// cold returns how many clients wait for their first or second entry.
func (w *watch) cold() (n int) {
	w.each(func(c *history.InstanceCounters) {
		if entries := c.Entries.Load(); entries < workload.SteadyEntries && c.Requests.Load() > entries {
			n++
		}
	})
	return n
}

// atRest reports whether no message is on its way and no request open.
func (s sums) atRest() bool { return s.exits == s.requests && s.delivered == s.sent }

// quiescent reports whether nothing can happen any more but new requests: no message is on its way, no client
// is about to leave, and no timer runs.
func (s sums) quiescent() bool { return s.delivered == s.sent && s.pending == 0 }

// open reports whether some request is open. Even if its client is inside, something must move before long,
// since no hold lasts for ever.
func (s sums) open() bool { return s.requests > s.exits }

// steps returns how many things have happened to machines from outside.
func (s sums) steps() uint64 { return s.delivered + s.timeouts }
