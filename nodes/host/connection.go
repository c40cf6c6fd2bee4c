package host

import (
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/nats-io/nats.go"
	"turnstile/internal/certs"
	"turnstile/nodes"
	"turnstile/nodes/history"
)

// JoinTimeout is how long a broker may take to answer while a thousand processes come up beside it, or the
// machine stands still.
const JoinTimeout = 20 * time.Second

// redialPause is from one attempt to connect again to the next.
const redialPause = 20 * time.Millisecond

// connect makes the node's first connections, one for each network. A node that reconnects may have come up
// while a broker is away, and tries until its orders end.
func (h *host) connect() error {
	for network := range h.traffic.conns {
		for h.traffic.conns[network] == nil {
			conn, err := h.join(network, func() {})
			if err == nil {
				h.traffic.conns[network] = conn
				break
			}
			if !h.config.Reconnect {
				return err
			}
			select {
			case h.err = <-h.trouble:
				return h.err
			case <-time.After(redialPause):
			}
		}
	}
	return nil
}

// join connects to the broker of a network, calls made, and then subscribes to the node's subjects. All that
// comes does so by one channel, whatever its subject: two would change the order, and take longer to wait
// for. A connection that is lost is never used again, so nothing is sent later that was waiting in it.
// Otherwise its messages would arrive after an outage as if nothing had failed.
func (h *host) join(network int, made func()) (*nats.Conn, error) {
	broker := h.config.brokers()[network]
	conn, err := nats.Connect(broker.URL, nats.Token(broker.Token), broker.secure(), nats.NoEcho(),
		nats.Timeout(JoinTimeout), nats.NoReconnect(), nats.Name(fmt.Sprintf("node %d", h.config.Node)),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			if errors.Is(err, nats.ErrSlowConsumer) {
				err = fmt.Errorf("messages come faster than it handles them, and after %d that waited, others were "+
					"lost: the machine is too slow for so many: %w", cap(h.inbox), err)
			}
			if !h.config.Reconnect || !broken(err) { // otherwise it is closed next
				h.fail(err)
			}
		}),
		nats.ClosedHandler(func(conn *nats.Conn) { h.closed(network, conn) }))
	if err != nil {
		return nil, fmt.Errorf("connecting to the broker: %w", err)
	}
	made()
	for _, subject := range h.traffic.heard[network] {
		if _, err := conn.ChanSubscribe(subject, h.inbox); err != nil {
			conn.Close()
			return nil, fmt.Errorf("subscribing to %s: %w", subject, err)
		}
	}
	if err := conn.FlushTimeout(JoinTimeout); err != nil {
		conn.Close()
		return nil, fmt.Errorf("joining the broker: %w", err)
	}
	return conn, nil
}

// secure returns how a node makes sure of the broker.
func (b *Broker) secure() nats.Option {
	if b.Pin == "" {
		return func(*nats.Options) error { return nil }
	}
	return nats.Secure(certs.Pinned(b.Pin))
}

// broken reports whether an error means a broken connection, and not a mistake of the program.
func broken(err error) bool {
	var network *net.OpError
	return errors.Is(err, nats.ErrConnectionClosed) || errors.As(err, &network)
}

// closed is called when a connection is closed, after all has come that comes by it.
func (h *host) closed(network int, conn *nats.Conn) {
	if h.config.Reconnect {
		h.post(func() { h.lose(network, conn) })
		return
	}
	h.fail(fmt.Errorf("the connection to the broker is closed: %w",
		errors.Join(conn.LastError(), nats.ErrConnectionClosed)))
}

// lose takes note that the node has no connection to a network any more, and has it try to get one again.
func (h *host) lose(network int, conn *nats.Conn) {
	if conn != h.traffic.conns[network] {
		return // it was given up before it was used
	}
	h.traffic.conns[network] = nil
	h.setFloors(true)
	h.record(history.Event{Kind: history.Disconnected, Count: uint32(h.log.Disconnects.Add(1))})
	go h.redial(network)
}

// redial tries to connect again until it succeeds or the loop ends.
func (h *host) redial(network int) {
	for {
		// Messages behind this call in the inbox came by the new connection, those before it by the old one.
		conn, err := h.join(network, func() { h.post(func() { h.outage.redialled(network) }) })
		if err == nil {
			h.post(func() { h.regain(network, conn) })
			return
		}
		select {
		case <-h.over:
			return
		case <-time.After(redialPause):
		}
	}
}

