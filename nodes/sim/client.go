package sim

import (
	"cmp"
	"slices"
	"time"

	"turnstile/internal/chance"
	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/port"
	"turnstile/nodes/workload"
)

// planAll plans the first requests of the clients of a node, at the beginning or after a restart.
func (w *world) planAll(id nodes.ID) {
	if int(id) >= w.n {
		return
	}
	if w.Workload.TakesTurns(len(w.lab.Resources)) {
		w.planRequest(id, w.nextResource(id), w.now, w.now)
		return
	}
	for r := range w.lab.Resources {
		w.planRequest(id, int32(r), w.now, w.now)
	}
}

// nextResource returns the resource that the next request of a node is for. It depends on the number of
// requests of all clients of the node.
func (w *world) nextResource(id nodes.ID) int32 {
	count, resources := uint64(1), len(w.lab.Resources)
	for r := range w.lab.Resources {
		count += uint64(w.lab.Client(id, int32(r)).Count)
	}
	return int32(w.Workload.Names(w.dice, id, count, resources))
}

// planCampaigns plans the campaigns at the beginning of the run.
func (w *world) planCampaigns() {
	for id := range nodes.ID(w.n) {
		w.planCampaign(id, -1)
	}
}

// planCampaign plans the first campaign of a node after a time.
func (w *world) planCampaign(id nodes.ID, after int64) {
	if int(id) >= w.n || !w.Workload.Initiates(w.dice, id, w.n) {
		return
	}
	if at := w.Workload.NextCampaign(after); at != workload.Never {
		w.plan(at, toCampaign, id)
	}
}

// planRequest plans the next request of a client; the previous request was due at lastDue and over at
// lastEnd.
func (w *world) planRequest(id nodes.ID, r int32, lastDue, lastEnd int64) {
	a := w.arrival(id, r)
	if a.over || w.stopped {
		return
	}
	a.made = false
	a.due = w.loads[r].Next(w.ofResource[r], id, uint64(w.lab.Client(id, r).Count)+1, lastDue, lastEnd)
	if a.due == workload.Never {
		return
	}
	if w.inboxes != nil && w.Workload.Load == workload.Closed {
		w.inboxes[id].Computes(w.now, a.due)
	}
	w.plan(max(w.now, a.due), toRequest, id).input.Instance = w.lab.Resources[r].Instance
}

// ask draws a client at random among the nodes that are up, and has it request now.
func (w *world) ask() {
	if w.stopped || len(w.lab.Resources) == 0 {
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
	r := int32(w.Workload.Names(w.dice, id, w.drawn, len(w.lab.Resources)))
	w.arrival(id, r).due = w.now
	w.asked = asked{true, id, w.sent}
	w.request(&w.processes[id], r)
}

// noteCost records how many messages the current request of a sequential load took, once it is over.
func (w *world) noteCost() {
	if w.asked.open {
		w.asked.open = false
		w.record(history.Event{Kind: history.Settled, Count: uint32(w.asked.node),
			Value: int64(w.sent - w.asked.sent), Node: nodes.None})
	}
}

// request issues a request, unless the run has issued all its requests.
func (w *world) request(p *nodes.Process, r int32) {
	a, c, res := w.arrival(p.ID(), r), w.lab.Client(p.ID(), r), &w.lab.Resources[r]
	w.issued++
	if w.Entries > 0 && w.issued > w.Entries {
		a.over = true
		w.stop()
		return
	}
	a.made = true
	if w.waiting == 0 { // no client has waited until now
		w.moved, w.beats = w.steps, 0
	}
	w.open++
	w.waiting++
	w.asksCold(c.Count + 1)
	units := w.Workload.Units(w.ofResource[r], p.ID(), uint64(c.Count)+1, res.Capacity)
	w.lab.Request(p.ID(), res.Instance, a.due, units)
	if w.issued == w.Entries {
		w.stop()
	}
	traced := w.traced
	w.feed(p, &nodes.Input{Kind: nodes.Request, Instance: res.Instance, Units: units})
	w.noteAsks(p.ID(), res.Instance, traced)
	if p.Up() && p.Client(res.Instance) == nodes.Waiting {
		w.tellFaults(port.OnRequest, p.ID(), 0)
	}
}

// stop ends the issuing of requests. Under an open load it records the requests that are due and not issued.
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
		for r := range w.lab.Resources {
			w.arrival(id, int32(r)).over = true
			if w.Workload.Load == workload.Open {
				w.unissued(id, int32(r))
			}
		}
	}
}

