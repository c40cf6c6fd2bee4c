package host

import (
	"time"

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
	resource resource // nil on a server
	capacity int      // of it, in units
	counters *history.InstanceCounters
	dice     chance.Dice
	load     *workload.Workload // of the clients of this resource

	count  uint64 // requests issued
	due    int64  // when the latest was due; once wants is set, when the next is
	wants  bool   // a request is due
	asks   bool   // it waits for an answer of the resource process
	does   bool   // it is inside, and does the next step of its work now, or leaves
	over   bool   // no request is planned any more
	begun  bool   // one was
	units  int32  // that the latest request wants
	money  int64  // what the account held at the latest enter
	fenced bool   // the resource refuses what is written under lower fence numbers
	fence  uint64 // under which it has entered latest

	triedAt  int64 // when its latest request was made, or made again
	entering bool  // it has been let in, and is not inside yet
	inside   bool  // its critical section has begun, and has not ended
	told     bool  // it was told that the lock is lost while it was entering

	stint     workload.Stint
	hold      time.Duration // inside
	enteredAt int64
	leftAt    int64 // when its latest critical section ended
	revoked   bool  // the latest was revoked, and the register does not know yet
	revokedAt int64 // when its critical section was revoked, if that is not counted yet; else 0
}

// newClients returns the clients of a node, one for each instance that is a mutex.
func newClients(h *host) (all []*client) {
	stack := h.process.Stack()
	h.clientOf = make([]*client, len(stack.Instances()))
	for r, instance := range stack.Mutexes() {
		c := &client{host: h, instance: uint16(instance),
			capacity: stack.Instances()[instance].Config.Capacity(),
			counters: h.log.Instance(instance), dice: h.dice.Of(chance.ForResource, r),
			fenced: stack.Fenced(instance), load: h.config.Workload.Of(r, len(stack.Mutexes()))}
		h.clientOf[instance] = c
		if int(instance) < len(h.config.Requests) {
			c.count = h.config.Requests[instance]
		}
		if int(h.config.Node) < stack.N() {
			c.share(r)
			all = append(all, c)
		}
	}
	return all
}

// share has the client share the resource of a number with those of the other nodes.
func (c *client) share(number int) {
	h := c.host
	if h.asker != nil {
		c.resource = h.asker.of(number, c)
		return
	}
	c.resource = &mappedResource{client: c, words: h.resource, shared: h.resource.Of(number),
		share: h.resource.Share(number, h.config.Node)}
}

// begin starts to issue requests.
func (h *host) begin(now int64) {
	h.log.State.Store(uint64(history.Running))
	h.planAll(now)
	switch {
	case h.config.Incarnation == 0:
		h.planCampaign(-1)
	case h.config.Workload.CampaignEvery > 0:
		h.planCampaign(now - h.since)
	}
}

// planAll plans the first requests of the node.
func (h *host) planAll(now int64) {
	if h.takesTurns() {
		h.clients[h.names()].plan(now, now)
		return
	}
	for _, c := range h.clients {
		c.plan(now, now)
	}
}

// takesTurns reports whether the clients of the node ask one at a time.
func (h *host) takesTurns() bool { return h.config.Workload.TakesTurns(len(h.clients)) }

