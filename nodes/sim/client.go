package sim

import (
	"cmp"
	"slices"

	"turnstile/internal/chance"
	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/workload"
)

// planAll plans the first requests of the clients of a node, at the beginning or after a restart.
func (w *world) planAll(id nodes.ID) {
	if int(id) >= w.n {
		return
	}
	for r := range w.resources {
		w.planRequest(id, int32(r), w.now, w.now)
	}
}

// planCampaigns plans who campaigns when the run begins.
func (w *world) planCampaigns() {
	for id := range nodes.ID(w.n) {
		w.planCampaign(id, -1)
	}
}

// planCampaign plans the first campaign of a node after a time.
func (w *world) planCampaign(id nodes.ID, after int64) {
	if !w.stack.Elects() || int(id) >= w.n || !w.Workload.Initiates(w.dice, id, w.n) {
		return
	}
	if at := w.Workload.NextCampaign(after); at != workload.Never {
		w.plan(at, toCampaign, id)
	}
}

// planRequest plans the next request of a client; the one before was due at lastDue and over at lastEnd.
func (w *world) planRequest(id nodes.ID, r int32, lastDue, lastEnd int64) {
	c := w.client(id, r)
	if c.over || w.stopped {
		return
	}
	c.made = false
	c.due = w.Workload.Next(w.resources[r].dice, id, uint64(c.count)+1, lastDue, lastEnd)
	if c.due == workload.Never {
		return
	}
	w.plan(max(w.now, c.due), toRequest, id).input.Instance = w.resources[r].instance
}

// ask has a client request now that is drawn at random among those that are up.
func (w *world) ask() {
	if w.stopped || len(w.resources) == 0 {
		return
	}
	up := func(p nodes.Process) bool { return p.Up() }
	if !slices.ContainsFunc(w.processes[:w.n], up) {
		return
	}
	var id nodes.ID
	for again := true; again; again = !w.processes[id].Up() {
		w.drawn++
		id = nodes.ID(w.dice.Below(chance.Roll{Purpose: chance.ForNode, Count: w.drawn}, w.n))
	}
	var r int32
	if many := len(w.resources); many > 1 {
		r = int32(w.dice.Below(chance.Roll{Purpose: chance.ForResource, Count: w.drawn}, many))
	}
	w.client(id, r).due = w.now
	w.asked = asked{true, id, w.sent}
	w.request(&w.processes[id], r)
}

// noteCost records how many messages the request that is over has taken.
func (w *world) noteCost() {
	if w.asked.open {
		w.asked.open = false
		w.record(history.Event{Kind: history.Settled, Count: uint32(w.asked.node),
			Value: int64(w.sent - w.asked.sent), Node: nodes.None})
	}
}

// request issues a request, if the run still issues any.
func (w *world) request(p *nodes.Process, r int32) {
	c, res := w.client(p.ID(), r), &w.resources[r]
	w.issued++
	if w.Entries > 0 && w.issued > w.Entries {
		c.over = true
		w.stop()
		return
	}
	c.count++
	c.made, c.left = true, false
	w.totals[w.at(p.ID(), res.instance)].requests++
	if w.waiting == 0 { // nobody has waited until now
		w.moved, w.beats = w.steps, 0
	}
	w.open++
	w.waiting++
	w.asksCold(c.count)
	units := w.Workload.Units(res.dice, p.ID(), uint64(c.count), res.capacity)
	w.record(history.Event{Kind: history.Requested, Entry: c.count, Value: c.due, Count: uint32(units),
		Node: p.ID(), Instance: uint16(res.instance)})
	if w.issued == w.Entries {
		w.stop()
	}
	w.feed(p, &nodes.Input{Kind: nodes.Request, Instance: res.instance, Units: units})
	if p.Up() && p.Client(res.instance) == nodes.Waiting {
		w.tellFaults(nodes.OnRequest, p.ID(), nodes.None, 0)
	}
}

// stop ends the issuing of requests. Requests of an open load that are due and not issued are recorded.
func (w *world) stop() {
	if w.stopped {
		return
	}
	w.stopped = true
	if !w.toTheLast() {
		w.endFaults()
	}
	if w.Duration == 0 && w.steady() > 0 && !w.measuring {
		w.mark(history.Measuring)
	}
	if !w.brief() {
		w.markStopped()
	}
	for id := range nodes.ID(w.n) {
		for r := range w.resources {
			w.client(id, int32(r)).over = true
			if w.Workload.Load == workload.Open {
				w.unissued(id, int32(r))
			}
		}
	}
}

// toTheLast reports whether faults go on until the last request is over, not only until it is issued: so it
// is in processes, where it comes out only then that the run has had its entries.
func (w *world) toTheLast() bool {
	return w.Duration == 0 && (w.brief() || w.Workload.Load == workload.Sequential)
}

