package host

import (
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"turnstile/internal/chance"
	"turnstile/internal/heap"
	"turnstile/internal/skew"
	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/port"
	"turnstile/nodes/workload"
)

// A host runs one node. Its loop is the only goroutine that touches it.
type host struct {
	config   Config
	process  nodes.Process
	clock    clock
	now      int64 // the latest reading of clock, where an exact time is not needed
	dice     chance.Dice
	choices  []uint64 // number of choices of the machines, by instance
	log      *history.Log
	memory   *memory   // saves of its machines
	resource *Resource // nil: there is a resource process instead
	asker    *asker    // asks the resource process; nil: there is no such process
	tasks    tasks
	waiting  workload.Inbox[arrival] // messages that wait for the application
	alarm    int64                   // when the alarm rings; 0: it is not set
	skew     skew.Clock
	clients  []*client // empty on a server
	clientOf []*client // by instance; nil if it is not a mutex
	revoking int       // clients that were revoked but have not left the register yet
	lags     history.Lags
	held     []nodes.Effect // messages held back until revoking is 0
	traffic  traffic
	outage   *outage    // nil unless the node reconnects
	bridge   *bridge    // to the foreign program; nil: the node has no such program
	departs  *departure // how the node leaves; nil: it does not
	told     bool       // the node has an order to issue requests, now or later
	since    int64      // when the run began, from the order to Issue
	started  bool
	detected []Order // Down and Up, from before the machines started
	parked   bool    // machines and clients are stopped
	silenced bool    // failure detectors are stopped

	detectors []bool // by instance: it is a failure detector; nil: the stack has none

	inbox   chan *nats.Msg // messages in order, and wake-ups
	wakeUp  *nats.Msg      // makes the loop look at the alarm, the orders and the channel trouble
	orders  chan Order
	notes   io.Writer
	asks    bool     // a client's request is being handled, and has sent no message yet
	asked   int      // the round of the latest order to Report
	posted  sync.Map // from *nats.Msg, a mark in the inbox, to the func() to call when the mark is handled
	trouble chan error
	over    chan struct{} // closed when the loop has ended
	err     error         // why the loop must end
	quit    bool
}

// burst is how many messages a host handles before it looks at its timers and orders again.
const burst = 64

// Run runs the node c of stack until the order Quit. It reads orders from orders, and writes Notes to notes.
// It returns an error when the node cannot go on: the broker is gone without Reconnect, the disk is full, a
// message is garbled, the orders end.
func Run(c Config, stack *nodes.Stack, orders io.Reader, notes io.Writer) error {
	anchor := DropAnchor()
	h := &host{config: c, dice: chance.Dice(c.Seed), tasks: newTasks(), skew: skew.New(),
		choices: make([]uint64, len(stack.Instances())), inbox: make(chan *nats.Msg, 4096+8*stack.Total()),
		wakeUp: new(nats.Msg), orders: make(chan Order, burst), notes: notes, trouble: make(chan error, 1),
		over: make(chan struct{})}
	defer close(h.over)
	go h.readOrders(orders)
	var err error
	if c.Monotonic != nil {
		h.clock, anchor.Error = newGivenClock(c.Monotonic, c.Zero, h.wake), 0
	} else if h.clock, err = newClock(anchor, c.Zero, h.wake); err != nil {
		return err
	}
	frozen, err := h.openResource(stack)
	if err != nil {
		return err
	}
	if c.TraceAll {
		frozen = nil
	}
	h.log, err = history.Create(c.Log, history.Options{Node: c.Node, Incarnation: c.Incarnation,
		Nodes: stack.Total(), Networks: severalNetworks(stack),
		Instances: len(stack.Instances()), TraceLength: c.TraceLength,
		Texts: c.Texts, StampError: anchor.Error, Origin: c.Origin, Frozen: frozen})
	if err != nil {
		return err
	}
	defer h.log.Close()
	h.lags.Append = h.append
	defer func() { h.lags.Flush(h.clock.Now()) }()
	nodes.NewRuntime(stack, h, h.choose).Process(&h.process, c.Node)
	h.watch(c.Watcher)
	h.memory = newMemory(c.Saved, stack)
	defer h.memory.close()
	if c.Incarnation > 0 {
		saved, err := h.memory.recall()
		if err != nil {
			return err
		}
		h.process.Resume(c.Incarnation, saved)
	}
	h.clients, h.detectors = newClients(h), stack.Detectors()
	h.waiting = workload.NewInbox[arrival](c.Workload.Receive, h.dice, c.Node)
	h.traffic = newTraffic(h, SubjectsOf(c.Run))
	if c.Reconnect {
		h.outage = newOutage(stack.Total(), len(h.traffic.lives[0]), len(h.traffic.conns))
	}
	if err := h.connect(); err != nil {
		return err
	}
	defer h.traffic.close()
	if h.asker != nil {
		if err := h.asker.connect(); err != nil {
			return err
		}
		defer h.asker.close()
	}
	defer func() { h.bridge.close() }()
	if err := h.ready(); err != nil {
		return err
	}
	h.loop()
	if h.err != nil {
		h.log.State.Store(uint64(history.Failed))
	}
	return h.err
}

