package host

import (
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
	now      int64 // the latest reading of it, for what need not be exact
	dice     chance.Dice
	choices  []uint64 // that the machines have made, by instance
	log      *history.Log
	memory   *memory   // what its machines save
	resource *Resource // nil: it asks
	asker    *asker    // of the resource process; nil: there is none
	tasks    tasks
	waiting  workload.Inbox[arrival] // what waits for the application
	alarm    int64                   // the time it is set to; zero: none
	skew     skew.Clock
	clients  []*client      // none on a server
	clientOf []*client      // by instance; nil if it is no mutex
	revoking int            // clients whose critical section was revoked, and which are not out of the register
	held     []nodes.Effect // what is to be sent once none is
	traffic  traffic
	outage   *outage // nil unless the node reconnects
	bridge   *bridge // to a foreign program; nil: there is none
	told     bool    // to issue requests, now or later
	since    int64   // when the run began that it was told of
	started  bool
	parked   bool // the machines and the clients do nothing more
	hushed   bool // the failure detectors do nothing more

	detectors []bool // which instances are failure detectors; nil: none is

	inbox   chan *nats.Msg // messages, in the order in which they came, and wake-ups
	wakeUp  *nats.Msg      // says no more than that the alarm, the orders or the trouble are to be looked at
	orders  chan Order
	notes   io.Writer
	asks    bool     // a client's request is handled, and nothing is sent for it yet
	asked   int      // the round of the latest order to Report
	posted  sync.Map // what to do (a func()) when a mark (*nats.Msg) comes by the inbox
	trouble chan error
	over    chan struct{} // closed when the loop has ended
	err     error         // why the loop must end
	quit    bool
}

// burst is how many messages a host handles before it looks at its timers and orders again.
const burst = 64

// Run runs the node that c describes, made of stack, until an order to Quit comes. Orders are read from
// orders, and Notes written to notes. It returns an error when the node cannot go on: the broker is gone
// though it is not to reconnect, the disk is full, a message is garbled, the orders end.
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
	if err := h.ready(); err != nil {
		return err
	}
	defer h.bridge.close()
	h.loop()
	if h.err != nil {
		h.log.State.Store(uint64(history.Failed))
	}
	return h.err
}

// ready starts the foreign program of the node, if it has one, and says that the node is ready.
func (h *host) ready() error {
	if err := h.openBridge(); err != nil {
		return err
	}
	return h.tell(Note{Ready: true})
}

// openResource opens what the clients of the run share, and returns the time from which on traces are kept as
// they are.
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

// wake has the loop look at its alarm, its orders and its trouble. If the inbox is full, it will do so
// anyway.
func (h *host) wake() {
	select {
	case h.inbox <- h.wakeUp:
	default:
	}
}

// fail has the loop end with an error, unless another came first.
func (h *host) fail(err error) {
	select {
	case h.trouble <- err:
		h.wake()
	default:
	}
}

// loop does one thing after another until the node is told to quit or cannot go on.
func (h *host) loop() {
	for h.heed(); h.err == nil && !h.quit; h.heed() {
		h.runDue()
		if !h.act() && h.err == nil {
			h.setAlarm()
			h.take(<-h.inbox)
		}
		for range min(burst, len(h.inbox)) { // what has come, without waiting for more
			if h.err != nil || h.quit {
				return
			}
			h.take(<-h.inbox)
		}
	}
}

// take handles what comes by the inbox, after the orders that have come.
func (h *host) take(m *nats.Msg) {
	switch h.heed(); {
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

// heed carries out the orders that have come, and then takes note of trouble, and of what a foreign program
// has written.
func (h *host) heed() {
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

// hurry has the node begin before it handles its first message. The sender has begun, so the time to begin
// has come. But the message may overtake the order to begin, which comes by another way, so the order is
// awaited. Otherwise a token could pass a node before it has requested it.
func (h *host) hurry() {
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
// a peer that has begun a moment earlier. Any sooner, what they send would be lost, since peers may not be
// up.
func (h *host) start() {
	if !h.started {
		h.started, h.now = true, h.clock.Now()
		h.process.Boot()
		if h.bridge != nil {
			h.bridge.pass()
			h.wake()
		}
	}
}

// handle hands the process an input, and does what it asks for.
func (h *host) handle(in nodes.Input) {
	h.process.Handle(&in)
	if h.bridge != nil {
		h.bridge.pass()
	}
}

// The host does what its one process asks for.
var _ nodes.Host = (*host)(nil)

// Send implements nodes.Host. A node that cannot go on sends nothing: what it said may not be saved.
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

// sendHeld sends what was held up by revocations, now that the register knows of all.
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

// Enter implements nodes.Host. Nor does a node that cannot go on let its client in.
func (h *host) Enter(_ *nodes.Process, e *nodes.Effect) {
	if h.err == nil {
		h.clientOf[e.Instance].enter(e.Number)
	}
}

// Revoke implements nodes.Host. Whom Enter did not let in does not leave.
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

// Suspect implements nodes.Host. A host sees one process, and does not know whether a suspicion is true.
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

// A task is something that a host will do at a time.
type task struct {
	at      int64 // in the run's nanoseconds
	local   int64 // what the node's clock shows then, of a timer
	order   uint64
	what    what
	pends   bool    // it was added by pend
	client  *client // whose request or critical section it is about
	entry   uint64  // which of its critical sections
	input   nodes.Input
	arrival arrival
}

// what a task is about.
type what uint8

const (
	toBegin    what = iota // issuing begins
	toCampaign             // the node brings an election about
	toEnd                  // issuing ends
	toRequest              // a client's next request is due
	toRelease              // its critical section is over
	toTimeout              // a machine's timer runs out
	toDeliver              // a delayed message arrives
	toReceive              // the application receives what has arrived
	toRest                 // a foreign program may have come to rest
	toHear                 // what it has written is taken again
)

// tasks are the tasks to come: the earliest first, and of equal times the one that was added first.
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

// pend adds a task that something waits for. As long as there is one, the run is not at rest.
func (h *host) pend(x task) {
	x.pends = true
	h.log.Pending.Add(1)
	h.tasks.add(x)
}

// pendFor is pend for a task of an instance. Nothing waits for a failure detector, which never rests, until
// it is hushed: from then on its messages are to arrive.
func (h *host) pendFor(instance int32, x task) {
	if h.detects(instance) && !(h.hushed && x.what == toDeliver) {
		h.tasks.add(x)
		return
	}
	h.pend(x)
}

// hush has the failure detectors do nothing more.
func (h *host) hush() {
	h.hushed = true
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

// early is how long before the end of a critical section the loop wakes up: about as long as an idle
// processor takes to wake up. The loop spins for the rest. It does so for no other tasks: there may be very
// many, and their lateness changes no duration that was asked for.
const early = int64(15 * time.Microsecond)

// wake returns when to wake up for a task.
func (t *task) wake() int64 {
	if t.what == toRelease {
		return t.at - early
	}
	return t.at
}

// setAlarm sets the alarm for the earliest task, unless it is set for no later.
func (h *host) setAlarm() {
	if h.tasks.Len() == 0 {
		return
	}
	if at := h.tasks.First().wake(); at < h.alarm || h.alarm <= h.clock.Now() {
		h.alarm = at
		h.clock.SetAlarm(at)
	}
}

// runDue does the tasks that are due.
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
		h.log.Late[history.LatenessBucket(now-t.at)].Add(1)
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
		t.client.fall()
	case toRelease:
		t.client.finish(t.entry)
	case toTimeout:
		if h.hushed && h.detects(t.input.Instance) {
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
