package trial

import (
	"slices"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/history"
	"turnstile/nodes/workload"
)

// A watch reads the counters of the nodes of a trial while they run.
type watch struct {
	// refresh reads the counters of nodes on other hosts, and reports whether all are known; nil: the counters
	// are always current.
	refresh    func() bool
	stale      bool               // the last refresh failed: counters are too old
	heartbeats []bool             // by kind of message: whether it is a heartbeat
	detectors  []bool             // by instance: whether it is a failure detector; nil: no detectors
	of         []*history.Watched // counters by node; nil: the node is down, or not known yet
	// detectorsStopped is set once the detectors do nothing more. Until then no sum includes them: their work is
	// no progress, and they never rest.
	detectorsStopped bool

	dead               []*history.Watched // counters of processes that have ended as expected
	abandoned, crashed uint64             // requests whose clients died before they entered, or died inside
	lossy              bool               // messages may have been lost uncounted
}

// newWatch returns a watch that knows no nodes yet.
func newWatch(stack *algorithm.Stack) *watch {
	w := &watch{detectors: stack.Detectors(), of: make([]*history.Watched, stack.Total())}
	codec := stack.Codec()
	for kind := range codec.Kinds() {
		w.heartbeats = append(w.heartbeats, codec.Kind(kind).Heartbeat)
	}
	return w
}

// retire notes that the process of a node has ended as expected, which ends its open requests. It returns how
// many requests the process made, by instance.
func (w *watch) retire(id nodes.ID) (requests []uint64) {
	l := w.of[id]
	w.of[id], w.lossy = nil, true
	if l == nil {
		return nil // the node was not ready yet
	}
	w.dead = append(w.dead, l)
	for i := range l.Instances {
		c := &l.Instances[i]
		made, entered, left := c.Requests.Load(), c.Entries.Load(), c.Exits.Load()
		w.abandoned += made - entered - c.GaveUp.Load()
		w.crashed += entered - left
		requests = append(requests, made)
	}
	return requests
}

// close closes all counters.
func (w *watch) close() {
	for _, l := range slices.Concat(w.of, w.dead) {
		if l != nil {
			l.Close()
		}
	}
	w.of, w.dead = nil, nil
}

// sums are the counters of all nodes together. Dropped messages count as delivered, and copies made by faults
// as sent.
type sums struct {
	requests, entries, exits uint64
	gaveUp                   uint64 // requests that their clients gave up
	sent, delivered          uint64
	timeouts                 uint64
	pending                  int64

	abandoned, crashed uint64 // requests whose clients died before they entered, or died inside
	dead               int    // how many processes have ended as expected
	unknown            bool   // the counters of some host did not come in time, so these sums are too old
}

// read adds up the counters. It reads effects before their causes: if the sums of both are equal, the trial
// was at rest in between (see history.Counters).
func (w *watch) read() sums {
	s := sums{abandoned: w.abandoned, crashed: w.crashed, dead: len(w.dead)}
	s.unknown = !w.renew()
	w.each(func(c *history.InstanceCounters) {
		s.exits += c.Exits.Load()
		s.gaveUp += c.GaveUp.Load()
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

// renew refreshes the counters, and reports whether they are current.
func (w *watch) renew() bool {
	w.stale = w.refresh != nil && !w.refresh()
	return !w.stale
}

// messages returns how many messages were sent, without heartbeats, and how many were dropped. Messages of
// detectors do not count. Counters of other hosts are as old as the last renew.
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

// each calls do for the counters of each instance that must come to rest, of every process, dead or not.
func (w *watch) each(do func(*history.InstanceCounters)) { w.eachOf(w.detectorsStopped, do) }

// eachOf calls do for the counters of each instance of each process, including detectors if detectors is set.
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

// atRest reports whether no message is in transit and no request open.
func (s sums) atRest() bool { return !s.unknown && !s.open() && s.delivered == s.sent }

// over returns how many requests are over: their clients have left, given up or died.
func (s sums) over() uint64 { return s.exits + s.gaveUp + s.abandoned + s.crashed }

// nobodyInside reports whether every client that entered has left or died.
func (s sums) nobodyInside() bool { return s.entries == s.exits+s.crashed }

// quiescent reports whether only a new request can make anything happen: no message is in transit, no client
// is about to leave, and no timer runs. It returns false once a node has died: then counts prove nothing.
func (s sums) quiescent() bool {
	return !s.unknown && s.delivered == s.sent && s.pending == 0 && s.dead == 0
}

// same reports whether two sums are known and equal.
func (s sums) same(other sums) bool { return !s.unknown && s == other }

// open reports whether some request is open. Even if its client is inside, something must move before long,
// since no client stays inside forever.
func (s sums) open() bool { return s.requests > s.over() }

// steps returns how many messages and timeouts the machines have handled.
func (s sums) steps() uint64 { return s.delivered + s.timeouts }
