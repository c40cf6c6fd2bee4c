package host

import (
	"time"

	"turnstile/internal/chance"
	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/port"
	"turnstile/nodes/workload"
)

// A client requests the critical section of one instance according to the workload, and updates the witnesses
// of exclusion.
type client struct {
	host     *host
	instance uint16
	resource resource // nil on a server
	capacity int      // capacity of the resource, in units
	counters *history.InstanceCounters
	dice     chance.Dice
	load     *workload.Workload // the workload of the clients of this resource

	count  uint64 // requests issued
	due    int64  // when the latest request was due or, once the next one is planned, when that is due
	wants  bool   // a request is due
	asks   bool   // it waits for an answer of the resource process
	does   bool   // it is inside, and the next step of its work, or its exit, is due
	over   bool   // no request is planned any more
	begun  bool   // a request was planned
	untold bool   // the watcher was not told of its latest request: see tellRequests
	units  int32  // units wanted by the latest request
	money  int64  // the account at the latest entry
	fenced bool   // the resource refuses writes under lower fence numbers
	fence  uint64 // fence number of the latest entry

	triedAt  int64 // when its latest request was made, or made again
	givesUp  int64 // when its latest request is to be given up
	watched  bool  // a task is planned that looks at givesUp
	gaveUp   bool  // its latest request was given up
	endedAt  int64 // when that was; 0: it is counted
	entering bool  // the lock has let it in, but it is not inside yet
	inside   bool  // its critical section has begun, and has not ended
	told     bool  // while it was entering, it was told that the lock is lost

	stint     workload.Stint
	hold      time.Duration // planned length of the latest critical section
	enteredAt int64
	leftAt    int64 // when its latest critical section ended
	revoked   bool  // the latest critical section was revoked, and the client has not left the register yet
	revokedAt int64 // when the latest critical section was revoked; 0: it was not, or its exit is counted
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

// share sets the resource of the client, given the number of the resource.
func (c *client) share(number int) {
	h := c.host
	if h.asker != nil {
		c.resource = h.asker.resourceOf(number, c)
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
		h.clients[h.nextResource()].plan(now, now)
		return
	}
	for _, c := range h.clients {
		c.plan(now, now)
	}
}

// takesTurns reports whether the clients of the node ask one at a time.
func (h *host) takesTurns() bool { return h.config.Workload.TakesTurns(len(h.clients)) }

// nextResource returns the resource that the next request of the node is for. It depends on the number of
// requests of all clients of the node.
func (h *host) nextResource() int {
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

// campaign tells the node to campaign, and plans its next campaign.
func (h *host) campaign() {
	if !h.parked {
		h.record(history.Event{Kind: history.Campaigned})
		h.handle(nodes.Input{Kind: nodes.Campaign})
		h.planCampaign(h.now - h.since)
	}
}

// end stops issuing requests.
func (h *host) end(now int64) {
	for _, c := range h.clients {
		if c.end(now); c.gaveUp && c.state() == nodes.Idle && c.endedAt == 0 && h.departs == nil {
			c.due = now
			c.request()
		}
	}
	h.log.State.Store(uint64(history.Draining))
}

// act has the clients do what is due, up to a number of steps, and then has the application take in messages.
// It reports whether more is left.
func (h *host) act() (more bool) {
	for _, c := range h.clients {
		more = c.act() || more
	}
	h.depart()
	return h.attend() || more
}

// plan plans the next request.
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

// requestDue makes the planned request due.
func (c *client) requestDue() {
	c.wants = !c.over
	c.act()
}

// ask makes a request due now, as the orchestrator orders under a sequential load.
func (c *client) ask() {
	c.due, c.wants = c.host.clock.Now(), c.host.departs == nil
	c.act()
}

// act does what is due, up to a number of steps, and reports whether more is left. A request that is due
// waits until the client is idle.
func (c *client) act() bool {
	for range burst {
		switch {
		case c.host.err != nil || c.host.parked || c.asks:
			return false
		case c.revokedAt != 0:
			at := c.revokedAt
			c.revokedAt = 0
			c.next(at)
		case c.endedAt != 0:
			c.ended()
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

// drew continues a request with a drawn ticket.
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
	c.gaveUp = false
	if most := h.config.Workload.CancelAfter; most > 0 {
		if c.givesUp = c.triedAt + int64(most); !c.watched && !c.over {
			c.watched = true
			h.tasks.add(task{at: c.givesUp, what: toGiveUp, client: c})
		}
	}
	h.asks = true
	h.handle(nodes.Input{Kind: nodes.Request, Instance: int32(c.instance), Units: c.units})
	h.asks = false
	c.untold = c.state() == nodes.Waiting
	h.tellRequests()
}

// cancel has the client cancel its request if it has waited for long, unless no more requests are issued:
// then it waits on, which shows whether a request that was given up has left something behind.
func (c *client) cancel() {
	h := c.host
	switch c.watched = false; {
	case c.over || c.state() != nodes.Waiting:
	case h.now < c.givesUp: // an earlier request had planned the task
		c.watched = true
		h.tasks.add(task{at: c.givesUp, what: toGiveUp, client: c})
	default:
		h.handle(nodes.Input{Kind: nodes.Cancel, Instance: int32(c.instance)})
		c.act()
	}
}

// ended counts a request that was given up, and plans the next one. After the last it asks once more.
func (c *client) ended() {
	at := c.endedAt
	c.endedAt = 0
	c.counters.GaveUp.Add(1)
	if c.goOn(at); c.over && c.host.departs == nil {
		c.due, c.wants = at, true
	}
}

// enter lets the client in. The order from here to left() is: register, stamp, account, hold, account, stamp,
// register. The implications in the comment of sharedResource rest on it. With a process, see asker.
func (c *client) enter(fence uint64) {
	c.fence, c.entering = fence, true
	c.resource.enter()
}

// entered begins the critical section now, given the register and the words.
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
	if c.host.leavesNow() {
		at = c.host.now
	}
	if c.does = at <= c.host.now; !c.does {
		c.host.pend(task{at: at, what: toRelease, client: c, entry: c.count})
	}
}

// finish does the due step of the critical section numbered entry, unless it was revoked.
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

// swapped ends a step of the work; found is what the swap of the step has returned.
func (c *client) swapped(found int64) {
	c.stint.Swapped(found)
	c.planStep()
}

func (c *client) state() nodes.ClientState { return c.host.process.Client(int32(c.instance)) }

// wrote ends the critical section after the account has taken or refused the client's write.
func (c *client) wrote(holds int64, refused bool) {
	exited := history.Event{Kind: history.Exited, Value: holds}
	if refused {
		exited.Count = 1
	}
	c.exit(exited)
}

// revoke ends a critical section that the lock has revoked. The client writes nothing, unless its write is
// under way already. If the client is still entering, it leaves once it has entered.
func (c *client) revoke() {
	c.revoked = true
	c.host.revoking++
	if !c.asks {
		c.exit(history.Event{Kind: history.Revoked, Value: c.money})
	}
}

// toldLost records that the lock has told the client that the lock is lost; the client goes on. If the client
// is still entering, the record is made once it is inside; if it is leaving, nothing is recorded.
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

// exit records the end of the critical section, and has the client leave the register. Only then the lock is
// released.
func (c *client) exit(how history.Event) {
	c.does, c.inside = false, false
	how.Work(c.stint.Done, c.stint.Spoilt)
	how.Instance, how.Entry = c.instance, uint32(c.count)
	c.leftAt = c.host.record(how)
	c.resource.leave()
}

// left releases the lock, unless the critical section was revoked. The exit of a revoked section is counted
// by act, after the other effects of the machine's handler.
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

// next counts the critical section that ended at now, and goes on.
func (c *client) next(now int64) {
	c.counters.Exits.Add(1)
	c.goOn(now)
}

// goOn has the application take in messages after a request that ended at now, and plans the next request: of
// this client or, if clients take turns, of the one whose resource is drawn.
func (c *client) goOn(now int64) {
	h := c.host
	h.attend()
	if !h.takesTurns() || c.over {
		c.plan(c.due, now)
		return
	}
	next := h.clients[h.nextResource()]
	if next.plan(c.due, now); next != c && next.wants { // without a task, next would act only at the next event
		next.wants = false
		h.tasks.add(task{at: h.now, what: toRequest, client: next})
	}
}

// end stops planning requests, and records requests that are due but will never be issued.
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
