package host

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/port"
)

// traffic sends a node's messages, numbered in their streams, and receives messages and audits their numbers.
// There is a stream for every link, and one for every node's multicasts.
type traffic struct {
	host       *host
	conns      []*nats.Conn // connection to the broker of each network; nil: not connected
	heard      [][]string   // the subjects that the node hears, by network
	subjects   []string     // the subjects of the nodes, by ID
	everyone   string
	buffer     []byte
	codec      *nodes.Codec
	nets       []uint8 // the network of each kind
	decoder    *nodes.Decoder
	circulates []bool       // by instance: its messages circulate
	links      *nodes.Links // links that delay or lose arriving messages; nil: each is delivered at once
	lives      [2][]uint32  // the incarnation of the sender in each stream: first of links, then of multicasts
}

// unheard is the incarnation of a stream from which a restarted node has not heard: it does not know which
// messages went to its earlier incarnations.
const unheard = ^uint32(0)

func newTraffic(h *host, s Subjects) traffic {
	stack := h.process.Stack()
	t := traffic{host: h, everyone: s.Everyone(), codec: stack.Codec(), decoder: stack.Codec().Decoder()}
	for range h.config.brokers() {
		t.conns, t.heard = append(t.conns, nil), append(t.heard, []string{s.Node(h.config.Node)})
	}
	if h.config.Multicast && int(h.config.Node) < stack.N() {
		t.heard[0] = append(t.heard[0], s.Everyone())
	}
	for kind := range t.codec.Kinds() {
		t.nets = append(t.nets, t.codec.Kind(kind).Net)
	}
	for _, in := range stack.Instances() {
		t.circulates = append(t.circulates, in.Spec.Circulates)
	}
	for id := range stack.Total() {
		t.subjects = append(t.subjects, s.Node(nodes.ID(id)))
	}
	for i, streams := range []int{stack.Total() * t.codec.Networks(), stack.Total()} {
		t.lives[i] = make([]uint32, streams)
		for id := range t.lives[i] {
			if h.config.Incarnation > 0 {
				t.lives[i][id] = unheard
			}
		}
	}
	t.reshape(h.config.Shaper)
	return t
}

// reshape sets the shaper of arriving messages; nil changes nothing.
func (t *traffic) reshape(shaper nodes.Shaper) {
	switch {
	case shaper == nil:
	case t.links == nil:
		t.links = nodes.NewLinks(len(t.subjects), shaper, false)
		if life := t.host.config.Incarnation; life > 0 {
			t.links.Restart(t.host.config.Node, life)
		}
	default:
		t.links.Reshape(shaper)
	}
}

// send publishes the message of e to one node.
func (t *traffic) send(e *nodes.Effect) {
	seq := t.host.log.SentTo(t.stream(e.Kind, e.To)).Add(1)
	bytes := t.publish(e, e.To, seq)
	t.count(e, 1, 1, bytes)
	t.host.trace(history.MessageRecord{Seq: uint32(seq), Peer: e.To, Instance: uint16(e.Instance), Kind: e.Kind,
		Sent: true}, e.Message)
}

// broadcast publishes the message of e to every other client: to each, or once for all.
func (t *traffic) broadcast(p *nodes.Process, e *nodes.Effect) {
	h, hearers := t.host, p.HearerCount()
	if h.config.Multicast && t.net(e.Kind) == 0 {
		seq := h.log.MultiSent.Add(1)
		bytes := t.publish(e, nodes.None, seq)
		t.count(e, hearers, 1, hearers*bytes)
		h.trace(history.MessageRecord{Seq: uint32(seq), Peer: nodes.None, Instance: uint16(e.Instance),
			Kind: e.Kind, Sent: true}, e.Message)
		return
	}
	bytes := 0
	for id := range p.Hearers() {
		seq := h.log.SentTo(t.stream(e.Kind, id)).Add(1)
		bytes += t.publish(e, id, seq)
		h.trace(history.MessageRecord{Seq: uint32(seq), Peer: id, Instance: uint16(e.Instance), Kind: e.Kind,
			Sent: true}, e.Message)
	}
	t.count(e, hearers, hearers, bytes)
}

