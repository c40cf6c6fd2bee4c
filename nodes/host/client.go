package host

import (
	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/workload"
)

// client drives the client of the node's mutex by the workload, and keeps the witnesses of exclusion.
type client struct {
	host    *Host
	count   uint64 // requests issued
	due     int64  // when the latest was due; once wants is set, when the next is
	wants   bool   // a request is due
	leaves  bool   // inside, for no time at all
	over    bool   // no request is planned any more
	money   int64  // what the account held at the latest enter
	choices uint64 // that the machine has made
}

func newClient(h *Host) client { return client{host: h} }

// begin starts to issue requests, unless this node has no client.
func (c *client) begin(now int64) {
	c.host.log.State.Store(uint64(history.Running))
	if c.host.isClient() {
		c.plan(now, now)
	}
}

// plan finds out when the next request is due.
func (c *client) plan(lastDue, lastEnd int64) {
	h := c.host
	if c.over {
		return
	}
	c.due = h.config.Workload.Next(h.dice, h.config.Node, c.count+1, lastDue, lastEnd)
	switch {
	case c.due == workload.Never:
	case c.due <= h.clock.Now():
		c.wants = true
	default:
		h.agenda.add(task{at: c.due, what: toRequest})
	}
}

// fall makes the planned request due.
func (c *client) fall() {
	c.wants = !c.over
	c.act(burst)
}

// ask makes a request due now, for an orchestrator that wants one at a time.
func (c *client) ask() {
	c.due, c.wants = c.host.clock.Now(), true
	c.act(burst)
}

// act does what the client has to do at once, in up to so many steps, and reports whether more is left.
// A request that is due waits until the client is idle.
func (c *client) act(steps int) bool {
	for range steps {
		switch {
		case c.host.err != nil:
			return false
		case c.leaves:
			c.leave()
		case c.wants && c.host.node.Client(0) == nodes.Idle:
			c.request()
		default:
			return false
		}
	}
	return true
}

// request asks the machine for the critical section, if the run still issues requests.
func (c *client) request() {
	h := c.host
	c.wants = false
	if limit := h.config.Entries; limit > 0 {
		ticket := h.resource.Issued.Add(1)
		if ticket > limit {
			c.over = true
			h.log.State.Store(uint64(history.Draining))
			return
		}
		if ticket == limit {
			h.resource.StoppedAt.Store(h.clock.Now())
		}
	}
	c.count++
	h.log.Instance(0).Requests.Add(1)
	h.record(history.Event{Kind: history.Requested, Entry: uint32(c.count), Value: c.due, Count: 1})
	h.feed(nodes.Input{Kind: nodes.Request})
}

// enter begins the critical section. The order of things here and in leave is what makes the witnesses
// imply one another: register, stamp, account, hold, account, stamp, register.
func (c *client) enter() {
	h := c.host
	inside := h.resource.Inside.Add(1)
	now := h.clock.Now()
	c.money = h.resource.Account.Load()
	if err := h.log.Append(history.Event{At: now, Kind: history.Entered, Entry: uint32(c.count),
		Value: c.money, Count: uint32(inside)}); err != nil && h.err == nil {
		h.err = err
	}
	h.log.Instance(0).Entries.Add(1)
	if hold := h.config.Workload.HoldFor(h.dice, h.config.Node, c.count); hold > 0 {
		h.agenda.add(task{at: now + int64(hold), what: toRelease})
	} else {
		c.leaves = true
	}
}

// leave ends the critical section and has the machine release it.
func (c *client) leave() {
	h := c.host
	c.leaves = false
	h.resource.Account.Store(c.money + 1)
	if h.resource.Inside.Load() > 1 {
		h.resource.Frozen.CompareAndSwap(0, h.clock.Now()) // two are inside: keep what led to it
	}
	now := h.record(history.Event{Kind: history.Exited, Entry: uint32(c.count), Value: c.money + 1})
	h.resource.Inside.Add(-1)
	if h.config.Entries > 0 {
		h.resource.LeftAt.Store(now)
	}
	h.feed(nodes.Input{Kind: nodes.Release})
	h.log.Instance(0).Exits.Add(1)
	c.plan(c.due, now)
}

// end stops issuing requests. Those that were due and have not been issued never will be.
func (c *client) end(now int64) {
	h := c.host
	c.over, c.wants = true, false
	h.log.State.Store(uint64(history.Draining))
	if h.config.Workload.Load != workload.Open || !h.isClient() {
		return
	}
	due, count := c.due, c.count+1
	if h.node.Client(0) != nodes.Idle { // the request after the open one is not planned yet
		due = h.config.Workload.Next(h.dice, h.config.Node, count, due, now)
	}
	for ; due < now && h.err == nil; count++ {
		h.record(history.Event{Kind: history.Unissued, Value: due})
		due = h.config.Workload.Next(h.dice, h.config.Node, count+1, due, now)
	}
}
