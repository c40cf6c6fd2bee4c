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

// JoinTimeout is how long a broker may take to answer, even while a thousand processes come up beside it, or
// the machine pauses.
const JoinTimeout = 20 * time.Second

// redialPause is the time between attempts to reconnect.
const redialPause = 20 * time.Millisecond

// connect makes the node's first connections, one for each network. With Reconnect the broker may be away;
// then connect tries until the orders end.
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

// join connects to the broker of a network, calls made(), and then subscribes to the node's subjects. All
// subjects use one channel: two would change the order, and be slower to wait for. A lost connection is never
// used again: otherwise messages buffered in it would arrive after an outage as if nothing had failed.
func (h *host) join(network int, made func()) (*nats.Conn, error) {
	broker := h.config.brokers()[network]
	conn, err := nats.Connect(broker.URL, nats.Token(broker.Token), broker.secure(), nats.NoEcho(),
		nats.Timeout(JoinTimeout), nats.NoReconnect(), nats.Name(fmt.Sprintf("node %d", h.config.Node)),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			if errors.Is(err, nats.ErrSlowConsumer) {
				err = fmt.Errorf("messages come faster than the node handles them: %d waited, and others were "+
					"lost: the machine is too slow for so many: %w", cap(h.inbox), err)
			}
			if !h.config.Reconnect || !broken(err) { // if the connection is broken, the method closed is called next
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

// secure returns the option that makes a node speak TLS with the pinned broker.
func (b *Broker) secure() nats.Option {
	if b.Pin == "" {
		return func(*nats.Options) error { return nil }
	}
	return nats.Secure(certs.Pinned(b.Pin))
}

// broken reports whether an error means a broken connection, not a bug.
func broken(err error) bool {
	var network *net.OpError
	return errors.Is(err, nats.ErrConnectionClosed) || errors.As(err, &network)
}

// closed is called when a connection is closed, after all its messages were delivered.
func (h *host) closed(network int, conn *nats.Conn) {
	if h.config.Reconnect {
		h.post(func() { h.lose(network, conn) })
		return
	}
	h.fail(fmt.Errorf("the connection to the broker is closed: %w",
		errors.Join(conn.LastError(), nats.ErrConnectionClosed)))
}

// lose records that the node has lost its connection to a network, and starts to reconnect.
func (h *host) lose(network int, conn *nats.Conn) {
	if conn != h.traffic.conns[network] {
		return // it was closed before the node used it
	}
	h.traffic.conns[network] = nil
	h.setFloors(true)
	h.record(history.Event{Kind: history.Disconnected, Count: uint32(h.log.Disconnects.Add(1))})
	go h.redial(network)
}

// redial tries to connect again until it succeeds or the loop ends.
func (h *host) redial(network int) {
	for {
		// Messages behind this call in the inbox came by the new connection, messages before it by the old
		// one.
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

// regain begins to use a new connection, unless it has been lost again.
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

// An outage lets a node that reconnects tell messages that were lost with a connection from messages lost for
// no reason. A gap before the first message of a stream after either end reconnected is explained, up to the
// floor of the stream. Messages above the floor were sent after the order Restored, and must arrive.
type outage struct {
	connection []uint32 // how often this node reconnected, by network
	restored   uint32   // the number of the latest order Restored that it has obeyed
	since      []uint32 // the value of restored when this node last reconnected, by network
	open       bool     // connections are lost, so there are no floors
	links      []ends   // by number of the stream: see traffic.stream
	multicasts []ends
}

// ends are the numbers of connections of this node and of the sender that carried the latest message of a
// stream.
type ends struct{ own, senders uint32 }

func newOutage(total, streams, networks int) *outage {
	return &outage{links: make([]ends, streams), multicasts: make([]ends, total),
		connection: make([]uint32, networks), since: make([]uint32, networks)}
}

// redialled records that the next messages on a network come by a new connection.
func (o *outage) redialled(network int) {
	o.connection[network]++
	o.since[network] = o.restored
}

// stamp sets the fields of an envelope that outage.explain needs at the receiver, given the network of the
// message and the floor of its stream.
func (o *outage) stamp(e *envelope, network int, floor uint64) {
	e.reconnects, e.restored = o.connection[network], o.restored
	if !o.open && o.restored > 0 {
		e.owed = e.seq - floor
	}
}

// explain returns how many of the messages missing between the numbers seen and e.seq were lost with a
// connection. Call it for each message, with its network and stream.
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
	// If this node has reconnected, only a floor that was set afterwards counts.
	if e.owed > 0 && (before.own == connection || e.restored > o.since[network]) {
		floor = e.seq - min(e.owed, e.seq)
	}
	return max(floor, seen) - seen
}

// setFloors sets the floors of all streams. If open, all messages may be lost; otherwise only messages that
// the node has sent before this call may be lost.
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

// followOutage obeys the orders Outage, Parted and Restored. A node that has lost its connection again
// ignores Restored: another will follow.
func (h *host) followOutage(o Order) {
	switch {
	case h.outage == nil:
		h.err = errors.New("an outage is announced to a node without the setting to reconnect")
	case o.Do == Parted:
		// The node acts as if it had reconnected, and its later messages say so. The first of them that crosses the
		// cut arrives after the heal, and explains the gap before it.
		h.outage.redialled(0) // only the first network has several brokers
		h.setFloors(true)
	case o.Do == Outage:
		h.setFloors(true)
	case h.traffic.connected():
		h.outage.restored = uint32(o.Round)
		h.setFloors(false)
	}
}
