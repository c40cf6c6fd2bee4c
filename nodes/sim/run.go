package sim

import (
	"errors"
	"fmt"
	"time"

	"turnstile/internal/chance"
	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/stall"
	"turnstile/nodes/workload"
)

// A Result is what came of a simulated run.
type Result struct {
	History    *history.History
	Stall      string // the report of a stall, if there was one
	Cut        error  // why the run ended where it was, if it did: ErrInterrupted, a Panic, or of what it held
	Deliveries uint64 // messages handled
}

// ErrInterrupted ends a run when its Interrupt is closed.
var ErrInterrupted = errors.New("interrupted")

// What a run may hold, lest it take all memory: some three gigabytes of either.
const (
	mostPending  = 1 << 25 // events to come
	mostRecorded = 1 << 25 // events of the history, which is copied once
)

// watchEvery is after how many events a run looks whether it must end. Each may send a message to every node.
const watchEvery = 64

// plenty is the patience of a run that names none, for each node.
const plenty = 100_000

// Run makes a simulated run.
func Run(o Options) (*Result, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	w := newWorld(o)
	w.run()
	return &Result{History: w.history(), Stall: w.stall, Cut: w.cut, Deliveries: w.handled}, nil
}

// run makes the run, and marks how it has ended.
func (w *world) run() {
	w.loop()
	switch {
	case w.cut != nil:
		w.mark(history.Interrupted)
	case w.stall == "" && w.open > 0:
		w.stalled()
	case w.stall == "":
		w.stop()
		w.markStopped()
		w.mark(history.Rested)
	}
}

// begin starts all nodes, plans what is known beforehand, and lets the clients begin.
func (w *world) begin() {
	w.mark(history.Began)
	for _, c := range w.Crashes {
		crash := w.queue.add(int64(c.At))
		crash.what, crash.to = toCrash, c.Node
		if c.Restart > 0 {
			restart := w.queue.add(int64(c.At + c.Restart))
			restart.what, restart.to, restart.amnesia = toRestart, c.Node, c.Amnesia
		}
	}
	if w.Duration > 0 {
		w.queue.add(int64(w.Warmup)).what = toMeasure
		w.queue.add(int64(w.Warmup + w.Duration)).what = toStop
	}
	for id := range w.nodes {
		w.feed(nodes.ID(id), &nodes.Input{Kind: nodes.Start})
	}
	for id := range nodes.ID(w.n) {
		w.plan(id, 0, 0)
	}
	if w.short() {
		w.mark(history.Measuring)
	}
}

// steady is how many entries warm up a run that ends by entries.
func (w *world) steady() uint64 {
	if rounds := uint64(2 * w.n); w.Entries >= 4*rounds {
		return rounds
	}
	return 0
}

// loop lets one event after another happen until nothing is left to happen.
func (w *world) loop() {
	defer w.catch()
	w.begin()
	for turns := 0; w.stall == "" && w.cut == nil; turns++ {
		if turns%watchEvery == 0 {
			if w.cut = w.watch(); w.cut != nil {
				break
			}
		}
		if w.atRest() && w.Workload.Load == workload.Sequential {
			w.settle()
			w.ask()
		}
		if w.stopped && w.open == 0 {
			w.parked = w.Spec.Circulates // what goes round comes to rest where it is
			w.markStopped()
		}
		if w.queue.empty() {
			break
		}
		var e *event
		w.now, e = w.queue.take()
		w.happen(e)
		if w.open > w.inside && w.handled-w.moved > w.Patience {
			w.stalled()
		}
	}
}

// watch returns why the run must end at once, if it must.
func (w *world) watch() error {
	select {
	case <-w.Interrupt:
		return ErrInterrupted
	default:
	}
	switch {
	case w.queue.size > mostPending:
		return fmt.Errorf("more than %d messages are on their way at once: take fewer nodes, a lighter load or an "+
			"algorithm that sends less", mostPending)
	case len(w.events) > mostRecorded:
		return fmt.Errorf("the history has more than %d events: end it earlier, or hold for longer", mostRecorded)
	}
	return nil
}

// atRest reports whether no request is open and no message on its way, or whatever is goes round.
func (w *world) atRest() bool { return w.open == 0 && (w.inflight == 0 || w.Spec.Circulates) }

func (w *world) stalled() {
	status := make([]*nodes.NodeStatus, len(w.nodes))
	for id, node := range w.nodes {
		if w.lives[id].up() {
			status[id] = node.Status()
		}
	}
	w.stall = stall.Report(status, w.n)
	w.mark(history.Stalled)
}