// ready starts the foreign program of the node, if it has one, and sends the Note that the node is ready.
func (h *host) ready() error {
	if err := h.openBridge(); err != nil {
		return err
	}
	return h.tell(Note{Ready: true})
}

// openResource opens the resource that the clients of the run share, and returns history.Options.Frozen.
func (h *host) openResource(stack *nodes.Stack) (frozen *atomic.Int64, err error) {
	if h.config.ResourceAt != nil {
		h.asker = newAsker(h)
		return &h.asker.frozen, nil
	}
	if h.resource, err = OpenResource(h.config.Resource, len(stack.Mutexes()), stack.N()); err != nil {
		return nil, err
	}
	return &h.resource.frozen, nil
}

// wake makes the loop look at its alarm, its orders and the channel trouble. If the inbox is full, the loop
// will do so anyway.
func (h *host) wake() {
	select {
	case h.inbox <- h.wakeUp:
	default:
	}
}

// fail makes the loop end with an error, unless another came first.
func (h *host) fail(err error) {
	select {
	case h.trouble <- err:
		h.wake()
	default:
	}
}

// loop handles tasks and messages until the node is told to quit or cannot go on.
func (h *host) loop() {
	for h.checkOrders(); h.err == nil && !h.quit; h.checkOrders() {
		h.runDue()
		if !h.act() && h.err == nil && !h.quit {
			h.setAlarm()
			h.lags.Idle(h.now)
			h.take(<-h.inbox)
		}
		for range min(burst, len(h.inbox)) { // messages that have come, without waiting for more
			if h.err != nil || h.quit {
				return
			}
			h.take(<-h.inbox)
		}
	}
}

// take handles a message of the inbox, after the orders that have come.
func (h *host) take(m *nats.Msg) {
	switch h.checkOrders(); {
	case h.err != nil || h.quit:
	case h.asker != nil && m.Sub == h.asker.answers:
		h.asker.take(m)
	case m.Sub != nil:
		h.arrive(m)
	case m != h.wakeUp:
		do, _ := h.posted.LoadAndDelete(m)
		do.(func())()
	}
}

// checkOrders obeys the orders that have come, and then looks for errors in the channel trouble and for lines
// of a foreign program.
func (h *host) checkOrders() {
	for len(h.orders) > 0 && h.err == nil && !h.quit {
		h.obey(<-h.orders)
	}
	if len(h.trouble) > 0 && h.err == nil && !h.quit {
		h.err = <-h.trouble
	}
	if h.bridge != nil {
		h.bridge.hear()
	}
}

// awaitBegin has the node begin before it handles its first message. The sender of the message has begun, so
// the time to begin has come. But the order to begin takes another way, perhaps a slower one, so awaitBegin
// waits for the order. Otherwise a token could pass a node before its first request.
func (h *host) awaitBegin() {
	for !h.told && h.err == nil && !h.quit {
		select {
		case o := <-h.orders:
			h.obey(o)
		case h.err = <-h.trouble:
		}
	}
	h.runDue()
	h.act()
}

// start starts the machines before any other event: when issuing begins, or when the first message comes from
// a peer that began a moment earlier. A machine that started before this could send to peers that are not up.
func (h *host) start() {
	if !h.started {
		h.started, h.now = true, h.clock.Now()
		h.process.Boot()
		if h.bridge != nil {
			h.bridge.pass()
			h.wake()
		}
		for _, o := range h.detected {
			h.detect(o)
		}
	}
}

// handle hands the process an input.
func (h *host) handle(in nodes.Input) {
	h.process.Handle(&in)
	if h.bridge != nil {
		h.bridge.pass()
	}
}

// The host carries out the effects of its one process.
var _ nodes.Host = (*host)(nil)

