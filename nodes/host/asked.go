package host

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/nats-io/nats.go"

	"turnstile/nodes/history"
)

// An asker puts the questions of all clients of a node to the resource process. It has its own connection, to
// a broker that carries nothing else. After a loss of the connection it repeats unanswered questions, and the
// process carries out each question once. The node never blocks: answers come by its inbox.
//
// # Why lost money and overlaps still imply a register above the capacity
//
// In one step, R, the process counts a client in and reads the account; W writes the account; L counts the
// client out. The client stamps its entry, E, after the answer to R, and its exit, X, after the answer to W
// and before it asks for L. The lock is released only when L is answered. So in one critical section, in the
// order of time,
//
//	R < E < W < X < L
//
// By its stamps the section lasts from E to X, which lies between R and L. From R to L the register counts
// it. So if two sections overlap by their stamps, the later R saw both: the register exceeded the capacity. A
// section uses the account from R to W, also between R and L. So if money is lost, the register exceeded the
// capacity. The swaps of the client's work come between E and W, so spoilt steps imply the same.
//
// A mapped file differs in one point: there R is two steps, and the account is read after E. So with a
// process, money may be lost between two sections that do not overlap by their stamps, but are at most the
// time of an answer apart. And the account may refuse a write before the stamp of the entry under the higher
// fence number; that stamp never comes if its node dies before the answer. The checks that compare stamps
// with the account allow for that (check.Setting.Asked). Checks that compare register and account need no
// stamps: the process changes both, in one order.
//
// If the lock were released before L is answered, the next client's R might overtake L, since they come by
// different connections, and the register would show a false overlap. For the same reason a machine's
// messages after a revocation leave the node only when L is answered.
type asker struct {
	host    *host
	conn    *nats.Conn
	subject string
	inbox   string
	answers *nats.Subscription
	frozen  atomic.Int64 // when a client first left while too many were inside; 0: not known to have happened
	buffer  []byte
	clients []*askedResource
}

// An askedResource is the resource of a client, if the resource process keeps it.
type askedResource struct {
	*client
	asker  *asker
	number uint16   // number of the resource
	open   question // the latest question; unanswered while client.asks
	asked  int64    // when the latest question was asked
}

// newAsker returns the asker of a node.
func newAsker(h *host) *asker {
	return &asker{host: h, subject: SubjectsOf(h.config.Run).Resource()}
}

// connect connects to the process.
func (a *asker) connect() (err error) {
	h, at := a.host, a.host.config.ResourceAt
	a.conn, err = nats.Connect(at.URL, at.secure(), nats.Token(at.Token), nats.Timeout(JoinTimeout),
		nats.Name(fmt.Sprintf("node %d, for the resource", h.config.Node)),
		nats.MaxReconnects(-1), nats.ReconnectWait(redialPause), nats.ReconnectJitter(0, 0),
		nats.ReconnectBufSize(-1), // buffer nothing: askAgain repeats open questions
		nats.ReconnectHandler(func(*nats.Conn) { h.post(a.askAgain) }),
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
		err = a.ping()
	}
	if err != nil {
		a.conn.Close()
		return fmt.Errorf("joining the resource process: %w", err)
	}
	return nil
}

// close ends the connection.
func (a *asker) close() { a.conn.Close() }

// ping waits for a sign of life of the process, which comes after all its earlier answers.
func (a *asker) ping() error {
	_, err := a.conn.Request(a.subject, encode(nil, &question{Do: showLife}), JoinTimeout)
	return err
}

// freeze stops the trace of the node after a violation of exclusion.
func (a *asker) freeze(m *nats.Msg) {
	var at int64
	if _, err := binary.Decode(m.Data, binary.LittleEndian, &at); err == nil {
		a.frozen.Store(at)
	}
}

// askAgain repeats open questions after the connection was lost: their answers may have been lost too.
func (a *asker) askAgain() {
	for _, r := range a.clients {
		if r.asks {
			a.publish(&r.open)
		}
	}
}

// publish sends a question. If that fails, the connection is lost, and askAgain repeats it.
func (a *asker) publish(q *question) {
	a.buffer = encode(a.buffer[:0], q)
	a.conn.PublishRequest(a.subject, a.inbox, a.buffer)
}

// resourceOf returns the resource with a number for a client.
func (a *asker) resourceOf(number int, c *client) resource {
	r := &askedResource{client: c, asker: a, number: uint16(number)}
	a.clients = append(a.clients, r)
	return r
}

// noResponders is the status of a broker's answer if the subject has no subscriber.
const noResponders = "503"

// take handles an answer of the process. It ignores an answer that has come before.
func (a *asker) take(m *nats.Msg) {
	var got answer
	if m.Header.Get("Status") == noResponders {
		a.host.err = errors.New("nobody answers questions of clients: the resource process does not know this run")
		return
	}
	if n, err := binary.Decode(m.Data, binary.LittleEndian, &got); err != nil || n != len(m.Data) {
		a.host.err = fmt.Errorf("an answer of the resource process is garbled: % x", m.Data)
		return
	}
	at := int(got.Number % uint64(len(a.clients)))
	if r := a.clients[at]; r.asks && r.open.Number == got.Number {
		r.hear(&got)
	}
}

// ask asks the process a question. Until it is answered, the run is not at rest.
func (r *askedResource) ask(do uint8, q question) {
	h := r.host
	q.Do, q.Resource, q.Node, q.Incarnation = do, r.number, h.config.Node, h.config.Incarnation
	q.Fenced, q.Units, q.Fence = r.fenced, r.units, r.fence
	// The numbers of a client's questions rise. Their remainder modulo each is the number of its resource.
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

// hear continues the client with the answer to its open question. A parked node does nothing more.
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
		r.exit(history.Event{Kind: history.Revoked, Value: r.money})
	}
	h.act()
}
