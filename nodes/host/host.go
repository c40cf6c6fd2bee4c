package host

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"turnstile/internal/chance"
	"turnstile/nodes"
	"turnstile/nodes/history"
)

// A Host runs one node. Its loop is the only goroutine that touches it.
type Host struct {
	config   Config
	process  nodes.Process
	clock    Clock
	now      int64 // the latest reading of it, for what need not be exact
	dice     chance.Dice
	choices  []uint64 // that the machines have made, by instance
	log      *history.Log
	resource *Resource
	tasks    tasks
	alarm    int64     // the time it is set to; zero: none
	clients  []*client // none on a server
	clientOf []*client // by instance; nil if it is no mutex
	traffic  traffic
	started  bool
	parked   bool // the machines handle no more messages

	messages chan *nats.Msg
	orders   chan *nats.Msg
	trouble  chan error
	err      error // why the loop must end
	quit     bool
}

// burst is how many messages a host handles before it looks at its timers and orders again.
const burst = 64

// Run runs the node that c describes, made of stack, until the orchestrator ends it. It returns an error when
// the node cannot go on: the broker is gone, the disk is full, a message is garbled.
func Run(c Config, stack *nodes.Stack) error {
	anchor := DropAnchor()
	clock, err := NewClock(anchor, c.Zero)
	if err != nil {
		return err
	}
	h := &Host{config: c, clock: clock, dice: chance.Dice(c.Seed), tasks: newTasks(),
		choices: make([]uint64, len(stack.Instances())), messages: make(chan *nats.Msg, 4096+8*stack.Total()),
		orders: make(chan *nats.Msg, 256), trouble: make(chan error, 8)}
	if h.resource, err = OpenResource(c.Resource, len(stack.Mutexes())); err != nil {
		return err
	}
	h.log, err = history.Create(c.Log, history.Options{Node: c.Node, Nodes: stack.Total(),
		Instances: len(stack.Instances()), TraceLength: c.TraceLength, StampError: anchor.Error,
		Frozen: &h.resource.Frozen})
	if err != nil {
		return err
	}
	defer h.log.Close()
	nodes.NewRuntime(stack, h, h.choose).Process(&h.process, c.Node)
	h.clients = newClients(h)
	conn, err := h.connect()
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := h.tell(Note{Node: c.Node, Ready: true}); err != nil {
		return err
	}
	h.loop()
	if h.err != nil {
		h.log.State.Store(uint64(history.Failed))
	}
	return h.err
}

// JoinTimeout is how long a broker may take to answer while a thousand processes come up beside it.
const JoinTimeout = 20 * time.Second

// connect connects to the broker and subscribes to the node's subjects. All messages come by one channel,
// whatever their subject: two would change their order. There is no buffer for the time without a connection:
// its messages would arrive after an outage as if nothing had failed.
func (h *Host) connect() (*nats.Conn, error) {
	fail := func(err error) {
		select {
		case h.trouble <- err:
		default: // the first one is enough
		}
	}
	conn, err := nats.Connect(h.config.URL, nats.Token(h.config.Token), nats.NoEcho(), nats.Timeout(JoinTimeout),
		nats.NoReconnect(), nats.ReconnectBufSize(-1), nats.Name(fmt.Sprintf("node %d", h.config.Node)),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { fail(err) }),
		nats.ClosedHandler(func(c *nats.Conn) {
			fail(fmt.Errorf("the connection to the broker is closed: %w",
				errors.Join(c.LastError(), nats.ErrConnectionClosed)))
		}))
	if err != nil {
		return nil, fmt.Errorf("connecting to the broker: %w", err)
	}
	subjects := SubjectsOf(h.config.Run)
	subjectsHeard := map[string]chan *nats.Msg{
		subjects.Node(h.config.Node):     h.messages,
		subjects.Orders():                h.orders,
		subjects.OrdersTo(h.config.Node): h.orders,
	}
	if h.config.Multicast && int(h.config.Node) < h.process.Stack().N() {
		subjectsHeard[subjects.Everyone()] = h.messages
	}
	for subject, to := range subjectsHeard {
		if _, err := conn.ChanSubscribe(subject, to); err != nil {
			return nil, fmt.Errorf("subscribing to %s: %w", subject, err)
		}
	}
	if err := conn.Flush(); err != nil {
		return nil, fmt.Errorf("joining the broker: %w", err)
	}
	h.traffic = newTraffic(h, conn, subjects)
	return conn, nil
}

// loop does one thing after another until the node is told to quit or cannot go on.
func (h *Host) loop() {
	for h.err == nil && !h.quit {
		h.runDue()
		if h.act() {
			h.poll() // a client has more to do now
			continue
		}
		if h.err != nil { // the select below might wait for ever
			return
		}
		h.setAlarm()
		select {
		case m := <-h.messages:
			h.arrive(m)
			h.poll()
		case <-h.clock.Alarms():
			h.alarm = 0
		case m := <-h.orders:
			h.obey(m)
		case h.err = <-h.trouble:
		}
	}
}

// poll handles what has arrived, without waiting for more.
func (h *Host) poll() {
	for range min(burst, len(h.messages)) {
		h.arrive(<-h.messages)
		if h.err != nil {
			return
		}
	}
	select {
	case m := <-h.orders:
		h.obey(m)
	case h.err = <-h.trouble:
	default:
	}
}

// hurry has the node begin before it handles its first message. The sender has begun, so the time to begin
// has come, and the order to begin has arrived. Otherwise a token could pass a node before it has requested
// it.
func (h *Host) hurry() {
	for len(h.orders) > 0 && h.err == nil {
		h.obey(<-h.orders)
	}
	h.runDue()
	h.act()
}

// start starts the machines before any other event: when issuing begins, or when the first message comes from
// a peer that has begun a moment earlier. Any sooner, what they send would be lost, since peers may not be
// up.
func (h *Host) start() {
	if !h.started {
		h.started, h.now = true, h.clock.Now()
		h.process.Boot()
	}
}

// handle hands the process an input, and does what it asks for.
func (h *Host) handle(in nodes.Input) { h.process.Handle(&in) }

// obey carries out an order.
func (h *Host) obey(m *nats.Msg) {
	var o Order
	if err := json.Unmarshal(m.Data, &o); err != nil {
		h.err = fmt.Errorf("reading an order: %w", err)
		return
	}
	switch o.Do {
	case Issue:
		h.tasks.add(task{at: o.Begin, what: toBegin})
		if o.End > 0 {
			h.tasks.add(task{at: o.End, what: toEnd})
		}
	case Ask:
		h.start()
		h.clients[0].ask()
	case Park:
		h.parked = true
	case Report:
		h.err = h.tell(Note{Node: h.config.Node, Status: h.process.Status(0)})
	case Quit:
		h.quit = true
	default:
		h.err = fmt.Errorf("there is no order %q", o.Do)
	}
}

// tell sends a note to the orchestrator.
func (h *Host) tell(n Note) error {
	b, err := json.Marshal(n)
	if err == nil {
		err = h.traffic.conn.Publish(SubjectsOf(h.config.Run).Reports(), b)
	}
	if err != nil {
		return fmt.Errorf("reporting to the orchestrator: %w", err)
	}
	return nil
}