// names returns the resource that the next request of the node is for. What its clients have requested counts
// together.
func (h *host) names() int {
	count := uint64(1)
	for _, c := range h.clients {
		count += c.count
	}
	return h.config.Workload.Names(h.dice, h.config.Node, count, len(h.clients))
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
// Then the application may receive what has waited.
func (h *host) act() (more bool) {
	for _, c := range h.clients {
		more = c.act() || more
	}
	return h.attend() || more
}

// plan finds out when the next request is due.
func (c *client) plan(lastDue, lastEnd int64) {
	h := c.host
	if c.over {
		return
	}
	c.begun = true
	c.due = c.load.Next(c.dice, h.config.Node, c.count+1, lastDue, lastEnd)
	switch {
	case c.due == workload.Never:
	case c.due <= h.now:
		c.wants = true
	default:
		if c.load.Load == workload.Closed {
			h.waiting.Computes(h.now, c.due)
		}
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
		case c.host.err != nil || c.host.parked || c.asks:
			return false
		case c.revokedAt != 0:
			at := c.revokedAt
			c.revokedAt = 0
			c.next(at)
		case c.does:
			c.step()
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
	c.wants = false
	if c.host.config.Entries > 0 {
		c.resource.draw()
		return
	}
	c.issue()
}

// drew takes a ticket that the client has drawn.
func (c *client) drew(ticket uint64) {
	if ticket > c.host.config.Entries {
		c.over = true
		c.host.log.State.Store(uint64(history.Draining))
		return
	}
	c.issue()
}

// issue issues a request.
func (c *client) issue() {
	h := c.host
	c.count++
	c.units = h.config.Workload.Units(c.dice, h.config.Node, c.count, c.capacity)
	c.counters.Requests.Add(1)
	c.triedAt = h.record(history.Event{Kind: history.Requested, Instance: c.instance, Entry: uint32(c.count),
		Value: c.due, Count: uint32(c.units)})
	h.asks = true
	h.handle(nodes.Input{Kind: nodes.Request, Instance: int32(c.instance), Units: c.units})
	h.asks = false
	if c.state() == nodes.Waiting {
		h.tellFaults(port.OnRequest, 0)
	}
}

// enter has the client go in. The witnesses imply one another because of the order of operations from here
// to left: register, stamp, account, hold, account, stamp, register. For those of a resource process see
// asker.
func (c *client) enter(fence uint64) {
	c.fence, c.entering = fence, true
	c.resource.enter()
}

// entered begins the critical section at the host's present time, given the units that the register shows,
// and what the words are.
func (c *client) entered(taken int64, words workload.Words) {
	h := c.host
	c.stint = h.config.Workload.Work.Begin(h.config.Node, c.count, words)
	h.append(history.Event{At: h.now, Kind: history.Entered, Instance: c.instance, Entry: uint32(c.count),
		Value: c.money, Count: uint32(taken), Fence: c.fence})
	c.counters.Entries.Add(1)
	if c.entering, c.inside = false, true; c.told {
		c.toldLost()
	}
	c.enteredAt, c.hold = h.now, h.config.Workload.HoldFor(c.dice, h.config.Node, c.count)
	c.planStep()
	h.tellFaults(port.OnEnter, 0)
}

// planStep plans the next step of the client's work or, after the last, the end of its critical section.
func (c *client) planStep() {
	at := c.enteredAt + int64(c.stint.After(c.hold))
	if c.does = at <= c.host.now; !c.does {
		c.host.pend(task{at: at, what: toRelease, client: c, entry: c.count})
	}
}

// finish does what is due in the critical section numbered entry, unless it was revoked.
func (c *client) finish(entry uint64) {
	if c.count == entry && c.state() == nodes.Inside && !c.asks {
		c.step()
		c.act()
	}
}

// step does the next step of the client's work or, after the last, leaves.
func (c *client) step() {
	if c.does = false; c.stint.Over() {
		c.resource.write()
		return
	}
	c.resource.swap(c.stint.Next())
}

// swapped takes what a step has found.
func (c *client) swapped(found int64) {
	c.stint.Swapped(found)
	c.planStep()
}

func (c *client) state() nodes.ClientState { return c.host.process.Client(int32(c.instance)) }

// wrote takes what the account holds, now that the client has written it, or was refused.
func (c *client) wrote(holds int64, refused bool) {
	exited := history.Event{Kind: history.Exited, Value: holds}
	if refused {
		exited.Count = 1
	}
	c.out(exited)
}

// revoke ends the critical section, which the lock has revoked. The client writes nothing, unless it does so
// already. If it is still on its way in, it leaves as it enters.
func (c *client) revoke() {
	c.revoked = true
	c.host.revoking++
	if !c.asks {
		c.out(history.Event{Kind: history.Revoked, Value: c.money})
	}
}

// toldLost notes that the lock has told the client, which goes on, that what it holds is lost. If it is still
// on its way in, it hears that as it enters; on its way out, it has nothing left to lose.
func (c *client) toldLost() {
	if c.told = c.entering; c.inside {
		c.hears(history.Event{Kind: history.ToldLost})
	}
}

// hears records what the client hears of the lock.
func (c *client) hears(what history.Event) {
	what.Instance, what.Entry = c.instance, uint32(c.count)
	c.host.record(what)
}

// out records that the critical section has ended, and how, and has the client leave the register. The lock
// is released once that knows.
func (c *client) out(how history.Event) {
	c.does, c.inside = false, false
	how.Work(c.stint.Done, c.stint.Spoilt)
	how.Instance, how.Entry = c.instance, uint32(c.count)
	c.leftAt = c.host.record(how)
	c.resource.leave()
}

// left releases the lock, unless it was revoked. Then the exit counts only after what else the lock does now.
func (c *client) left() {
	h := c.host
	if c.revoked {
		c.revoked, c.revokedAt = false, c.leftAt
		if h.revoking--; h.revoking == 0 && h.held != nil {
			h.sendHeld()
		}
		return
	}
	h.tellFaults(port.OnExit, 0)
	h.handle(nodes.Input{Kind: nodes.Release, Instance: int32(c.instance)})
	c.next(c.leftAt)
}

// next counts the critical section that ended at now, and plans the next request: of this client or, where
// they take turns, of the one whose resource is named. First the application receives what has waited.
func (c *client) next(now int64) {
	c.counters.Exits.Add(1)
	h := c.host
	h.attend()
	if !h.takesTurns() || c.over {
		c.plan(c.due, now)
		return
	}
	next := h.clients[h.names()]
	if next.plan(c.due, now); next != c && next.wants { // nothing else has it act before something happens
		next.wants = false
		h.tasks.add(task{at: h.now, what: toRequest, client: next})
	}
}

// end stops planning requests, and records those that are due and will never be issued.
func (c *client) end(now int64) {
	h := c.host
	c.over, c.wants = true, false
	if h.config.Workload.Load != workload.Open || !c.begun {
		return
	}
	due, count := c.due, c.count+1
	if c.asks || c.state() != nodes.Idle { // the request after the open one is not planned yet
		due = c.load.Next(c.dice, h.config.Node, count, due, now)
	}
	for ; due < now && h.err == nil; count++ {
		e := history.Event{Kind: history.Unissued, Instance: c.instance, Value: due}
		if c.capacity > 1 {
			e.Count = uint32(h.config.Workload.Units(c.dice, h.config.Node, count, c.capacity))
		}
		h.record(e)
		due = c.load.Next(c.dice, h.config.Node, count+1, due, now)
	}
}
