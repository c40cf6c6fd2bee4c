package history

import (
	"encoding/binary"
	"hash/crc32"
	"math/bits"
	"sync/atomic"
	"unsafe"

	"turnstile/nodes"
)

// A log file has, in order: the preamble, the counters of the node and of each instance, the lateness of
// timers and of messages, four arrays with a word for each node on each network (sent to it, received from
// it, received from it by multicast, its floor), the trace, the texts of its messages if they have any,
// padding to a whole page, and then the events, as many whole ones per page as fit. All numbers are
// little-endian, and counters are used through the mapping itself, so logs are written on little-endian
// machines only. A page here is at least as large as that of any system, so all systems can map the events.
const (
	magic            = "TURNLOG6"
	preambleLen      = 64
	messageRecordLen = 24
	pageLen          = 1 << 16
	// EventLen is how many bytes an event takes.
	EventLen = 40
	perPage  = pageLen / EventLen
	// LatenessBuckets is how many buckets a histogram of lateness has: see LatenessBucket.
	LatenessBuckets = 37 * 8
	// Bounds on the numbers in a preamble, so that no sum of lengths overflows.
	maxNodes, maxInstances, maxTrace, maxNetworks, maxTexts = 1 << 24, 1 << 16, 1 << 24, 2, 1 << 20
)

// preamble is the beginning of a log.
type preamble struct {
	node      nodes.ID
	life      uint32 // the node's incarnation
	nodes     uint32 // number of clients and servers
	instances uint32 // number of instances of the node
	trace     uint32 // number of messages that the trace holds
	header    uint32 // bytes before the first event
	errNS     int64  // bound on the error of this log's stamps, in nanoseconds
	origin    uint64 // see Header
	networks  uint32 // number of networks; 0: one
	texts     uint32 // 1: the log keeps texts of messages; 0: it does not
}

// put writes a preamble. The magic goes last: a file that begins with zeros is not a log yet.
func (p *preamble) put(b []byte) {
	var buf [preambleLen]byte
	copy(buf[:], magic)
	binary.LittleEndian.PutUint32(buf[8:], uint32(p.node))
	binary.LittleEndian.PutUint32(buf[12:], p.nodes)
	binary.LittleEndian.PutUint32(buf[16:], p.trace)
	binary.LittleEndian.PutUint32(buf[20:], p.header)
	binary.LittleEndian.PutUint64(buf[24:], uint64(p.errNS))
	binary.LittleEndian.PutUint32(buf[32:], p.instances)
	binary.LittleEndian.PutUint32(buf[36:], p.life)
	binary.LittleEndian.PutUint64(buf[40:], p.origin)
	binary.LittleEndian.PutUint32(buf[48:], p.networks)
	binary.LittleEndian.PutUint32(buf[52:], p.texts)
	crc := crc32.Checksum(buf[:preambleLen-4], castagnoli)
	binary.LittleEndian.PutUint32(buf[preambleLen-4:], crc)
	copy(b[len(magic):], buf[len(magic):])
	(*atomic.Uint64)(unsafe.Pointer(&b[0])).Store(binary.LittleEndian.Uint64(buf[:]))
}

// get reads a preamble and reports whether it is sound.
func (p *preamble) get(b []byte) bool {
	if string(b[:len(magic)]) != magic ||
		binary.LittleEndian.Uint32(b[preambleLen-4:]) != crc32.Checksum(b[:preambleLen-4], castagnoli) {
		return false
	}
	p.node = nodes.ID(binary.LittleEndian.Uint32(b[8:]))
	p.nodes = binary.LittleEndian.Uint32(b[12:])
	p.trace = binary.LittleEndian.Uint32(b[16:])
	p.header = binary.LittleEndian.Uint32(b[20:])
	p.errNS = int64(binary.LittleEndian.Uint64(b[24:]))
	p.instances = binary.LittleEndian.Uint32(b[32:])
	p.life = binary.LittleEndian.Uint32(b[36:])
	p.origin = binary.LittleEndian.Uint64(b[40:])
	p.networks = binary.LittleEndian.Uint32(b[48:])
	p.texts = binary.LittleEndian.Uint32(b[52:])
	return p.valid() && p.header == p.headerLen()
}

