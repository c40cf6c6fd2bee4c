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
	memory   *memory // what its machines save
	resource *Resource
	tasks    tasks
	alarm    int64     // the time it is set to; zero: none
	clients  []*client // none on a server
	clientOf []*client // by instance; nil if it is no mutex
	traffic  traffic
	started  bool
	parked   bool // the machines and the clients do nothing more

	inbox   chan *nats.Msg        // messages and orders, in the order in which they came, and wake-ups
	wakeUp  *nats.Msg             // says no more than that the alarm or the trouble is to be looked at
	orders  [2]*nats.Subscription // to which of them an order belongs
	trouble chan error
	err     error // why the loop must end
	quit    bool
}

// burst is how many messages a host handles before it looks at its timers and orders again.
const burst = 64

// Run runs the node that c describes, made of stack, until the orchestrator ends it. It returns an error when
// the node cannot go on: the broker is gone, the disk is full, a message is garbled.
func Run(c Config, stack *nodes.Stack) error {
	anchor := DropAnchor()
	h := &Host{config: c, dice: chance.Dice(c.Seed), tasks: newTasks(),
		choices: make([]uint64, len(stack.Instances())), inbox: make(chan *nats.Msg, 4096+8*stack.Total()),
		wakeUp: new(nats.Msg), trouble: make(chan error, 1)}
	var err error
	if h.clock, err = NewClock(anchor, c.Zero, h.wake); err != nil {
		return err
	}
	if h.resource, err = OpenResource(c.Resource, len(stack.Mutexes())); err != nil {
		return err
	}
	h.log, err = history.Create(c.Log, history.Options{Node: c.Node, Nodes: stack.Total(),
		Instances: len(stack.Instances()), TraceLength: c.TraceLength, StampError: anchor.Error,
		Origin: c.Origin, Frozen: &h.resource.Frozen})
	if err != nil {
		return err
	}
	defer h.log.Close()
	nodes.NewRuntime(stack, h, h.choose).Process(&h.process, c.Node)
	h.memory = newMemory(c.Saved, stack)
	defer h.memory.close()
	if c.Incarnation > 0 {
		saved, err := h.memory.recall()
		if err != nil {
			return err
		}
		h.process.Resume(c.Incarnation, saved)
	}
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

// wake has the loop look at its alarm and its trouble. If the inbox is full, it will do so anyway.
func (h *Host) wake() {
	select {
	case h.inbox <- h.wakeUp:
	default:
	}
}

// connect connects to the broker and subscribes to the node's subjects. All that comes does so by one
// channel, whatever its subject: two would change the order, and take longer to wait for. There is no buffer
// for the time without a connection: its messages would arrive after an outage as if nothing had failed.
func (h *Host) connect() (*nats.Conn, error) {
	fail := func(err error) {
		select {
		case h.trouble <- err:
			h.wake()
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
	heard := []string{subjects.Orders(), subjects.OrdersTo(h.config.Node), subjects.Node(h.config.Node)}
	if h.config.Multicast && int(h.config.Node) < h.process.Stack().N() {
		heard = append(heard, subjects.Everyone())
	}
	for i, subject := range heard {
		sub, err := conn.ChanSubscribe(subject, h.inbox)
		if err != nil {
			return nil, fmt.Errorf("subscribing to %s: %w", subject, err)
		}
		if i < len(h.orders) {
			h.orders[i] = sub
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

// take handles what comes by the inbox.
func (h *Host) take(m *nats.Msg) {
	switch m.Sub {
	case nil:
		select {
		case h.err = <-h.trouble:
		default:
		}
	case h.orders[0], h.orders[1]:
		h.obey(m)
	default:
		h.arrive(m)
	}
}

// hurry has the node begin before it handles its first message. The sender has begun, so the time to begin
// has come, and the order to begin came before the message. Otherwise a token could pass a node before it has
// requested it.
func (h *Host) hurry() {
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
		if s, counts := h.config.Shaper.(nodes.Beginner); counts {
			s.Begin(o.Begin)
		}
		h.tasks.add(task{at: o.Begin, what: toBegin})
		if o.End > 0 {
			h.tasks.add(task{at: o.End, what: toEnd})
		}
	case Ask:
		h.start()
		h.clients[0].ask()
	case End:
		h.tasks.add(task{at: o.End, what: toEnd})
	case Park:
		h.parked = true
	case Report:
		h.err = h.tell(Note{Node: h.config.Node, Status: h.process.Status(0), Round: o.Round})
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
