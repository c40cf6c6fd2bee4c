package host

import (
	"io"
	"sync"
	"sync/atomic"

	"github.com/nats-io/nats.go"

	"turnstile/internal/chance"
	"turnstile/internal/skew"
	"turnstile/nodes"
	"turnstile/nodes/history"
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