// streams returns how many words each of the four arrays has.
func (p *preamble) streams() uint32 { return p.nodes * max(1, p.networks) }

func (p *preamble) valid() bool {
	return p.nodes < maxNodes && p.instances <= maxInstances && p.networks <= maxNetworks &&
		p.trace < maxTrace && (p.texts == 0 || p.texts == 1 && p.trace < maxTexts) && p.errNS >= 0 &&
		p.node >= nodes.None && p.node < nodes.ID(p.nodes)
}

// Lengths of parts of the header, in bytes.
const (
	countersLen = uint32(unsafe.Sizeof(Counters{}))
	instanceLen = uint32(unsafe.Sizeof(InstanceCounters{}))
	lateLen     = 2 * 8 * LatenessBuckets
)

// countersEnd returns how many bytes the preamble and the counters take.
func (p *preamble) countersEnd() uint32 { return preambleLen + countersLen + p.instances*instanceLen }

// headerLen returns how many bytes come before the first event.
func (p *preamble) headerLen() uint32 {
	length := p.countersEnd() + lateLen + 4*8*p.streams() + p.trace*messageRecordLen + p.textsLen()
	return (length + pageLen - 1) / pageLen * pageLen
}

// offset returns where an event lies in the file.
func (p *preamble) offset(event int) int64 {
	return int64(p.header) + int64(event/perPage)*pageLen + int64(event%perPage)*EventLen
}

// Counters are the running totals of one node, in mapped memory: only the node writes them, and the
// orchestrator reads them while the node runs, without a message. Each instance has counters of its own.
//
// The order of counting detects rest: what a message causes is counted before the message counts as
// delivered, and what an entry causes before its exit. So if the sums of Delivered and Exits, read first,
// equal the sums of Sent and Requests, read after, everything was at rest in between. Pending rises when its
// cause is counted, and falls only after its effects are counted.
type Counters struct {
	State      atomic.Uint64 // a State
	EventCount atomic.Uint64 // events ever appended
	TraceNext  atomic.Uint64 // messages ever put in the trace
	MultiSent  atomic.Uint64 // multicasts published
	Gaps       atomic.Uint64 // numbers missing in streams, and not explained by a fault
	Repeats    atomic.Uint64 // messages that came again or out of order without a fault

	// For a node that reconnects to its broker:
	Explained   atomic.Uint64 // numbers missing in streams because a connection was lost
	Refused     atomic.Uint64 // deliveries asked for without a connection: they never arrive
	Disconnects atomic.Uint64 // how often it lost its connection
	Reconnects  atomic.Uint64 // how often it was connected again
	MultiFloor  atomic.Uint64 // the floor of its multicasts: see Log.Floor

	Strays atomic.Uint64 // messages of no stream: they came after messages of a later incarnation of the sender
	// For a node that asks a resource process: the number of answered questions that are not draws of
	// tickets, and the nanoseconds that the node waited for these answers in all.
	RoundTrips  atomic.Uint64
	RoundTripNS atomic.Uint64

	_ uint64 // the seal of a log that is closed
	// Pending counts delayed messages, holds, running timers and unanswered questions to a resource process.
	Pending atomic.Int64
}

// InstanceCounters are the running totals of one instance of a node. A message changes only one or two cache
// lines.
type InstanceCounters struct {
	Requests atomic.Uint64
	Entries  atomic.Uint64
	Exits    atomic.Uint64
	Resent   atomic.Uint64 // retries, included in Sent
	Dropped  atomic.Uint64 // messages for this instance that a fault lost, or that found the node down
	Copied   atomic.Uint64 // messages for this instance that a fault added
	Timeouts atomic.Uint64 // timers that ran out
	GaveUp   atomic.Uint64 // requests that their clients gave up
	Obeyed   atomic.Uint64 // orders that the node has obeyed; only for the first instance
	Kinds    [nodes.MaxKinds]kindCounters
}

