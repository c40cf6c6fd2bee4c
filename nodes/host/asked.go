package host

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/nats-io/nats.go"

	"turnstile/nodes/history"
)

// An asker asks the resource process, for all clients of a node. It has a connection of its own, to a broker
// that carries nothing else, and outlives the loss of that: a question that is open is asked again, and the
// process answers it once. The node waits for nothing: answers come by its inbox.
//
// # Why the witnesses still imply one another
//
// The process counts a client in and lets it read the account in one step, R; lets it write, W; and counts it
// out, L. The client stamps its entry, E, after the answer to R, and its exit, X, after the answer to W and
// before it asks for L. Only when L is answered is the lock released. So of one section, in time,
//
//	R < E < W < X < L
//
// By the stamps it lasts from E to X, which is within R to L, where the register counts it. So if two
// sections overlap by their stamps, the later R saw both: the register has exceeded the capacity. From R to
// W it uses the account, which is within R to L too. So if money is lost, the register has exceeded the
// capacity. The swaps of its work are between E and W, so the same holds of what is spoilt.
//
// This differs from a mapped file in one point: there R falls into two, and the account is read after E. So
// with a process, money may be lost between two sections whose stamps lie apart, by up to the time that an
// answer takes; and the account may refuse what is written under a fence number before the stamp of whoever
// entered under a higher one, which never comes if that one dies before its answer has come. The checks that
// compare stamps with the account know that (check.Setting.Asked). Those that compare the register with the
// account need no stamps: the process changes both, in one order.
//
// Were the lock released before L is answered, the next client's R might overtake L, since they come by other
// connections, and the register would show an overlap that never was. For the same reason nothing that a
// machine sends after it has revoked a critical section leaves the node before L is answered.
type asker struct {
	host    *host
	conn    *nats.Conn
	subject string
	inbox   string
	answers *nats.Subscription // by which they come
	frozen  atomic.Int64       // when a client first left while too many were inside, as far as is known
	buffer  []byte
	clients []*askedResource
}

// An askedResource is what a client shares with others, as the resource process keeps it.
type askedResource struct {
	*client
	asker  *asker
	number uint16   // of the resource
	open   question // numbered as the latest; it is open while client.asks
	asked  int64    // when
}

// newAsker returns what asks the resource process of a node.
func newAsker(h *host) *asker {
	return &asker{host: h, subject: SubjectsOf(h.config.Run).Resource()}
}

// connect connects to the process.
func (a *asker) connect() (err error) {
	h, at := a.host, a.host.config.ResourceAt
	a.conn, err = nats.Connect(at.URL, at.secure(), nats.Token(at.Token), nats.Timeout(JoinTimeout),
		nats.Name(fmt.Sprintf("node %d, for the resource", h.config.Node)),
		nats.MaxReconnects(-1), nats.ReconnectWait(redialPause), nats.ReconnectJitter(0, 0),
		nats.ReconnectBufSize(-1), // what is open is asked again
		nats.ReconnectHandler(func(*nats.Conn) { h.post(a.again) }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			// After any other error the connection is made again.
			if errors.Is(err, nats.ErrSlowConsumer) || errors.Is(err, nats.ErrPermissionViolation) {
				h.fail(fmt.Errorf("asking the resource process: %w", err))
			}
		}),
		nats.ClosedHandler(func(conn *nats.Conn) {
			h.fail(fmt.Errorf("the connection to the resource process is closed: %w",
				errors.Join(conn.LastError(), nats.ErrConnectionClosed)))
		}))
	if err != nil {
		return fmt.Errorf("connecting to the resource process: %w", err)
	}
	a.inbox = a.conn.NewInbox()
	a.answers, err = a.conn.ChanSubscribe(a.inbox, h.inbox)
	if err == nil {
		_, err = a.conn.Subscribe(SubjectsOf(h.config.Run).Frozen(), a.freeze)
	}
	if err == nil {
		err = a.live()
	}
	if err != nil {
		a.conn.Close()
		return fmt.Errorf("joining the resource process: %w", err)
	}
	return nil
}

// close ends the connection.
func (a *asker) close() { a.conn.Close() }

// live waits for a sign of life of the process, which comes behind all that it has answered.
func (a *asker) live() error {
	_, err := a.conn.Request(a.subject, encode(nil, &question{Do: showLife}), JoinTimeout)
	return err
}