// publish hands the message of e to the connection, which writes it out when the loop next waits, and returns
// its number of bytes. The parameter to is the receiver; None: every other client.
func (t *traffic) publish(e *nodes.Effect, to nodes.ID, seq uint64) int {
	h, subject, floor, hearers := t.host, t.everyone, &t.host.log.MultiFloor, uint64(1)
	env := envelope{kind: e.Kind, multicast: to == nodes.None, from: h.config.Node, seq: seq,
		incarnation: h.config.Incarnation, instance: e.Instance}
	env.at = h.clock.Now()
	if to != nodes.None {
		subject, floor = t.subjects[to], h.log.Floor(t.stream(e.Kind, to))
	} else {
		hearers = uint64(h.process.HearerCount())
	}
	if h.outage != nil {
		h.outage.stamp(&env, t.way(e.Kind), floor.Load())
	}
	t.buffer = env.append(t.buffer[:0])
	t.buffer = t.codec.Append(t.buffer, int(e.Kind), e.Message)
	switch err := t.put(t.way(e.Kind), subject); {
	case err == nil:
	case h.config.Reconnect && broken(err):
		h.log.Refused.Add(hearers)
	case h.err == nil:
		h.err = fmt.Errorf("publishing to %s: %w", subject, err)
	}
	return len(t.buffer) - stampLen
}

// put publishes the buffer on a network.
func (t *traffic) put(network int, subject string) error {
	conn := t.conns[network]
	if conn == nil {
		return nats.ErrConnectionClosed
	}
	return conn.Publish(subject, t.buffer)
}

// count counts a message by its deliveries, its publishes, and the bytes of all deliveries.
func (t *traffic) count(e *nodes.Effect, deliveries, publishes, bytes int) {
	counters := t.host.log.Instance(e.Instance)
	kind := &counters.Kinds[e.Kind]
	kind.Sent.Add(uint64(deliveries))
	kind.Publishes.Add(uint64(publishes))
	kind.Bytes.Add(uint64(bytes))
	if e.Resend {
		counters.Resent.Add(uint64(deliveries))
	}
	if t.circulates[e.Instance] {
		for range deliveries {
			t.host.append(history.Event{At: t.host.now, Kind: history.Sent, Count: uint32(e.Kind),
				Instance: uint16(e.Instance)})
		}
	}
}

// An arrival is a message that has arrived.
type arrival struct {
	envelope
	message nodes.Message
}

// arrive takes a message from the broker: it audits the message's number, and delivers the message now or
// after its injected latency.
func (h *host) arrive(m *nats.Msg) {
	var a arrival
	h.now = h.clock.Now()
	body, err := a.read(m.Data)
	if err == nil && (int(a.from) >= len(h.traffic.subjects) || int(a.instance) >= len(h.choices)) {
		err = fmt.Errorf("a message says that it is from node %d for instance %d, which do not exist",
			a.from, a.instance)
	}
	if err == nil {
		a.message, err = h.traffic.decoder.Decode(int(a.kind), body)
	}
	if err != nil {
		h.err = fmt.Errorf("receiving a message: %w", err)
		return
	}
	if !h.started {
		if h.awaitBegin(); h.err != nil || h.quit {
			return
		}
	}
	h.audit(&a.envelope)
	h.lags.Add(h.log.Transit, a.at, h.now, a.from)
	if h.traffic.links == nil {
		h.deliver(&a)
		return
	}
	arrivals, _ := h.traffic.links.Take(&nodes.Packet{From: a.from, To: h.config.Node, Instance: a.instance,
		Kind: a.kind, Net: h.traffic.net(a.kind), Bytes: len(body), At: h.now})
	switch counters := h.log.Instance(a.instance); {
	case len(arrivals) == 0:
		counters.Dropped.Add(1)
		h.traceLoss(&a)
	case len(arrivals) > 1:
		counters.Copied.Add(uint64(len(arrivals) - 1))
	}
	if len(arrivals) == 1 && arrivals[0] <= h.now {
		h.arriveNow(&a)
		return
	}
	for _, at := range arrivals {
		h.pendFor(a.instance, task{at: at, what: toDeliver, arrival: a})
	}
}

// arriveNow delivers a message that is not delayed, after the delayed messages of its link that are due.
func (h *host) arriveNow(a *arrival) {
	if h.tasks.Len() > 0 && h.tasks.First().at <= h.now {
		h.runDue()
	}
	if h.err == nil && !h.quit {
		h.deliver(a)
	}
}

// deliver hands a message to the node, or queues it if the application does not receive now. A queued message
// is pending.
func (h *host) deliver(a *arrival) {
	if h.detects(a.instance) || !h.waiting.Keeps(h.now, h.process.Inside()) {
		h.receive(a)
		return
	}
	h.log.Pending.Add(1)
	if poll := h.waiting.Keep(*a, h.now); poll > 0 {
		h.tasks.add(task{at: poll, what: toReceive})
	}
}

