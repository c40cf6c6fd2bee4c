package host

import (
	"fmt"

	"turnstile/internal/chance"
	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/port"
	"turnstile/nodes/workload"
)

// A client requests the critical section of one instance as the workload says, and keeps the witnesses of
// exclusion.
type client struct {
	host     *host
	instance uint16
	shared   *sharedResource
	share    *share // of this node; nil on a server
	capacity int    // of the resource, in units
	counters *history.InstanceCounters
	dice     chance.Dice

	count  uint64 // requests issued
	due    int64  // when the latest was due; once wants is set, when the next is
	wants  bool   // a request is due
	leaves bool   // it is inside with a hold of zero, and leaves next
	over   bool   // no request is planned any more
	begun  bool   // one was
	units  int32  // that the latest request wants
	money  int64  // what the account held at the latest enter
	fenced bool   // the resource refuses what is written under lower fence numbers
	fence  uint64 // under which it has entered latest

	revokedAt int64 // when its critical section was revoked, if that is not counted yet; else 0
}

// newClients returns the clients of a node, one for each instance that is a mutex.
func newClients(h *host) (all []*client) {
	stack := h.process.Stack()
	h.clientOf = make([]*client, len(stack.Instances()))
	for r, instance := range stack.Mutexes() {
		c := &client{host: h, instance: uint16(instance),
			shared: h.resource.Of(r), capacity: stack.Instances()[instance].Config.Capacity(),
			counters: h.log.Instance(instance), dice: h.dice.Of(chance.ForResource, r),
			fenced: stack.Fenced(instance)}
		h.clientOf[instance] = c
		if int(instance) < len(h.config.Requests) {
			c.count = h.config.Requests[instance]
		}
		if int(h.config.Node) < stack.N() {
			c.share = h.resource.Share(r, h.config.Node)
			all = append(all, c)
		}
	}
	return all
}

// begin starts to issue requests.
func (h *host) begin(now int64) {
	h.log.State.Store(uint64(history.Running))
	for _, c := range h.clients {
		c.plan(now, now)
	}
	switch {
	case h.config.Incarnation == 0:
		h.planCampaign(-1)
	case h.config.Workload.CampaignEvery > 0:
		h.planCampaign(now - h.since)
	}
}

// planCampaign plans the first campaign of this node after a time, in nanoseconds since the run began.
func (h *host) planCampaign(after int64) {
	w := &h.config.Workload
	if !w.Initiates(h.dice, h.config.Node, h.process.Stack().N()) {
		return
	}
	if at := w.NextCampaign(after); at != workload.Never {
		h.tasks.add(task{at: h.since + at, what: toCampaign})
	}
}

// campaign brings an election about.
func (h *host) campaign() {
	if !h.parked {
		h.record(history.Event{Kind: history.Campaigned})
		h.handle(nodes.Input{Kind: nodes.Campaign})
		h.planCampaign(h.now - h.since)
	}
}

// end stops issuing requests.
func (h *host) end(now int64) {
	h.log.State.Store(uint64(history.Draining))
	for _, c := range h.clients {
		c.end(now)
	}
}

// act has the clients do what is to be done now, up to a number of steps, and reports whether more is left.
func (h *host) act() (more bool) {
	for _, c := range h.clients {
		more = c.act() || more
	}
	return more
}

// plan finds out when the next request is due.
func (c *client) plan(lastDue, lastEnd int64) {
	h := c.host
	if c.over {
		return
	}
	c.begun = true
	c.due = h.config.Workload.Next(c.dice, h.config.Node, c.count+1, lastDue, lastEnd)
	switch {
	case c.due == workload.Never:
	case c.due <= h.now:
		c.wants = true
	default:
		h.tasks.add(task{at: c.due, what: toRequest, client: c})
	}
}

// fall makes the planned request due.
func (c *client) fall() {
	c.wants = !c.over
	c.act()
}

// ask makes a request due now, for an orchestrator that wants one at a time.
func (c *client) ask() {
	c.due, c.wants = c.host.clock.Now(), true
	c.act()
}

// act does what is to be done now, up to a number of steps, and reports whether more is left. A request that
// is due waits until the client is idle.
func (c *client) act() bool {
	for range burst {
		switch {
		case c.host.err != nil || c.host.parked:
			return false
		case c.revokedAt != 0:
			at := c.revokedAt
			c.revokedAt = 0
			c.next(at)
		case c.leaves:
			c.leave()
		case c.wants && c.state() == nodes.Idle:
			c.request()
		default:
			return false
		}
	}
	return true
}