// endFaults heals what is not healed yet.
func (w *world) endFaults() {
	if w.Saboteur != nil {
		w.cut = cmp.Or(w.cut, w.Saboteur.End())
	}
}

// markStopped ends what is measured: in a brief run when its last request is over, otherwise when that is
// issued.
func (w *world) markStopped() {
	if !w.ended {
		w.ended = true
		w.mark(history.Stopped)
	}
}

// brief reports whether the run has too few entries for a warm-up.
func (w *world) brief() bool { return w.Duration == 0 && workload.Brief(w.Entries, w.n) }

// unissued records the arrivals at a client that were due and will never be issued.
func (w *world) unissued(id nodes.ID, r int32) {
	c, res := w.client(id, r), &w.resources[r]
	due, count := c.due, uint64(c.count)+1
	if c.made { // the request after it is not planned yet
		due = w.Workload.Next(res.dice, id, count, due, w.now)
	}
	for ; due < w.now; count++ {
		w.record(history.Event{Kind: history.Unissued, Value: due, Node: id, Instance: uint16(res.instance)})
		due = w.Workload.Next(res.dice, id, count+1, due, w.now)
	}
}

// enter begins a critical section, and plans its end. It takes a nanosecond at least: otherwise time would
// not pass while a client enters again and again without a message.
func (w *world) enter(p *nodes.Process, e *nodes.Effect) {
	r := w.resource[e.Instance]
	c, res := w.client(p.ID(), r), &w.resources[r]
	res.taken += p.Units(e.Instance)
	w.waiting--
	w.moved, w.beats = w.steps, 0
	w.entries++
	c.money, c.fence, c.inside = res.account, e.Number, true
	res.fence = max(res.fence, e.Number)
	w.totals[w.at(p.ID(), e.Instance)].entries++
	w.record(history.Event{Kind: history.Entered, Entry: c.count, Value: c.money, Fence: e.Number,
		Count: uint32(res.taken), Node: p.ID(), Instance: uint16(e.Instance)})
	if w.Duration == 0 && w.steady() > 0 && w.entries == w.steady() {
		w.mark(history.Measuring)
	}
	w.servedCold(c.count)
	hold := max(1, int64(w.Workload.HoldFor(res.dice, p.ID(), uint64(c.count))))
	end := w.plan(w.now+hold, toRelease, p.ID())
	end.input.Instance, end.input.Gen = e.Instance, c.count
	w.tellFaults(nodes.OnEnter, p.ID(), nodes.None, 0)
}

// release ends a critical section, and hands the machine the release unless a fault takes the node down or
// stops it in between.
func (w *world) release(p *nodes.Process, instance int32) {
	c, res := w.client(p.ID(), w.resource[instance]), &w.resources[w.resource[instance]]
	exited := history.Event{Kind: history.Exited}
	if res.fenced && c.fence < res.fence {
		exited.Count = 1
	} else {
		res.account = c.money + 1
	}
	w.leave(p, instance, exited)
	w.tellFaults(nodes.OnExit, p.ID(), nodes.None, 0)
	if events, stands := w.missed[p.ID()]; stands {
		later := missed{what: toHandBack, to: p.ID(), life: w.lives[p.ID()]}
		later.input.Instance = instance
		w.missed[p.ID()] = append(events, later)
	} else if p.Up() {
		w.handBack(p, instance)
	}
}

// handBack hands the machine the release of a critical section that is over.
func (w *world) handBack(p *nodes.Process, instance int32) {
	w.feed(p, &nodes.Input{Kind: nodes.Release, Instance: instance})
	w.planRequest(p.ID(), w.resource[instance], w.client(p.ID(), w.resource[instance]).due, w.now)
}

// revoke ends a critical section that the machine has lost. The client writes nothing.
func (w *world) revoke(p *nodes.Process, instance int32) {
	w.leave(p, instance, history.Event{Kind: history.Revoked})
	w.planRequest(p.ID(), w.resource[instance], w.client(p.ID(), w.resource[instance]).due, w.now)
}

// leave records that a critical section is over, and how.
func (w *world) leave(p *nodes.Process, instance int32, how history.Event) {
	c, res := w.client(p.ID(), w.resource[instance]), &w.resources[w.resource[instance]]
	c.inside, c.left = false, true
	w.totals[w.at(p.ID(), instance)].exits++
	w.frozen = w.frozen || res.taken > res.capacity
	res.taken -= p.Units(instance)
	w.open--
	how.Entry, how.Value, how.Node, how.Instance = c.count, res.account, p.ID(), uint16(instance)
	w.record(how)
}