// attend has the node handle the queued messages that its application receives now, and reports whether there
// were any.
func (h *host) attend() (any bool) {
	for !h.waiting.Empty() && h.err == nil && !h.quit {
		h.now = h.clock.Now()
		a, receives := h.waiting.Take(h.now, h.process.Inside())
		if !receives {
			break
		}
		any = true
		h.receive(&a)
		h.log.Pending.Add(-1)
	}
	return any
}

// receive has the node handle a message. It counts as delivered once all its effects are counted.
func (h *host) receive(a *arrival) {
	h.trace(history.MessageRecord{Seq: uint32(a.seq), Peer: a.from, Instance: uint16(a.instance), Kind: a.kind},
		a.message)
	if !h.parked && !(h.silenced && h.detects(a.instance)) {
		h.start()
		h.handle(nodes.Input{Kind: nodes.Receive, Instance: a.instance, From: a.from, Message: a.message})
		h.tellFaults(port.OnReceive, a.kind)
		h.act()
	}
	h.log.Instance(a.instance).Kinds[a.kind].Delivered.Add(1)
}

// trace records a message, sent or handled, in the trace.
func (h *host) trace(m history.MessageRecord, says nodes.Message) {
	m.At, m.Asks = h.now, h.asks && m.Sent
	h.asks = h.asks && !m.Sent
	if !h.config.Texts {
		h.log.Trace(m)
		return
	}
	var text history.Text
	if int32(m.Instance) == h.bridge.instance {
		text.Type, text.Body = h.bridge.machine.Says(says)
	}
	h.log.TraceText(m, text)
}

// traceLoss records a lost message, if all messages are recorded.
func (h *host) traceLoss(a *arrival) {
	if h.config.TraceAll {
		h.trace(history.MessageRecord{Seq: uint32(a.seq), Peer: a.from, Instance: uint16(a.instance), Kind: a.kind,
			Lost: true}, a.message)
	}
}

// record appends an event that happens now, and returns its stamp.
func (h *host) record(e history.Event) int64 {
	h.now = h.clock.Now()
	e.At = h.now
	h.append(e)
	return h.now
}

// append appends an event to the log.
func (h *host) append(e history.Event) {
	if err := h.log.Append(e); err != nil && h.err == nil {
		h.err = err
	}
}

// severalNetworks returns the number of networks of a stack; 0 if it has one.
func severalNetworks(stack *nodes.Stack) int {
	if networks := stack.Codec().Networks(); networks > 1 {
		return networks
	}
	return 0
}

// net returns the network that carries a kind of messages.
func (t *traffic) net(kind uint8) uint8 { return t.nets[kind] }

// way returns the index of the connection for a kind of messages: 0 if there is only one broker.
func (t *traffic) way(kind uint8) int { return min(int(t.net(kind)), len(t.conns)-1) }

// stream returns the number of the stream to or from a node for a kind of messages. Each network has its own
// streams, since there is no order between networks.
func (t *traffic) stream(kind uint8, peer nodes.ID) nodes.ID {
	return peer + nodes.ID(int(t.net(kind))*len(t.subjects))
}

// connected reports whether the node has its connections.
func (t *traffic) connected() bool {
	for _, conn := range t.conns {
		if conn == nil {
			return false
		}
	}
	return true
}

// flush waits until each broker has all messages that were sent to it, for each at most the time within.
func (t *traffic) flush(within time.Duration) {
	for _, conn := range t.conns {
		conn.FlushTimeout(within)
	}
}

// close closes the connections.
func (t *traffic) close() {
	for _, conn := range t.conns {
		conn.Close()
	}
}

// audit checks the numbers of a stream: each must be the last one plus one, unless messages were lost with a
// connection. A stream is of one incarnation of the sender: the first message of a later incarnation ends it.
func (h *host) audit(e *envelope) {
	stream := h.traffic.stream(e.kind, e.from)
	count, life := h.log.ReceivedFrom(stream), &h.traffic.lives[0][stream]
	if e.multicast {
		count, life = h.log.MulticastFrom(e.from), &h.traffic.lives[1][e.from]
	}
	if e.incarnation != *life {
		h.auditLife(e, count, life)
		return
	}
	seen := count.Load()
	if e.seq <= seen {
		h.log.Repeats.Add(1)
		return
	}
	missing, explained := e.seq-seen-1, uint64(0)
	if h.outage != nil {
		explained = h.outage.explain(e, h.traffic.way(e.kind), stream, seen)
		h.log.Explained.Add(explained)
	}
	if missing > explained {
		h.log.Gaps.Add(missing - explained)
	}
	count.Store(e.seq)
}

