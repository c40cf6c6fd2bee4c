package sim

import (
	"errors"
	"math"
	"time"

	"turnstile/internal/skew"
	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/port"
	"turnstile/nodes/replay"
)

// The world is the cluster to which faults are applied.
var _ port.Cluster = (*world)(nil)

// Now implements port.Cluster.
func (w *world) Now() int64 { return w.now }

// Up implements port.Cluster.
func (w *world) Up(m port.Member) bool { return m.Role == port.Node && w.processes[m.I].Up() }

// Kill implements port.Cluster.
func (w *world) Kill(m port.Member) error {
	if m.Role != port.Node {
		return errNoMember
	}
	w.crash(&w.processes[m.I])
	return nil
}

// Start implements port.Cluster.
func (w *world) Start(m port.Member, forget bool) error {
	if m.Role != port.Node {
		return errNoMember
	}
	w.restart(&w.processes[m.I], forget)
	return nil
}

// errNoMember says that a simulation has only nodes.
var errNoMember = errors.New("a simulation has neither connections, brokers, hosts nor servers of a service")

// Promote, Leave, Delete, Expire, Strain, Relieve, Lost and Find implement port.Cluster.
func (w *world) Promote(port.Member) error                              { return errNoMember }
func (w *world) Leave(port.Member, time.Duration) error                 { return errNoMember }
func (w *world) Delete(port.Member, bool) error                         { return errNoMember }
func (w *world) Expire(port.Member) error                               { return errNoMember }
func (w *world) Strain(int, port.Strain) error                          { return errNoMember }
func (w *world) Relieve(int) error                                      { return errNoMember }
func (w *world) Lost(int) (port.Lost, error)                            { return port.Lost{}, errNoMember }
func (w *world) Find(port.Relation, port.Member) ([]port.Member, error) { return nil, errNoMember }

// Stop implements port.Cluster.
func (w *world) Stop(m port.Member) error {
	if m.Role != port.Node {
		return errNoMember
	}
	w.pause(m.ID())
	return nil
}

// pause pauses a node.
func (w *world) pause(id nodes.ID) {
	if _, stands := w.missed[id]; stands || !w.processes[id].Up() {
		return
	}
	if w.missed == nil {
		w.missed = map[nodes.ID][]missed{}
	}
	w.missed[id] = nil
	w.Schedule.Fault(replay.StepPause, id, false)
	w.record(history.Event{Kind: history.Paused, Count: uint32(id), Node: nodes.None})
}

// Continue implements port.Cluster.
func (w *world) Continue(m port.Member) error {
	if _, stands := w.missed[m.ID()]; stands && m.Role == port.Node {
		w.Schedule.Fault(replay.StepResume, m.ID(), false)
		w.resume(m.ID())
		w.record(history.Event{Kind: history.Resumed, Count: uint32(m.I), Node: nodes.None})
	}
	return nil
}

// resume resumes a paused node: it handles the events that it missed, in order, before other events of this
// time.
func (w *world) resume(id nodes.ID) {
	for _, e := range w.missed[id] {
		w.postpone(event(e))
	}
	delete(w.missed, id)
	if w.inboxes != nil {
		w.plan(w.now, toReceive, id)
	}
	if w.resumedAt != w.now {
		w.resumed.Clear()
	}
	w.resumed.Add(id)
	w.resumedAt = w.now
}

// postpone plans an event again, as the last event of the current time.
func (w *world) postpone(e event) {
	e.late = true
	*w.plan(w.now, e.what, e.to) = e
	w.countIdle(&e, 1)
}

// A missed event came while its node was paused.
type missed event

// postponed keeps an event for later and reports true, if its node is paused, or has just resumed and must
// first handle the events that it missed.
func (w *world) postponed(e *event) bool {
	if len(w.missed) == 0 && w.resumedAt != w.now || e.what > toReceive { // later kinds of event have no node
		return false
	}
	events, stands := w.missed[e.to]
	switch {
	case stands:
		w.countIdle(e, -1)
		w.missed[e.to] = append(events, missed(*e))
	case w.resumedAt == w.now && !e.late && w.resumed.Has(e.to):
		w.countIdle(e, -1)
		w.postpone(*e)
	default:
		return false
	}
	return true
}

// countIdle counts an event of a failure detector that enters the queue (by 1) or leaves it (by -1).
func (w *world) countIdle(e *event, by int) {
	if (e.what == toDeliver || e.what == toTimeout) && w.detects(e.input.Instance) {
		w.idling += by
	}
}

