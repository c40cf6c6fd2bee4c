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

// An Algorithm is what a host must know of the algorithm that it runs.
type Algorithm struct {
	Machine    nodes.Machine
	Codec      *nodes.Codec
	Circulates bool
}

// A Host runs one node. Its loop is the only goroutine that touches it.
type Host struct {
	config    Config
	algorithm Algorithm
	node      *nodes.Node
	clock     Clock
	dice      chance.Dice
	log       *history.Log
	resource  *Resource
	agenda    agenda
	rung      int64 // for when the clock is set; never, if zero
	client    client
	traffic   traffic
	started   bool
	parked    bool // the machine handles no message any more

	messages chan *nats.Msg
	orders   chan *nats.Msg
	trouble  chan error
	err      error // why the loop must end
	quit     bool
}

// burst is how many messages a host handles before it looks at its timers and orders again.
const burst = 64

// Run runs the node that c describes until the orchestrator ends it. It returns an error when the
// node cannot go on: the broker is gone, the disk is full, a message is garbled.
func Run(c Config, a Algorithm) error {
	anchor := DropAnchor()
	clock, err := NewClock(anchor, c.Zero)
	if err != nil {
		return err
	}
	h := &Host{config: c, algorithm: a, clock: clock, dice: chance.Dice(c.Seed),
		orders: make(chan *nats.Msg, 256), trouble: make(chan error, 8)}
	if h.resource, err = OpenResource(c.Resource); err != nil {
		return err
	}
	total := h.total()
	h.messages = make(chan *nats.Msg, 4096+8*total)
	h.log, err = history.Create(c.Log, history.Options{Node: c.Node, Nodes: total, Instances: 1,
		TraceLength: c.TraceLength, StampError: anchor.Error, Frozen: &h.resource.Frozen})
	if err != nil {
		return err
	}
	defer h.log.Close()
	h.node = nodes.NewNode(c.Node, c.Machines.N, 0, h.choose, nodes.Part{Machine: a.Machine, Codec: a.Codec})
	conn, err := h.connect()
	if err != nil {
		return err
	}
	defer conn.Close()
	h.client = newClient(h)
	if err := h.tell(Note{Node: c.Node, Ready: true}); err != nil {
		return err
	}
	h.loop()
	if h.err != nil {
		h.log.State.Store(uint64(history.Failed))
	}
	return h.err
}

// total returns how many nodes there are, clients and servers.
func (h *Host) total() int { return h.config.Machines.N + h.config.Servers }

// JoinTimeout is how long a broker may take to answer while a thousand processes come up beside it.
const JoinTimeout = 20 * time.Second