// request requests the critical section, if the run still issues requests.
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
	c.units = h.config.Workload.Units(c.dice, h.config.Node, c.count, c.capacity)
	c.counters.Requests.Add(1)
	h.record(history.Event{Kind: history.Requested, Instance: c.instance, Entry: uint32(c.count),
		Value: c.due, Count: uint32(c.units)})
	c.host.handle(nodes.Input{Kind: nodes.Request, Instance: int32(c.instance), Units: c.units})
	if c.state() == nodes.Waiting {
		h.tellFaults(port.OnRequest, 0)
	}
}

// enter begins the critical section. The witnesses imply one another because of the order of operations here
// and in leave: register, stamp, account, hold, account, stamp, register.
func (c *client) enter(fence uint64) {
	h := c.host
	c.share.Entering(c.units)
	taken := c.shared.Taken.Add(int64(c.units))
	c.share.Within(c.units)
	h.now = h.clock.Now()
	if c.fence = fence; c.fenced {
		c.money = c.shared.EnterUnder(fence)
	} else {
		c.money = c.shared.Account.Load()
	}
	h.append(history.Event{At: h.now, Kind: history.Entered, Instance: c.instance, Entry: uint32(c.count),
		Value: c.money, Count: uint32(taken), Fence: fence})
	c.counters.Entries.Add(1)
	if hold := h.config.Workload.HoldFor(c.dice, h.config.Node, c.count); hold > 0 {
		h.pend(task{at: h.now + int64(hold), what: toRelease, client: c, entry: c.count})
	} else {
		c.leaves = true
	}
	h.tellFaults(port.OnEnter, 0)
}

// finish ends the critical section numbered entry, unless it was revoked.
func (c *client) finish(entry uint64) {
	if c.count == entry && c.state() == nodes.Inside {
		c.leave()
		c.act()
	}
}

func (c *client) state() nodes.ClientState { return c.host.process.Client(int32(c.instance)) }

// leave ends the critical section and releases the lock.
func (c *client) leave() {
	written, refused := c.money+1, false
	switch {
	case !c.fenced:
		c.shared.Account.Store(written)
	case written == accountLimit:
		c.host.err = fmt.Errorf("the account is full: where fence numbers count, a run has %d entries at most",
			accountLimit-1)
		return
	default:
		written, refused = c.shared.WriteUnder(c.fence, written)
	}
	exited := history.Event{Kind: history.Exited, Value: written}
	if refused {
		exited.Count = 1
	}
	now := c.out(exited)
	c.host.tellFaults(port.OnExit, 0)
	c.host.handle(nodes.Input{Kind: nodes.Release, Instance: int32(c.instance)})
	c.next(now)
}

// revoke ends the critical section, which the lock has revoked. The client writes nothing. The exit counts
// only after what else the lock does now.
func (c *client) revoke() {
	c.revokedAt = c.out(history.Event{Kind: history.Revoked, Value: c.money})
}

// out records that the critical section has ended, and how.
func (c *client) out(how history.Event) (now int64) {
	h := c.host
	c.leaves = false
	if c.shared.Taken.Load() > int64(c.capacity) {
		// too many are inside: the trace keeps what led to it
		h.resource.Frozen.CompareAndSwap(0, h.clock.Now())
	}
	how.Instance, how.Entry = c.instance, uint32(c.count)
	now = h.record(how)
	c.share.Leaving(c.units)
	c.shared.Taken.Add(-int64(c.units))
	c.share.set(outside, 0)
	if h.config.Entries > 0 {
		h.resource.LeftAt.Store(now)
	}
	return now
}

// next counts the critical section that ended at now, and plans the next request.
func (c *client) next(now int64) {
	c.counters.Exits.Add(1)
	c.plan(c.due, now)
}

// end stops planning requests, and records those that are due and will never be issued.
func (c *client) end(now int64) {
	h := c.host
	c.over, c.wants = true, false
	if h.config.Workload.Load != workload.Open || !c.begun {
		return
	}
	due, count := c.due, c.count+1
	if c.state() != nodes.Idle { // the request after the open one is not planned yet
		due = h.config.Workload.Next(c.dice, h.config.Node, count, due, now)
	}
	for ; due < now && h.err == nil; count++ {
		h.record(history.Event{Kind: history.Unissued, Instance: c.instance, Value: due})
		due = h.config.Workload.Next(c.dice, h.config.Node, count+1, due, now)
	}
}