// SetClock implements port.Cluster.
func (w *world) SetClock(m port.Member, jump time.Duration, rate float64) error {
	if m.Role != port.Node {
		return errNoMember
	}
	id := m.ID()
	if w.clocks == nil {
		w.clocks = map[nodes.ID]skew.Clock{}
	}
	set := w.clockOf(id).Set(w.now, jump, rate)
	w.clocks[id] = set
	w.queue.each(func(e *event) { // the timers of the node now run out at other times
		if e.what == toTimeout && e.to == id && e.life == w.lives[id] {
			again := *e
			again.late = false
			e.void = true
			*w.plan(max(w.now, set.When(again.local)), toTimeout, id) = again
		}
	})
	return nil
}

// clockOf returns the clock of a node. Only the timers of the node read it.
func (w *world) clockOf(id nodes.ID) skew.Clock {
	if c, wrong := w.clocks[id]; wrong {
		return c
	}
	return skew.New()
}

// Record implements port.Cluster.
func (w *world) Record(f port.FaultEvent) error {
	w.record(history.FaultEvent(f)) // w.record sets the time of the event to w.now
	return nil
}

// beginFaults begins to carry out faults. Their times count from measured, the time when measuring begins.
func (w *world) beginFaults(measured int64) {
	if w.FaultDriver == nil {
		return
	}
	w.cut = w.FaultDriver.Begin(w, measured)
	if w.FaultDriver.MidInput() {
		w.processes[0].Runtime().TellBetween(w.between)
	}
	w.planFault()
}

// planFault plans the next step of the faults.
func (w *world) planFault() {
	if next := w.FaultDriver.Next(); next < math.MaxInt64 {
		w.plan(max(w.now, next), toFault, 0)
	}
}

// stepFaults begins and heals the faults that are due.
func (w *world) stepFaults() {
	if w.FaultDriver.Next() > w.now {
		return // another step has carried out what was due
	}
	if err := w.FaultDriver.Step(); err != nil {
		w.cut = err
		return
	}
	w.planFault()
}

// tellFaults passes an event at a node to the fault driver, and carries out the action of the fault driver.
func (w *world) tellFaults(what port.HookKind, id nodes.ID, kind uint8) {
	if w.FaultDriver != nil {
		w.tellFaultsOf(port.Hook{Node: id, What: what, Kind: kind})
	}
}

// between tells the fault driver that a node is in the middle of handling an input.
func (w *world) between(p *nodes.Process, done int) {
	w.tellFaultsOf(port.Hook{Node: p.ID(), What: port.OnMidInput, Done: done})
}

// tellFaultsOf does the work of tellFaults, given a whole Hook.
func (w *world) tellFaultsOf(m port.Hook) {
	if w.FaultDriver == nil || w.stopped {
		return
	}
	m.At = w.now
	w.hook = m // a field, or every event would take memory
	switch w.FaultDriver.Watch(&w.hook) {
	case port.NoAction:
		return
	case port.KillNode:
		w.crash(&w.processes[m.Node])
	case port.PauseNode:
		w.pause(m.Node)
	}
	w.planFault()
}

// crash takes a node down. Its open requests are over, and messages on their way to it will be lost.
func (w *world) crash(p *nodes.Process) {
	if !p.Up() {
		return
	}
	w.lab.Break(nodes.NoCrash)
	for r := range w.lab.Resources {
		if int(p.ID()) >= w.n {
			break
		}
		switch c := w.lab.Client(p.ID(), int32(r)); {
		case c.Inside:
			w.open--
		case c.Left: // the node died between exit and release
		case p.Client(w.lab.Resources[r].Instance) != nodes.Idle:
			w.servedCold(c.Count)
			w.open--
			w.waiting--
		}
	}
	w.Schedule.Fault(replay.StepCrash, p.ID(), p.Runtime().Left() > 0)
	w.lab.Crash(p)
	w.lives[p.ID()]++
	p.Crash()
	w.loseInbox(p.ID())
	delete(w.clocks, p.ID()) // a new process begins with a correct clock
	w.nodeDown(p.ID())
	w.resume(p.ID()) // only ends the pause: the events that the node missed are void
}

// restart brings a node up again. Its clients begin to request again.
func (w *world) restart(p *nodes.Process, amnesia bool) {
	if p.Up() {
		return
	}
	w.lab.Restart(p, amnesia)
	w.lives[p.ID()]++
	w.nodeUp(p.ID())
	if w.links != nil {
		w.links.Restart(p.ID(), p.Incarnation()+1)
	}
	w.bring(p, nodes.Input{Kind: nodes.Recover}, amnesia, func(p *nodes.Process) { p.Restart(amnesia) })
	w.planAll(p.ID())
	if w.Workload.CampaignEvery > 0 {
		w.planCampaign(p.ID(), w.now)
	}
}