// happen lets an event happen.
func (w *world) happen(e *event) {
	there := w.lives[e.to] == e.life && e.life.up()
	switch e.what {
	case toDeliver:
		w.deliver(e, there)
	case toMeasure:
		w.mark(history.Measuring)
	case toStop:
		w.stop()
	case toCrash:
		w.crash(e.to)
	case toRestart:
		w.restart(e.to, e.amnesia)
	case toRequest:
		if there && !w.members[e.to].over {
			w.request(e.to)
		}
	case toRelease:
		if there {
			w.release(e.to)
		}
	case toTimeout:
		if there {
			w.feed(e.to, &e.input)
		}
	}
}

// deliver hands a message to its node, which may have gone down since, or come up anew.
func (w *world) deliver(e *event, there bool) {
	w.inflight--
	if !there {
		w.members[e.to].totals.dropped++
		w.broke(nodes.NoCrash)
		return
	}
	w.handled++
	w.tally(e.to, e.kind).delivered++ // now, so that of many nodes it comes into the cache while the node does
	w.pass(e.to, e.input.From, e.kind, false)
	if !w.parked {
		w.feed(e.to, &e.input)
	}
}

// feed hands a node an input and does what it asks for.
func (w *world) feed(id nodes.ID, in *nodes.Input) {
	w.turn = id
	w.effects = w.nodes[id].HandleInto(w.effects[:0], *in)
	for i := range w.effects {
		e := &w.effects[i]
		switch e.Op {
		case nodes.OpSend:
			mustExist(id, e.To, len(w.nodes))
			w.send(id, e.To, e)
			w.count(id, e, 1, 1)
		case nodes.OpBroadcast:
			for to := range nodes.ID(w.n) {
				if to != id {
					w.send(id, to, e)
				}
			}
			publishes := w.hearers(id)
			if w.Multicast {
				publishes = 1
			}
			w.count(id, e, w.hearers(id), publishes)
		case nodes.OpSetTimer:
			w.setTimer(id, e)
		case nodes.OpSave:
			w.members[id].saved = e.Message
		case nodes.OpGrant:
			w.enter(id)
		}
	}
}

// hearers returns how many nodes hear a broadcast of id.
func (w *world) hearers(id nodes.ID) int {
	if int(id) < w.n {
		return w.n - 1
	}
	return w.n
}

// count books a message that is to be delivered so many times, and was handed over so many times.
func (w *world) count(id nodes.ID, e *nodes.Effect, deliveries, publishes int) {
	w.sent += uint64(deliveries)
	t := w.tally(id, e.Kind)
	t.sent += uint64(deliveries)
	t.publishes += uint64(publishes)
	if e.Resend {
		w.members[id].totals.resent += uint64(deliveries)
	}
	if w.Spec.Circulates {
		for range deliveries {
			w.record(history.Event{Kind: history.Sent, Count: uint32(e.Kind), Node: id})
		}
	}
}

func (w *world) tally(id nodes.ID, kind uint8) *tally {
	return &w.tallies[int(id)*w.codec.Kinds()+int(kind)]
}

// send puts a message on its way.
func (w *world) send(from, to nodes.ID, e *nodes.Effect) {
	w.pass(from, to, e.Kind, true)
	if w.links == nil { // the usual case, and the one that must be fast
		w.travel(w.now+w.latency, from, to, e)
		return
	}
	arrivals, reordered := w.links.Take(nodes.Packet{From: from, To: to, Instance: e.Instance,
		Kind: e.Kind, At: w.now})
	t := &w.members[to].totals
	switch {
	case len(arrivals) == 0:
		t.dropped++
		w.broke(nodes.NoLoss)
	case len(arrivals) > 1:
		t.copied += uint64(len(arrivals) - 1)
		w.broke(nodes.NoDuplication)
	}
	if reordered {
		w.broke(nodes.FIFO)
	}
	for _, at := range arrivals {
		w.travel(max(at, w.now+1), from, to, e)
	}
}

func (w *world) travel(at int64, from, to nodes.ID, e *nodes.Effect) {
	w.inflight++
	arrival := w.queue.add(at)
	arrival.what, arrival.kind, arrival.to, arrival.life = toDeliver, e.Kind, to, w.lives[to]
	arrival.input.Kind, arrival.input.From, arrival.input.Message = nodes.Receive, from, e.Message
}

func (w *world) setTimer(id nodes.ID, e *nodes.Effect) {
	roll := chance.OnLink(chance.ForTimer, id, e.Timer.Peer, uint8(e.Timer.Kind), uint64(e.Gen))
	length := e.Min + time.Duration(w.dice.Unit(roll)*float64(e.Max-e.Min))
	t := w.queue.add(w.now + max(1, int64(length)))
	t.what, t.to, t.life = toTimeout, id, w.lives[id]
	t.input.Kind, t.input.Timer, t.input.Gen = nodes.Timeout, e.Timer, e.Gen
}