// connect joins the broker and the node's subjects. All messages come by one channel, whatever their
// subject: two would change their order. There is no buffer for the time without a connection: what it
// held would arrive after an outage as if nothing had failed.
func (h *Host) connect() (*nats.Conn, error) {
	fail := func(err error) {
		select {
		case h.trouble <- err:
		default: // the first is enough
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
	if h.config.Multicast && h.isClient() {
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

func (h *Host) isClient() bool { return int(h.config.Node) < h.config.Machines.N }

// loop does one thing after another until the node is told to quit or cannot go on.
func (h *Host) loop() {
	for h.err == nil && !h.quit {
		h.runDue()
		if h.client.act(burst) {
			h.poll() // the client has more to do at once
			continue
		}
		if h.err != nil { // nothing else might come to wake the loop up
			return
		}
		h.setAlarm()
		select {
		case m := <-h.messages:
			h.arrive(m)
			h.poll()
		case <-h.clock.Rings():
			h.rung = 0
		case m := <-h.orders:
			h.obey(m)
		case h.err = <-h.trouble:
		}
	}
}

// poll handles what has come, without waiting for more.
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

// early is how long before its end the loop wakes up for a critical section: about as long as it takes an
// idle processor to wake up. What is left of it then, the loop spins. Nothing else is worth that: of other
// tasks there may be very many, and their lateness changes no length that was asked for.
const early = int64(15 * time.Microsecond)

// wake returns when to wake up for a task.
func wake(t *task) int64 {
	if t.what == toRelease {
		return t.at - early
	}
	return t.at
}

// setAlarm has the clock ring for the earliest task.
func (h *Host) setAlarm() {
	if len(h.agenda.tasks) == 0 {
		return
	}
	if at := wake(&h.agenda.tasks[0]); h.rung == 0 || at < h.rung {
		h.rung = at
		h.clock.Ring(at)
	}
}

// runDue does the tasks that are due.
func (h *Host) runDue() {
	for len(h.agenda.tasks) > 0 && h.err == nil {
		now := h.clock.Now()
		if wake(&h.agenda.tasks[0]) > now {
			return
		}
		t := h.agenda.take()
		for now < t.at {
			now = h.clock.Now()
		}
		h.log.Late[history.LatenessBucket(now-t.at)].Add(1)
		h.run(t)
	}
}

func (h *Host) run(t task) {
	switch t.what {
	case toBegin:
		h.start()
		h.client.begin(t.at)
	case toEnd:
		h.client.end(t.at)
	case toRequest:
		h.client.fall()
	case toRelease:
		h.client.leave()
		h.client.act(burst)
	case toTimeout:
		h.feed(nodes.Input{Kind: nodes.Timeout, Timer: t.timer, Gen: t.gen})
		h.client.act(burst)
	case toDeliver:
		h.deliver(&t.arrival)
	}
}

// hurry begins before the first message is heard. Its sender has begun, so the time has come, and the order
// that says so was here first. Otherwise a token could pass by a node that is late to ask for it.
func (h *Host) hurry() {
	for len(h.orders) > 0 && h.err == nil {
		h.obey(<-h.orders)
	}
	h.runDue()
	h.client.act(burst)
}

// start starts the machine, which comes before any other event: when issuing begins, or when the first
// message comes from a peer that has begun a moment sooner. Any earlier, what the machine sends would be
// lost on peers that are not up.
func (h *Host) start() {
	if !h.started {
		h.started = true
		h.feed(nodes.Input{Kind: nodes.Start})
	}
}

// feed hands the node an input and does what it asks for.
func (h *Host) feed(in nodes.Input) {
	for _, e := range h.node.Handle(in) {
		switch e.Op {
		case nodes.OpSend:
			if e.To < 0 || int(e.To) >= h.total() {
				h.err = fmt.Errorf("%T sends a message to node %d, which does not exist", h.algorithm.Machine, e.To)
				return
			}
			h.traffic.send(&e)
		case nodes.OpBroadcast:
			h.traffic.broadcast(&e)
		case nodes.OpSetTimer:
			h.agenda.add(task{at: h.clock.Now() + h.timerLength(&e), what: toTimeout, timer: e.Timer, gen: e.Gen})
		case nodes.OpStopTimer: // the node ignores the timer when it runs out
		case nodes.OpGrant:
			h.client.enter()
		default:
			h.err = fmt.Errorf("this host cannot do what %T asks for (operation %d)", h.algorithm.Machine, e.Op)
		}
	}
}

// timerLength draws how long the timer that e sets runs.
func (h *Host) timerLength(e *nodes.Effect) int64 {
	roll := chance.OnLink(chance.ForTimer, h.config.Node, e.Timer.Peer, uint8(e.Timer.Kind), uint64(e.Gen))
	return int64(e.Min) + int64(h.dice.Unit(roll)*float64(e.Max-e.Min))
}

// choose answers Env.Choose.
func (h *Host) choose(n int) int {
	h.client.choices++
	return h.dice.Below(chance.At(chance.ForChoice, h.config.Node, h.client.choices), n)
}

// obey does what the orchestrator says.
func (h *Host) obey(m *nats.Msg) {
	var o Order
	if err := json.Unmarshal(m.Data, &o); err != nil {
		h.err = fmt.Errorf("reading an order: %w", err)
		return
	}
	switch o.Do {
	case Issue:
		h.agenda.add(task{at: o.Begin, what: toBegin})
		if o.End > 0 {
			h.agenda.add(task{at: o.End, what: toEnd})
		}
	case Ask:
		h.start()
		h.client.ask()
	case Park:
		h.parked = true
	case Report:
		h.err = h.tell(Note{Node: h.config.Node, Standing: h.node.Status()})
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