// kindCounters are the running totals of the messages of one kind.
type kindCounters struct {
	Sent      atomic.Uint64 // deliveries asked for
	Delivered atomic.Uint64 // messages handled
	Publishes atomic.Uint64 // messages handed to the broker
	Bytes     atomic.Uint64 // bytes of all deliveries asked for, without the broker's framing
}

// sealAt is where the seal of a log lies behind its preamble.
const sealAt = countersLen - 16

// sealOf returns the seal of a closed log: a checksum of all between preamble and events except the seal. It
// is never 0, since 0 is the seal of a log that was not closed.
func sealOf(header []byte) uint64 {
	before := crc32.Checksum(header[:sealAt], castagnoli)
	return 1<<32 | uint64(crc32.Update(before, castagnoli, header[sealAt+8:]))
}

// A State is the phase of a node process.
type State uint64

// The states of a node process.
const (
	starting State = iota // its log exists
	Running               // it issues requests
	Draining              // it issues no more requests
	Failed                // it has given up; its last output says why
)

// LatenessBucket returns the bucket of a lateness in nanoseconds. There are 8 buckets to each power of two.
func LatenessBucket(ns int64) int {
	if ns < 8 {
		return int(max(ns, 0))
	}
	exp := 63 - bits.LeadingZeros64(uint64(ns))
	bucket := (exp-2)*8 + int(ns>>(exp-3))&7
	return min(bucket, LatenessBuckets-1)
}

