package host

import (
	"fmt"

	"github.com/nats-io/nats.go"

	"turnstile/nodes"
	"turnstile/nodes/history"
)

// traffic is a node's messages: out, with a number in their stream, and in, with the audit of these
// numbers. There is a stream for every link, and one for every node's multicasts.
type traffic struct {
	host       *Host
	conn       *nats.Conn
	subjects   []string // of the nodes, by ID
	everyone   string
	buffer     []byte
	codec      *nodes.Codec
	decoder    *nodes.Decoder
	circulates []bool       // of each instance
	links      *nodes.Links // of what arrives; nil: each message is delivered at once
}

func newTraffic(h *Host, conn *nats.Conn, s Subjects) traffic {
	stack := h.process.Stack()
	t := traffic{host: h, conn: conn, everyone: s.Everyone(),
		codec: stack.Codec(), decoder: stack.Codec().Decoder()}
	for _, in := range stack.Instances() {
		t.circulates = append(t.circulates, in.Spec.Circulates)
	}
	for id := range stack.Total() {
		t.subjects = append(t.subjects, s.Node(nodes.ID(id)))
	}
	if shaper := h.config.Shaper; shaper != nil {
		t.links = nodes.NewLinks(stack.Total(), t.codec.Kinds(), shaper, false)
	}
	return t
}

// send publishes the message of e to one node.
func (t *traffic) send(e *nodes.Effect) {
	seq := t.host.log.SentTo(e.To).Add(1)
	bytes := t.publish(e, t.subjects[e.To], false, seq)
	t.count(e, 1, 1, bytes)
	t.host.trace(history.MessageRecord{Seq: uint32(seq), Peer: e.To, Instance: uint16(e.Instance), Kind: e.Kind,
		Sent: true})
}

// broadcast publishes the message of e to every other client: to each, or once for all.
func (t *traffic) broadcast(p *nodes.Process, e *nodes.Effect) {
	h, hearers := t.host, p.HearerCount()
	if h.config.Multicast {
		seq := h.log.MultiSent.Add(1)
		bytes := t.publish(e, t.everyone, true, seq)
		t.count(e, hearers, 1, hearers*bytes)
		h.trace(history.MessageRecord{Seq: uint32(seq), Peer: nodes.None, Instance: uint16(e.Instance),
			Kind: e.Kind, Sent: true})
		return
	}
	bytes := 0
	for id := range p.Hearers() {
		seq := h.log.SentTo(id).Add(1)
		bytes += t.publish(e, t.subjects[id], false, seq)
		h.trace(history.MessageRecord{Seq: uint32(seq), Peer: id, Instance: uint16(e.Instance), Kind: e.Kind,
			Sent: true})
	}
	t.count(e, hearers, hearers, bytes)
}

// publish hands the message of e to the connection, which writes it out when the loop next waits, and
// returns how many bytes it has.
func (t *traffic) publish(e *nodes.Effect, subject string, multicast bool, seq uint64) int {
	h := t.host
	env := envelope{kind: e.Kind, multicast: multicast, from: h.config.Node, seq: seq, instance: e.Instance}
	t.buffer = env.append(t.buffer[:0])
	t.buffer = t.codec.Append(t.buffer, int(e.Kind), e.Message)
	if err := t.conn.Publish(subject, t.buffer); err != nil && h.err == nil {
		h.err = fmt.Errorf("publishing to %s: %w", subject, err)
	}
	return len(t.buffer)
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

// An arrival is a message that has come.
type arrival struct {
	envelope
	message nodes.Message
}

// arrive takes a message from the broker: it audits the message's number, and delivers the message now or
// after its injected latency.
func (h *Host) arrive(m *nats.Msg) {
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
	h.audit(&a.envelope)
	if !h.started {
		if h.hurry(); h.err != nil || h.quit {
			return
		}
	}
	if h.traffic.links == nil {
		h.deliver(&a)
		return
	}
	arrivals, _ := h.traffic.links.Take(&nodes.Packet{From: a.from, To: h.config.Node, Instance: a.instance,
		Kind: a.kind, Net: h.traffic.codec.Kind(int(a.kind)).Net, Bytes: len(m.Data), At: h.now})
	switch counters := h.log.Instance(a.instance); {
	case len(arrivals) == 0:
		counters.Dropped.Add(1)
	case len(arrivals) > 1:
		counters.Copied.Add(uint64(len(arrivals) - 1))
	}
	for _, at := range arrivals {
		h.pend(task{at: at, what: toDeliver, arrival: a})
	}
}

// audit follows the numbers of a stream: each must be the last one plus one.
func (h *Host) audit(e *envelope) {
	count := h.log.ReceivedFrom(e.from)
	if e.multicast {
		count = h.log.MulticastFrom(e.from)
	}
	seen := count.Load()
	if e.seq <= seen {
		h.log.Repeats.Add(1)
		return
	}
	if e.seq > seen+1 {
		h.log.Gaps.Add(e.seq - seen - 1)
	}
	count.Store(e.seq)
}

// deliver hands a message to the node. It counts as delivered once all that it causes is counted.
func (h *Host) deliver(a *arrival) {
	h.trace(history.MessageRecord{Seq: uint32(a.seq), Peer: a.from, Instance: uint16(a.instance), Kind: a.kind})
	if !h.parked {
		h.start()
		h.handle(nodes.Input{Kind: nodes.Receive, Instance: a.instance, From: a.from, Message: a.message})
		h.act()
	}
	h.log.Instance(a.instance).Kinds[a.kind].Delivered.Add(1)
}

// trace records a message, sent or handled, in the trace.
func (h *Host) trace(m history.MessageRecord) {
	m.At = h.now
	h.log.Trace(m)
}

// record appends an event that happens now, and returns its stamp.
func (h *Host) record(e history.Event) int64 {
	h.now = h.clock.Now()
	e.At = h.now
	h.append(e)
	return h.now
}

// append appends an event to the log.
func (h *Host) append(e history.Event) {
	if err := h.log.Append(e); err != nil && h.err == nil {
		h.err = err
	}
}