// toTheLast reports whether faults go on until the last request is over, rather than until it is issued: in
// brief runs, and under a sequential load. Real runs do the same, since the orchestrator learns only then
// that the run has had all its entries.
func (w *world) toTheLast() bool {
	return w.Duration == 0 && (w.brief() || w.Workload.Load == workload.Sequential)
}

// endFaults heals all faults.
func (w *world) endFaults() {
	if w.FaultDriver != nil {
		w.cut = cmp.Or(w.cut, w.FaultDriver.End())
	}
}

// markStopped ends measuring: in a brief run when the last request is over, and in other runs when it is
// issued.
func (w *world) markStopped() {
	if !w.ended {
		w.ended = true
		w.mark(history.Stopped)
	}
}

// brief reports whether the run has too few entries for a warm-up.
func (w *world) brief() bool { return w.Duration == 0 && workload.Brief(w.Entries, w.n) }

// unissued records the requests of a client that are due but will never be issued.
func (w *world) unissued(id nodes.ID, r int32) {
	a, dice := w.arrival(id, r), w.ofResource[r]
	due, count := a.due, uint64(w.lab.Client(id, r).Count)+1
	if a.made { // the latest request is open, and the next is not planned yet
		due = w.loads[r].Next(dice, id, count, due, w.now)
	}
	res := &w.lab.Resources[r]
	for ; due < w.now; count++ {
		e := history.Event{Kind: history.Unissued, Value: due, Node: id, Instance: uint16(res.Instance)}
		if res.Capacity > 1 {
			e.Count = uint32(w.Workload.Units(dice, id, count, res.Capacity))
		}
		w.record(e)
		due = w.loads[r].Next(dice, id, count+1, due, w.now)
	}
}

// LeastCycle is the least time from a request of a client until it leaves, about as long as in a process.
// Without it, time would not pass while a client with a hold of 0 enters again and again without a message.
const LeastCycle = time.Microsecond

// enter begins a critical section, and plans its end.
func (w *world) enter(p *nodes.Process, e *nodes.Effect) {
	r := w.lab.Resource(e.Instance)
	count := w.lab.Client(p.ID(), r).Count
	w.waiting--
	w.moved, w.beats = w.steps, 0
	w.entries++
	w.lab.Enter(p, e)
	if w.Duration == 0 && w.steady() > 0 && w.entries == w.steady() {
		w.mark(history.Measuring)
	}
	w.servedCold(count)
	w.planStep(p.ID(), e.Instance, w.now)
	w.tellFaults(port.OnEnter, p.ID(), 0)
}

// planStep plans the next step of the work of a client that entered at a time, or the end of its critical
// section after the last step.
func (w *world) planStep(id nodes.ID, instance int32, entered int64) {
	r := w.lab.Resource(instance)
	count := w.lab.Client(id, r).Count
	waited := time.Duration(entered - w.arrival(id, r).due)
	after := max(1, LeastCycle-waited, w.Workload.HoldFor(w.ofResource[r], id, uint64(count)))
	if stint := w.lab.Stint(id, instance); stint != nil {
		after = stint.After(after)
	}
	next := w.plan(max(w.now, entered+int64(after)), toRelease, id)
	next.input.Instance, next.input.Gen, next.local = instance, count, entered
}

// release ends a critical section, and hands the machine the release. If a fault at the exit takes the node
// down, the machine gets no release; if the fault pauses the node, the machine gets the release later.
func (w *world) release(p *nodes.Process, instance int32) {
	w.leave(instance)
	w.lab.Exit(p, instance)
	w.tellFaults(port.OnExit, p.ID(), 0)
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
	w.planNext(p.ID(), instance)
}

// revoke ends a critical section that the machine has lost. The client writes nothing.
func (w *world) revoke(p *nodes.Process, instance int32) {
	w.leave(instance)
	w.lab.Revoke(p, instance)
	w.planNext(p.ID(), instance)
}

// leave updates the counts for a critical section that is about to end.
func (w *world) leave(instance int32) {
	res := &w.lab.Resources[w.lab.Resource(instance)]
	w.frozen = w.frozen || res.Taken > res.Capacity
	w.open--
}

// planNext plans the next request of a client whose request is over now.
func (w *world) planNext(id nodes.ID, instance int32) {
	r := w.lab.Resource(instance)
	due := w.arrival(id, r).due
	if w.Workload.TakesTurns(len(w.lab.Resources)) {
		r = w.nextResource(id)
	}
	w.planRequest(id, r, due, w.now)
}