// auditLife audits a message of another incarnation of its sender than the message before, whose number and
// incarnation are count and life. A late message of an earlier incarnation is a stray, and in no stream.
func (h *host) auditLife(e *envelope, count *atomic.Uint64, life *uint32) {
	if e.incarnation < *life && *life != unheard {
		h.log.Strays.Add(1)
		return
	}
	network, stream := h.traffic.way(e.kind), h.traffic.stream(e.kind, e.from)
	if h.outage != nil {
		h.outage.explain(e, network, stream, e.seq-1) // only to note the connections: a check judges the gap
	}
	began := history.Event{Kind: history.LinkBegan, Count: uint32(stream), Entry: e.incarnation,
		Value: int64(e.seq), Fence: count.Load()}
	if e.multicast {
		began.Kind, began.Count = history.MulticastBegan, uint32(e.from)
	}
	h.record(began)
	*life = e.incarnation
	if h.outage != nil {
		h.outage.explain(e, network, stream, 0)
	}
	count.Store(e.seq)
}

// An envelope precedes every message on the wire. First comes a byte with the kind and two marks: multicast
// and full. Then come as varints the sender and the message's number in its stream, from 1. A full envelope
// adds twice the sender's incarnation, plus 1 if more follows, and the instance. The fields that may follow
// are how often the sender reconnected, the number of the latest order Restored that it got, and how many
// messages of the stream it has sent after this order, this one included; they are zero otherwise. Then comes
// the time at which it was sent, which does not count as bytes of the message, and last the message, encoded
// by its codec.
type envelope struct {
	kind        uint8
	multicast   bool
	from        nodes.ID
	seq         uint64
	incarnation uint32
	instance    int32
	at          int64 // when it was sent, by the sender's clock

	reconnects uint32 // how often the sender reconnected: see outage
	restored   uint32
	owed       uint64 // messages of the stream since Restored, with this one; 0: unknown during an outage
}

const (
	multicastMark = 0x80
	fullMark      = 0x40
	stampLen      = 8
)

func (e *envelope) append(b []byte) []byte {
	first := e.kind
	if e.multicast {
		first |= multicastMark
	}
	more := uint64(0)
	if e.reconnects != 0 || e.restored != 0 || e.owed != 0 {
		more = 1
	}
	full := e.incarnation != 0 || e.instance != 0 || more != 0
	if full {
		first |= fullMark
	}
	b = append(b, first)
	b = binary.AppendUvarint(b, uint64(e.from))
	b = binary.AppendUvarint(b, e.seq)
	if full {
		b = binary.AppendUvarint(b, uint64(e.incarnation)<<1|more)
		b = binary.AppendUvarint(b, uint64(e.instance))
	}
	if more != 0 {
		b = binary.AppendUvarint(b, uint64(e.reconnects))
		b = binary.AppendUvarint(b, uint64(e.restored))
		b = binary.AppendUvarint(b, e.owed)
	}
	return binary.LittleEndian.AppendUint64(b, uint64(e.at))
}

// read decodes the envelope from b and returns the rest. It does not check that sender and instance exist.
func (e *envelope) read(b []byte) ([]byte, error) {
	if len(b) == 0 {
		return nil, errors.New("an empty message has no envelope")
	}
	*e = envelope{kind: b[0] &^ (multicastMark | fullMark), multicast: b[0]&multicastMark != 0}
	rest, sound := b[1:], true
	take := func(most uint64) (x uint64) {
		x, size := binary.Uvarint(rest)
		if size <= 0 || x > most {
			sound = false
			return 0
		}
		rest = rest[size:]
		return x
	}
	e.from = nodes.ID(take(math.MaxInt32))
	e.seq = take(math.MaxUint64)
	if b[0]&fullMark != 0 {
		incarnation := take(math.MaxUint32<<1 | 1)
		e.incarnation, e.instance = uint32(incarnation>>1), int32(take(math.MaxInt32))
		if incarnation&1 != 0 {
			e.reconnects, e.restored = uint32(take(math.MaxUint32)), uint32(take(math.MaxUint32))
			e.owed = take(math.MaxUint64)
		}
	}
	if !sound || len(rest) < stampLen {
		return nil, fmt.Errorf("a message's envelope is garbled: % x", b[:min(len(b), 32)])
	}
	e.at = int64(binary.LittleEndian.Uint64(rest))
	return rest[stampLen:], nil
}