// freeze keeps the traces of the node as they are: too many are inside.
func (a *asker) freeze(m *nats.Msg) {
	var at int64
	if _, err := binary.Decode(m.Data, binary.LittleEndian, &at); err == nil {
		a.frozen.Store(at)
	}
}

// again asks what is open again, since the connection was lost. An answer may have been lost with it.
func (a *asker) again() {
	for _, r := range a.clients {
		if r.asks {
			a.publish(&r.open)
		}
	}
}

// publish sends a question. If that fails, the connection is lost, and it is asked again.
func (a *asker) publish(q *question) {
	a.buffer = encode(a.buffer[:0], q)
	a.conn.PublishRequest(a.subject, a.inbox, a.buffer)
}

// of returns the resource of a number as a client's.
func (a *asker) of(number int, c *client) resource {
	r := &askedResource{client: c, asker: a, number: uint16(number)}
	a.clients = append(a.clients, r)
	return r
}

// noResponders is the status of what a broker says instead of an answer if nobody has subscribed.
const noResponders = "503"

// take takes an answer from the process. One that has come before is of no use.
func (a *asker) take(m *nats.Msg) {
	var got answer
	if m.Header.Get("Status") == noResponders {
		a.host.err = errors.New("nobody answers what clients ask: the resource process keeps nothing of this run")
		return
	}
	if n, err := binary.Decode(m.Data, binary.LittleEndian, &got); err != nil || n != len(m.Data) {
		a.host.err = fmt.Errorf("the resource process answers what is garbled: % x", m.Data)
		return
	}
	who := int(got.Number % uint64(len(a.clients)))
	if r := a.clients[who]; r.asks && r.open.Number == got.Number {
		r.hear(&got)
	}
}

// ask asks the process for something. Until it has answered, the run is not at rest.
func (r *askedResource) ask(do uint8, q question) {
	h := r.host
	q.Do, q.Resource, q.Node, q.Incarnation = do, r.number, h.config.Node, h.config.Incarnation
	q.Fenced, q.Units, q.Fence = r.fenced, r.units, r.fence
	// Numbers tell the clients of a node apart, and rise for each.
	each := uint64(len(r.asker.clients))
	q.Number = (r.open.Number/each+1)*each + uint64(r.number)
	r.open, r.asks, r.asked = q, true, h.clock.Now()
	if q.At == 0 {
		r.open.At = r.asked
	}
	h.log.Pending.Add(1)
	r.asker.publish(&r.open)
}

// draw, enter, write, leave and swap implement resource.
func (r *askedResource) draw()  { r.ask(drawTicket, question{}) }
func (r *askedResource) enter() { r.ask(enterResource, question{}) }
func (r *askedResource) write() { r.ask(writeAccount, question{Account: r.money + 1}) }
func (r *askedResource) leave() { r.ask(leaveResource, question{At: r.leftAt}) }
func (r *askedResource) swap(word int, value int64) {
	r.ask(swapWord, question{Word: uint8(word), Account: value})
}

// hear has the client go on with the answer to its open question. A node that is parked does nothing more.
func (r *askedResource) hear(got *answer) {
	h := r.host
	defer h.log.Pending.Add(-1)
	h.now = h.clock.Now()
	r.asks = false
	if r.open.Do != drawTicket {
		h.log.RoundTrips.Add(1)
		h.log.RoundTripNS.Add(uint64(h.now - r.asked))
	}
	switch {
	case h.err != nil || h.parked:
		return
	case got.Verdict == tooLate:
		h.err = errors.New("the resource process takes this node for dead: it was taken out of the register")
		return
	case got.Verdict == senseless:
		h.err = fmt.Errorf("the resource process does not understand question %d of node %d: it is of another "+
			"version, or keeps another run", r.open.Number, h.config.Node)
		return
	}
	switch r.open.Do {
	case drawTicket:
		r.drew(uint64(got.Value))
	case enterResource:
		r.money = got.Account
		r.entered(got.Value, got.Words)
	case swapWord:
		r.swapped(got.Value)
	case writeAccount:
		r.wrote(got.Account, got.Verdict == refusing)
	case leaveResource:
		r.left()
	}
	if r.revoked && r.inside && !r.asks {
		r.out(history.Event{Kind: history.Revoked, Value: r.money})
	}
	h.act()
}