// Send implements nodes.Host. After an error it sends nothing, since an earlier save may have failed.
func (h *host) Send(_ *nodes.Process, e *nodes.Effect) {
	switch {
	case h.err != nil:
	case h.revoking > 0:
		h.held = append(h.held, *e)
	default:
		h.traffic.send(e)
		h.tellFaults(port.OnSend, e.Kind)
	}
}

// Broadcast implements nodes.Host.
func (h *host) Broadcast(p *nodes.Process, e *nodes.Effect) {
	switch {
	case h.err != nil:
	case h.revoking > 0:
		h.held = append(h.held, *e)
	default:
		h.traffic.broadcast(p, e)
		h.tellFaults(port.OnSend, e.Kind)
	}
}

// sendHeld sends the messages that revocations held back, now that all revoked clients have left the
// register.
func (h *host) sendHeld() {
	held := h.held
	h.held = nil
	for i := range held {
		if e := &held[i]; e.Op == nodes.OpSend {
			h.Send(&h.process, e)
		} else {
			h.Broadcast(&h.process, e)
		}
	}
}

// SetTimer implements nodes.Host.
func (h *host) SetTimer(_ *nodes.Process, e *nodes.Effect) {
	dice := h.dice.Of(chance.ForTimer, int(e.Instance))
	roll := chance.OnLink(chance.ForTimer, h.config.Node, e.Timer.Peer, uint8(e.Timer.Kind), uint64(e.Gen))
	length := int64(e.Min) + int64(dice.Unit(roll)*float64(e.Max-e.Min))
	local := h.skew.Now(h.clock.Now()) + length
	h.pendFor(e.Instance, task{at: h.skew.When(local), local: local, what: toTimeout,
		input: nodes.Input{Kind: nodes.Timeout, Instance: e.Instance, Timer: e.Timer, Gen: e.Gen}})
}

// Save implements nodes.Host.
func (h *host) Save(_ *nodes.Process, e *nodes.Effect) {
	if h.err == nil {
		h.err = h.memory.save(e.Instance, e.Kind, e.Message)
	}
}

// Enter implements nodes.Host. After an error it lets no client in.
func (h *host) Enter(_ *nodes.Process, e *nodes.Effect) {
	if h.err == nil {
		h.clientOf[e.Instance].enter(e.Number)
	}
}

// Revoke implements nodes.Host. After an error Enter let no client in, so none leaves.
func (h *host) Revoke(_ *nodes.Process, e *nodes.Effect) {
	if h.err == nil {
		h.clientOf[e.Instance].revoke()
	}
}

// Inform implements nodes.Host.
func (h *host) Inform(_ *nodes.Process, e *nodes.Effect) {
	if h.err != nil {
		return
	}
	switch c := h.clientOf[e.Instance]; e.Op {
	case nodes.OpTellLost:
		c.toldLost()
	case nodes.OpRefuse:
		c.hears(history.Event{Kind: history.TryRefused, Value: c.triedAt})
	case nodes.OpRetry:
		c.triedAt = h.clock.Now()
	case nodes.OpLeft:
		h.gone()
	case nodes.OpGiveUp:
		c.gaveUp, c.endedAt = true, h.record(history.Event{Kind: history.GaveUp, Instance: c.instance,
			Entry: uint32(c.count)})
	}
}

// Elect implements nodes.Host.
func (h *host) Elect(_ *nodes.Process, e *nodes.Effect) {
	h.record(history.Event{Kind: history.Elected, Instance: uint16(e.Instance),
		Count: uint32(e.To), Value: int64(e.Number)})
	what := port.OnFollow
	if e.To == h.config.Node {
		what = port.OnLead
	}
	h.tellFaultsOf(port.Hook{What: what, Term: e.Number})
}

// Suspect implements nodes.Host. The host does not know whether a suspicion is true.
func (h *host) Suspect(_ *nodes.Process, e *nodes.Effect, suspects bool) {
	kind := history.Trusted
	if suspects {
		kind = history.Suspected
	}
	h.record(history.Event{Kind: kind, Instance: uint16(e.Instance), Count: uint32(e.To)})
}

// choose answers Env.Choose.
func (h *host) choose(id nodes.ID, instance int32, n int) int {
	h.choices[instance]++
	dice := h.dice.Of(chance.ForChoice, int(instance))
	return dice.Below(chance.At(chance.ForChoice, id, h.choices[instance]), n)
}

// A task is planned for a time.
type task struct {
	at      int64 // in the run's nanoseconds
	local   int64 // for a timer: when it is due by the node's clock
	order   uint64
	what    taskKind
	pends   bool    // it counts as pending: see pend
	client  *client // for a request or a critical section: its client
	entry   uint64  // the number of the critical section
	input   nodes.Input
	arrival arrival
}