// regain takes a connection whose subscriptions are in force, unless it has been lost again since.
func (h *host) regain(network int, conn *nats.Conn) {
	if conn.IsClosed() {
		go h.redial(network)
		return
	}
	h.traffic.conns[network] = conn
	h.record(history.Event{Kind: history.Reconnected, Count: uint32(h.log.Reconnects.Add(1))})
}

// post has the loop call do once it has handled what is in the inbox. It waits for space there.
func (h *host) post(do func()) {
	mark := new(nats.Msg)
	h.posted.Store(mark, do)
	select {
	case h.inbox <- mark:
	case <-h.over:
	}
}

// An outage is what a node that reconnects must know to tell the messages that were lost with a connection
// from those that were lost for no reason. Explained are those before the first message of a stream that
// comes after either end has been connected again. Of these, the sender still owes those above the floor of
// the stream: what it sent after the orchestrator said that all nodes were connected.
type outage struct {
	connection []uint32 // how often this node has been connected again, by network
	restored   uint32   // the number of the latest order Restored that it has obeyed
	since      []uint32 // which that was when it was last connected again, by network
	open       bool     // connections are lost, as far as is known: there are no floors
	links      []ends   // by stream: see traffic.stream
	multicasts []ends
}

// ends are the connections, of this node and of the sender, by which the latest message of a stream came.
type ends struct{ own, senders uint32 }

func newOutage(total, streams, networks int) *outage {
	return &outage{links: make([]ends, streams), multicasts: make([]ends, total),
		connection: make([]uint32, networks), since: make([]uint32, networks)}
}

// redialled takes note that what comes next on a network comes by a new connection.
func (o *outage) redialled(network int) {
	o.connection[network]++
	o.since[network] = o.restored
}

// stamp says in the envelope of a message what its receiver must know, given its network and the floor of its
// stream.
func (o *outage) stamp(e *envelope, network int, floor uint64) {
	e.reconnects, e.restored = o.connection[network], o.restored
	if !o.open && o.restored > 0 {
		e.owed = e.seq - floor
	}
}

// explain returns how many of the messages that are missing between number seen and e, which came by a
// network in a stream, were lost with a connection. It is called for each message.
func (o *outage) explain(e *envelope, network int, stream nodes.ID, seen uint64) uint64 {
	last := &o.links[stream]
	if e.multicast {
		last = &o.multicasts[e.from]
	}
	before, connection := *last, o.connection[network]
	*last = ends{connection, e.reconnects}
	if before == *last {
		return 0
	}
	floor := e.seq - 1
	// If this node was connected again, the floor must be one that was set after that.
	if e.owed > 0 && (before.own == connection || e.restored > o.since[network]) {
		floor = e.seq - min(e.owed, e.seq)
	}
	return max(floor, seen) - seen
}

// setFloors takes note whether messages are lost now. Those of each stream up to its floor may be.
func (h *host) setFloors(open bool) {
	h.outage.open = open
	floor := func(sent uint64) uint64 {
		if open {
			return history.AnyNumber
		}
		return sent
	}
	for id := range nodes.ID(len(h.outage.links)) {
		h.log.Floor(id).Store(floor(h.log.SentTo(id).Load()))
	}
	h.log.MultiFloor.Store(floor(h.log.MultiSent.Load()))
}

// followOutage obeys the orders Outage, Parted and Restored. A node that has lost its connection again since
// will be told later that all are connected.
func (h *host) followOutage(o Order) {
	switch {
	case h.outage == nil:
		h.err = errors.New("an outage is announced to a node that was not told to reconnect")
	case o.Do == Parted:
		// As if it was connected again. What a node sends from now on says so, and while brokers are cut off, the
		// first of it that arrives is sent after they are not.
		h.outage.redialled(0) // which alone has several brokers
		h.setFloors(true)
	case o.Do == Outage:
		h.setFloors(true)
	case h.traffic.connected():
		h.outage.restored = uint32(o.Round)
		h.setFloors(false)
	}
}
