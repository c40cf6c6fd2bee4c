package trial

import (
	"slices"

	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/row"
	"turnstile/nodes/workload"
)

// A watch reads what the nodes of a trial count, while they run.
type watch struct {
	// refresh reads the counters of nodes that run on other hosts, and reports whether all are known; nil:
	// what is in of is always so.
	refresh    func() bool
	stale      bool               // refresh has failed: what is in of is too old
	heartbeats []bool             // which kinds of messages only say that their sender is up
	detectors  []bool             // which instances are failure detectors; nil: none is
	of         []*history.Watched // by node; nil: it is down, or it is not known yet
	// hushed says that the detectors do nothing more. Until then they are left out of all sums: what they
	// do is no progress, and they never rest.
	hushed bool

	dead               []*history.Watched // of processes that have ended as they were to
	abandoned, crashed uint64             // requests of theirs that they had not entered, or not left
	lossy              bool               // messages may have been lost that nobody has counted
}

// newWatch returns the watch of nodes of which nothing is known yet.
func newWatch(stack *row.Stack) *watch {
	w := &watch{detectors: stack.Detectors(), of: make([]*history.Watched, stack.Total())}
	codec := stack.Codec()
	for kind := range codec.Kinds() {
		w.heartbeats = append(w.heartbeats, codec.Kind(kind).Heartbeat)
	}
	return w
}

// bury takes note that the process of a node has ended, as it was to. Its open requests are over. It returns
// how many requests the process has made, by instance.
func (w *watch) bury(id nodes.ID) (requests []uint64) {
	l := w.of[id]
	w.of[id], w.lossy = nil, true
	if l == nil {
		return nil // it was not ready yet
	}
	w.dead = append(w.dead, l)
	for i := range l.Instances {
		c := &l.Instances[i]
		made, entered, left := c.Requests.Load(), c.Entries.Load(), c.Exits.Load()
		w.abandoned += made - entered
		w.crashed += entered - left
		requests = append(requests, made)
	}
	return requests
}

// close ends the watch.
func (w *watch) close() {
	for _, l := range slices.Concat(w.of, w.dead) {
		if l != nil {
			l.Close()
		}
	}
	w.of, w.dead = nil, nil
}

// sums are the counters of all nodes together. What faults drop counts as delivered, and what they add as
// sent.
type sums struct {
	requests, entries, exits uint64
	sent, delivered          uint64
	timeouts                 uint64
	pending                  int64

	abandoned, crashed uint64 // requests of the dead that were never entered, or never left
	dead               int    // processes that have ended as they were to
	unknown            bool   // the counters of some host have not come in time: these are too old
}

// read adds up the counters. Effects are read before their causes: if their sums are equal, everything was at
// rest in between (see history.Counters).
func (w *watch) read() sums {
	s := sums{abandoned: w.abandoned, crashed: w.crashed, dead: len(w.dead)}
	s.unknown = !w.renew()
	w.each(func(c *history.InstanceCounters) {
		s.exits += c.Exits.Load()
		s.timeouts += c.Timeouts.Load()
		s.delivered += c.Dropped.Load()
		for kind := range w.heartbeats {
			s.delivered += c.Kinds[kind].Delivered.Load()
		}
	})
	if !w.renew() {
		s.unknown = true
	}
	w.each(func(c *history.InstanceCounters) { s.entries += c.Entries.Load() })
	for _, l := range w.of {
		if l != nil {
			s.pending += l.Pending.Load()
		}
	}
	w.each(func(c *history.InstanceCounters) {
		s.requests += c.Requests.Load()
		s.sent += c.Copied.Load()
		for kind := range w.heartbeats {
			s.sent += c.Kinds[kind].Sent.Load()
		}
	})
	return s
}

// renew has what is in of be what the nodes count now, and reports whether it is.
func (w *watch) renew() bool {
	w.stale = w.refresh != nil && !w.refresh()
	return !w.stale
}

// messages returns how many messages the nodes have sent, heartbeats left out, and how many were dropped,
// those of detectors left out. What other hosts count is as renew has last read it.
func (w *watch) messages() (sent, dropped uint64) {
	w.eachOf(false, func(c *history.InstanceCounters) {
		dropped += c.Dropped.Load()
		for kind, beats := range w.heartbeats {
			if !beats {
				sent += c.Kinds[kind].Sent.Load()
			}
		}
	})
	return sent, dropped
}

// each calls do for the counters of each instance that is to come to rest, of every process, dead or not.
func (w *watch) each(do func(*history.InstanceCounters)) { w.eachOf(w.hushed, do) }

// eachOf calls do for the counters of each instance of each process, those of detectors only if they are
// wanted.
func (w *watch) eachOf(detectors bool, do func(*history.InstanceCounters)) {
	for _, logs := range [][]*history.Watched{w.of, w.dead} {
		for _, l := range logs {
			if l != nil {
				w.eachIn(l, detectors, do)
			}
		}
	}
}

func (w *watch) eachIn(l *history.Watched, detectors bool, do func(*history.InstanceCounters)) {
	for i := range l.Instances {
		if detectors || w.detectors == nil || !w.detectors[i] {
			do(&l.Instances[i])
		}
	}
}

// cold returns how many clients that are up wait for their first or second entry.
func (w *watch) cold() (n int) {
	waits := func(c *history.InstanceCounters) {
		if entries := c.Entries.Load(); entries < workload.SteadyEntries && c.Requests.Load() > entries {
			n++
		}
	}
	for _, l := range w.of {
		if l != nil {
			w.eachIn(l, false, waits)
		}
	}
	return n
}

// atRest reports whether no message is on its way and no request open.
func (s sums) atRest() bool { return !s.unknown && !s.open() && s.delivered == s.sent }

// over returns how many requests are over: their clients have left, or died.
func (s sums) over() uint64 { return s.exits + s.abandoned + s.crashed }

// nobodyInside reports whether every client that has entered has left, or died.
func (s sums) nobodyInside() bool { return s.entries == s.exits+s.crashed }

// quiescent reports whether nothing can happen any more but new requests: no message is on its way, no client
// is about to leave, and no timer runs. Once nodes have died, counts do not tell.
func (s sums) quiescent() bool {
	return !s.unknown && s.delivered == s.sent && s.pending == 0 && s.dead == 0
}

// same reports whether two sums are known and the same.
func (s sums) same(other sums) bool { return !s.unknown && s == other }

// open reports whether some request is open. Even if its client is inside, something must move before long,
// since no hold lasts for ever.
func (s sums) open() bool { return s.requests > s.over() }

// steps returns how many things have happened to machines from outside.
func (s sums) steps() uint64 { return s.delivered + s.timeouts }