// A taskKind is the kind of a task.
type taskKind uint8

const (
	toBegin    taskKind = iota // issuing begins
	toCampaign                 // the node campaigns
	toEnd                      // issuing ends
	toRequest                  // a client's next request is due
	toRelease                  // a client's critical section, or a step of its work, is over
	toGiveUp                   // a client may have waited for too long
	toMiss                     // another tick is over since the node was to leave
	toDepart                   // clients of a node that leaves linger no longer
	toTimeout                  // a machine's timer runs out
	toDeliver                  // a delayed message arrives
	toReceive                  // the application takes in messages
	toRest                     // a foreign program may have come to rest
	toHear                     // lines of a foreign program are taken again
)

// tasks are the planned tasks: the earliest first; of equal times, the one added first.
type tasks struct {
	heap.Heap[task]
	made uint64
}

func newTasks() tasks {
	return tasks{Heap: heap.New(func(a, b *task) bool {
		return a.at < b.at || a.at == b.at && a.order < b.order
	})}
}

func (t *tasks) add(x task) {
	t.made++
	x.order = t.made
	t.Push(x)
}

// pend adds a task that counts as pending: while there is one, the run is not at rest.
func (h *host) pend(x task) {
	x.pends = true
	h.log.Pending.Add(1)
	h.tasks.add(x)
}

// pendFor is pend for a task of an instance. Tasks of a failure detector, which never rests, do not count as
// pending. After hush, messages of a failure detector do count, until they have arrived.
func (h *host) pendFor(instance int32, x task) {
	if h.detects(instance) && !(h.silenced && x.what == toDeliver) {
		h.tasks.add(x)
		return
	}
	h.pend(x)
}

// hush stops the failure detectors.
func (h *host) hush() {
	h.silenced = true
	if h.detectors == nil {
		return
	}
	for t := range h.tasks.All() {
		if t.what == toDeliver && !t.pends {
			t.pends = true
			h.log.Pending.Add(1)
		}
	}
}

// detects reports whether an instance is a failure detector.
func (h *host) detects(instance int32) bool { return h.detectors != nil && h.detectors[instance] }

// early is how long before the end of a critical section the loop wakes up, and then spins: about as long as
// an idle processor takes to wake up. For other tasks it does not spin: there may be many, and if one is
// late, no duration that was asked for changes.
const early = int64(15 * time.Microsecond)

// wake returns when to wake up for a task.
func (t *task) wake() int64 {
	if t.what == toRelease {
		return t.at - early
	}
	return t.at
}

// setAlarm sets the alarm for the earliest task, unless the alarm rings by then anyway.
func (h *host) setAlarm() {
	if h.tasks.Len() == 0 {
		return
	}
	if at := h.tasks.First().wake(); at < h.alarm || h.alarm <= h.clock.Now() {
		h.alarm = at
		h.clock.SetAlarm(at)
	}
}

// runDue runs the tasks that are due.
func (h *host) runDue() {
	for h.tasks.Len() > 0 && h.err == nil {
		now := h.clock.Now()
		if h.tasks.First().wake() > now {
			return
		}
		t := h.tasks.Pop()
		for now < t.at {
			now = h.clock.Now()
		}
		h.now = now
		h.lags.Add(h.log.Late, t.at, now, nodes.None)
		h.run(&t)
		if t.pends {
			h.log.Pending.Add(-1)
		}
	}
}

func (h *host) run(t *task) {
	if h.parked && t.what != toEnd && t.what != toDeliver {
		return
	}
	switch t.what {
	case toBegin:
		h.start()
		h.begin(t.at)
	case toCampaign:
		h.campaign()
	case toEnd:
		h.end(t.at)
	case toRequest:
		t.client.requestDue()
	case toRelease:
		t.client.finish(t.entry)
	case toGiveUp:
		t.client.cancel()
	case toMiss:
		if h.stays() {
			h.err = h.bridge.child.explain(fmt.Errorf("it has not answered leave with leave_ok within %v",
				leaveLimit+h.departs.linger))
		}
	case toDepart:
		h.lingered()
	case toTimeout:
		if h.silenced && h.detects(t.input.Instance) {
			return
		}
		h.log.Instance(t.input.Instance).Timeouts.Add(1)
		h.handle(t.input)
		h.act()
	case toDeliver:
		h.deliver(&t.arrival)
	case toReceive:
		h.attend()
	case toRest:
		h.bridge.rest()
	case toHear:
		h.bridge.resume()
	}
}