// latenessOf returns the lower end of a bucket, in nanoseconds.
func latenessOf(bucket int) int64 {
	if bucket < 8 {
		return int64(bucket)
	}
	exp := bucket/8 + 2
	return int64(8+bucket%8) << (exp - 3)
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// putEvent writes an event except its last word, the commit word, and returns that. The commit word is never
// 0 and depends on the event's place, so a torn or misplaced event is detected.
func putEvent(b []byte, index uint64, e *Event) uint32 {
	putFields(b, e)
	return commitWord(b, index)
}

// putFields writes an event except its last word.
func putFields(b []byte, e *Event) {
	_ = b[EventLen-1]
	binary.LittleEndian.PutUint64(b[0:], uint64(e.At))
	binary.LittleEndian.PutUint64(b[8:], uint64(e.Value))
	binary.LittleEndian.PutUint64(b[16:], e.Fence)
	binary.LittleEndian.PutUint32(b[24:], e.Entry)
	binary.LittleEndian.PutUint32(b[28:], e.Count)
	binary.LittleEndian.PutUint32(b[32:], uint32(e.Instance)|uint32(e.Kind)<<16)
}

func commitWord(b []byte, index uint64) uint32 {
	return max(1, crc32.Update(uint32(index)*0x9e3779b1+1, castagnoli, b[:EventLen-4]))
}

// getEvent reads an event and reports whether it is whole.
func getEvent(b []byte, index uint64, e *Event) bool {
	if binary.LittleEndian.Uint32(b[EventLen-4:]) != commitWord(b, index) {
		return false
	}
	getFields(b, e)
	return true
}

// getFields reads an event except its node.
func getFields(b []byte, e *Event) {
	_ = b[EventLen-1]
	e.At = int64(binary.LittleEndian.Uint64(b[0:]))
	e.Value = int64(binary.LittleEndian.Uint64(b[8:]))
	e.Fence = binary.LittleEndian.Uint64(b[16:])
	e.Entry = binary.LittleEndian.Uint32(b[24:])
	e.Count = binary.LittleEndian.Uint32(b[28:])
	tail := binary.LittleEndian.Uint32(b[32:])
	e.Instance, e.Kind = uint16(tail), Kind(tail>>16)
}

func putMessageRecord(b []byte, p *MessageRecord) {
	_ = b[messageRecordLen-1]
	binary.LittleEndian.PutUint64(b[0:], uint64(p.At))
	binary.LittleEndian.PutUint32(b[8:], p.Seq)
	binary.LittleEndian.PutUint32(b[12:], uint32(p.Peer))
	tail := uint32(p.Instance) | uint32(p.Kind)<<16
	if p.Sent {
		tail |= 1 << 31
	}
	if p.Lost {
		tail |= 1 << 30
	}
	if p.Asks {
		tail |= 1 << 29
	}
	binary.LittleEndian.PutUint32(b[16:], tail)
}

func getMessageRecord(b []byte, node nodes.ID) MessageRecord {
	tail := binary.LittleEndian.Uint32(b[16:])
	return MessageRecord{
		At:       int64(binary.LittleEndian.Uint64(b[0:])),
		Seq:      binary.LittleEndian.Uint32(b[8:]),
		Node:     node,
		Peer:     nodes.ID(binary.LittleEndian.Uint32(b[12:])),
		Instance: uint16(tail),
		Kind:     uint8(tail >> 16),
		Sent:     tail>>31 == 1,
		Lost:     tail>>30&1 == 1,
		Asks:     tail>>29&1 == 1,
	}
}

// words writes or reads a NodeLog as 64-bit words, by the same code.
type words struct {
	b       []byte // the words that are written, or still to be read
	reading bool
	cutOff  bool // there was less to read than expected
}

func word[T ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~int32 | ~int64](w *words, x *T) {
	switch {
	case !w.reading:
		w.b = binary.LittleEndian.AppendUint64(w.b, uint64(*x))
	case len(w.b) < 8:
		w.cutOff = true
	default:
		*x = T(binary.LittleEndian.Uint64(w.b))
		w.b = w.b[8:]
	}
}

// list writes or reads a list. Each element takes at least a word, which bounds the allocation.
func list[T any](w *words, s *[]T, each func(*T)) {
	length := uint64(len(*s))
	word(w, &length)
	if w.reading {
		if w.cutOff = w.cutOff || length > uint64(len(w.b)/8); w.cutOff || length == 0 {
			return
		}
		*s = make([]T, length)
	}
	for i := range *s {
		each(&(*s)[i])
	}
}

func (w *words) log(l *NodeLog) {
	word(w, &l.Node)
	word(w, &l.Incarnation)
	word(w, &l.StampError)
	t := &l.Totals
	for _, x := range []*uint64{&t.State, &t.EventCount, &t.TraceNext, &t.MultiSent, &t.Gaps, &t.Repeats,
		&t.Explained, &t.Refused, &t.Disconnects, &t.Reconnects, &t.MultiFloor, &t.Strays} {
		word(w, x)
	}
	list(w, &l.Instances, func(t *InstanceTotals) {
		for _, x := range []*uint64{&t.Requests, &t.Entries, &t.Exits, &t.Resent, &t.Dropped, &t.Copied} {
			word(w, x)
		}
		list(w, &t.Kinds, func(k *KindTotals) {
			for _, x := range []*uint64{&k.Sent, &k.Delivered, &k.Publishes, &k.Bytes} {
				word(w, x)
			}
		})
	})
	for _, s := range []*[]uint64{&l.Late, &l.Transit, &l.SentTo, &l.ReceivedFrom, &l.MultiFrom, &l.Floor} {
		list(w, s, func(x *uint64) { word(w, x) })
	}
	list(w, &l.Trace, func(m *MessageRecord) { w.message(m, l) })
	// Optional fields come last.
	texts := len(l.Texts) > 0 || l.Last != ""
	if more := t.RoundTrips > 0 || texts; !w.reading && more || w.reading && len(w.b) > 0 {
		word(w, &t.RoundTrips)
		word(w, &t.RoundTripNS)
	}
	if !w.reading && texts || w.reading && len(w.b) > 0 {
		list(w, &l.Texts, func(t *Text) {
			w.text(&t.Type)
			w.text(&t.Body)
		})
		w.text(&l.Last)
	}
}

func (w *words) message(m *MessageRecord, l *NodeLog) {
	m.Node = l.Node
	b := make([]byte, messageRecordLen)
	if !w.reading {
		putMessageRecord(b, m)
		w.b = append(w.b, b...)
		return
	}
	w.cutOff = w.cutOff || len(w.b) < messageRecordLen
	if !w.cutOff {
		*m = getMessageRecord(w.b, l.Node)
		w.b = w.b[messageRecordLen:]
	}
}
