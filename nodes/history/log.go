package history

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"syscall"
	"unsafe"

	"turnstile/internal/input"
	"turnstile/internal/mapped"
	"turnstile/nodes"
)

// A Log is the log of one node while it is written: a mapped file, so events survive the sudden death of the
// process. Events and messages are stored without a system call. Other goroutines may use only its counters.
type Log struct {
	file   *os.File
	header []byte // all that comes before the events, mapped
	*Counters
	instances                       []InstanceCounters
	Late, Transit                   []atomic.Uint64 // see NodeLog
	sentTo, receivedFrom, multiFrom []atomic.Uint64
	floor                           []atomic.Uint64

	trace   []byte
	texts   []byte        // texts of the messages in trace, and the text of Log.Last; empty: not kept
	traceAt int           // where in trace the next message goes
	frozen  *atomic.Int64 // stops the trace if not nil and not zero

	chunk   []byte // the mapped piece that events go to
	used    int    // bytes of chunk in use
	chunkAt int64  // where chunk begins in the file
	index   uint64 // index of the next event
}

// An Options says what a Log is for.
type Options struct {
	Node        nodes.ID
	Incarnation uint32
	Nodes       int  // clients and servers together
	Networks    int  // number of networks that carry messages; 0: one
	Instances   int  // number of instances of the node
	TraceLength int  // how many of the latest messages the log keeps; the oldest may be half overwritten
	Texts       bool // the log keeps texts of messages
	// StampError bounds the error of the stamps, in nanoseconds.
	StampError int64
	Origin     uint64 // see Header
	// Frozen, once it is not zero, stops the trace, so that it keeps the messages around a violation.
	Frozen *atomic.Int64
}

func (o Options) preamble() preamble {
	p := preamble{node: o.Node, life: o.Incarnation, nodes: uint32(o.Nodes), instances: uint32(o.Instances),
		trace: uint32(o.TraceLength), errNS: o.StampError, origin: o.Origin, networks: uint32(o.Networks)}
	if o.Texts {
		p.texts = 1
	}
	p.header = p.headerLen()
	return p
}

// Reserved returns how many bytes of the disk a new log takes, before it has any events.
func (o Options) Reserved() int64 {
	p := o.preamble()
	return int64(p.header) + pageLen
}

// Create makes a new log at path. It fails when the file exists or its space cannot be reserved.
func Create(path string, o Options) (*Log, error) {
	p := o.preamble()
	if !p.valid() || int(p.nodes) != o.Nodes || int(p.instances) != o.Instances ||
		int(p.trace) != o.TraceLength {
		return nil, fmt.Errorf("creating the log: out of bounds: node %d of %d, %d instances, a trace of %d "+
			"messages, a stamp error of %d ns", o.Node, o.Nodes, o.Instances, o.TraceLength, o.StampError)
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return nil, fmt.Errorf("creating the log: %w", err)
	}
	l := &Log{file: file, frozen: o.Frozen, chunkAt: int64(p.header) - pageLen}
	if err := l.begin(&p); err != nil { // an error leaves no file behind
		err = errors.Join(err, mapped.Unmap(l.header), file.Close(), os.Remove(path))
		return nil, fmt.Errorf("creating the log: %w", err)
	}
	return l, nil
}

func (l *Log) begin(p *preamble) (err error) {
	if l.header, err = reserveAndMap(l.file, 0, int(p.header)); err != nil {
		return err
	}
	if err := l.nextChunk(); err != nil {
		return err
	}
	l.Counters, l.instances = countersOf(l.header, p.instances)
	rest := l.header[p.countersEnd():]
	words := unsafe.Slice((*atomic.Uint64)(unsafe.Pointer(&rest[0])), 2*LatenessBuckets+4*p.streams())
	l.Late, l.Transit = words[:LatenessBuckets:LatenessBuckets], words[LatenessBuckets:2*LatenessBuckets]
	streams := words[2*LatenessBuckets:]
	each := p.streams()
	l.sentTo, l.receivedFrom = streams[:each], streams[each:2*each]
	l.multiFrom, l.floor = streams[2*each:3*each], streams[3*each:]
	at := 8 * uint32(len(words))
	texts := at + p.trace*messageRecordLen
	l.trace, l.texts = rest[at:texts], rest[texts:texts+p.textsLen()]
	p.put(l.header)
	return nil
}

// countersOf returns the counters in a mapped header.
func countersOf(header []byte, instances uint32) (*Counters, []InstanceCounters) {
	first := unsafe.Pointer(&header[preambleLen])
	return (*Counters)(first), unsafe.Slice((*InstanceCounters)(unsafe.Add(first, countersLen)), instances)
}

// nextChunk reserves and maps the piece of the file after the one in use. Space is reserved first, since
// writing to a mapped page that has no space on the disk kills the process.
func (l *Log) nextChunk() error {
	fresh, err := reserveAndMap(l.file, l.chunkAt+pageLen, pageLen)
	if err != nil {
		return err
	}
	// The kernel writes the old piece to the disk later.
	if err := mapped.Unmap(l.chunk); err != nil {
		return fmt.Errorf("unmapping %s: %w", l.file.Name(), err)
	}
	l.chunk, l.used, l.chunkAt = fresh, 0, l.chunkAt+pageLen
	return nil
}

// zeros fill a new page. They are never changed.
var zeros [pageLen]byte

// reserve makes sure that the disk has space for length bytes of file, in whole pages, from the offset at.
// Writing zeros works on all file systems, and the first write to a page that is in memory already is cheaper
// than to a page that fallocate(2) has reserved: on ext4, an Enter and Exit cost 0.15 us instead of 0.25.
func reserve(file *os.File, at, length int64) error {
	for end := at + length; at < end; at += pageLen {
		if _, err := file.WriteAt(zeros[:], at); err != nil {
			return err
		}
	}
	return nil
}

func reserveAndMap(file *os.File, at int64, length int) ([]byte, error) {
	if err := reserve(file, at, int64(length)); err != nil {
		if errors.Is(err, syscall.ENOSPC) {
			return nil, fmt.Errorf("%s: the disk is full: %w", file.Name(), err)
		}
		return nil, fmt.Errorf("reserving space in %s: %w", file.Name(), err)
	}
	b, err := mapped.ReadWrite(file, at, length)
	if err != nil {
		return nil, fmt.Errorf("mapping %s: %w", file.Name(), err)
	}
	return b, nil
}

// Append stores e. Its commit word goes last, so a process that dies half-way leaves no half event. An error
// means that the disk is full; earlier events are safe.
func (l *Log) Append(e Event) error {
	if l.used == perPage*EventLen {
		if err := l.nextChunk(); err != nil {
			return err
		}
	}
	b := l.chunk[l.used : l.used+EventLen]
	word := putEvent(b, l.index, &e)
	(*atomic.Uint32)(unsafe.Pointer(&b[EventLen-4])).Store(word)
	l.used += EventLen
	l.index++
	l.EventCount.Store(l.index)
	return nil
}

// Trace puts a message into the trace, unless that is frozen.
func (l *Log) Trace(m MessageRecord) {
	if l.stopped() {
		return
	}
	putMessageRecord(l.trace[l.traceAt:l.traceAt+messageRecordLen], &m)
	if l.traceAt += messageRecordLen; l.traceAt == len(l.trace) {
		l.traceAt = 0
	}
	l.TraceNext.Add(1)
}

// stopped reports whether the trace takes no more messages.
func (l *Log) stopped() bool {
	return len(l.trace) == 0 || l.frozen != nil && l.frozen.Load() != 0
}

// Instance returns the counters of an instance of the node.
func (l *Log) Instance(i int32) *InstanceCounters { return &l.instances[i] }

// SentTo returns the count of messages sent on the link to the node id. For the second network, here and
// below, id is the node's plus the number of nodes.
func (l *Log) SentTo(id nodes.ID) *atomic.Uint64 { return &l.sentTo[id] }

// ReceivedFrom returns the count of messages that have come on the link from the node id.
func (l *Log) ReceivedFrom(id nodes.ID) *atomic.Uint64 { return &l.receivedFrom[id] }

// MulticastFrom returns the count of multicasts that have come from the node id.
func (l *Log) MulticastFrom(id nodes.ID) *atomic.Uint64 { return &l.multiFrom[id] }

// Floor returns the number up to which messages on the link to the node id may have been lost with a
// connection. Later messages must arrive. It is AnyNumber while the connection is lost, and 0 if the
// connection was never lost.
func (l *Log) Floor(id nodes.ID) *atomic.Uint64 { return &l.floor[id] }

// AnyNumber is a floor above all numbers.
const AnyNumber = ^uint64(0)

// Close seals the counters with a checksum, unmaps the log, cuts off unused space, and closes the file. The
// counters must not be used any more.
func (l *Log) Close() error {
	counted := l.header[preambleLen:]
	binary.LittleEndian.PutUint64(counted[sealAt:], sealOf(counted))
	end := l.chunkAt + int64(l.used)
	err := errors.Join(mapped.Unmap(l.chunk), mapped.Unmap(l.header), l.file.Truncate(end), l.file.Close())
	*l = Log{}
	if err != nil {
		return fmt.Errorf("closing the log: %w", err)
	}
	return nil
}

// Watched are the counters of a log that another process writes.
type Watched struct {
	*Counters
	Instances []InstanceCounters
	mapped    []byte
}

// Close ends the watch. The counters must not be used any more.
func (w *Watched) Close() error { return mapped.Unmap(w.mapped) }

// Watch maps the counters of a log that another process writes, to read them while it runs. A file that is
// not a log yet gives a *formatError.
func Watch(path string) (*Watched, error) {
	file, err := input.Open(path)
	if err != nil {
		return nil, fmt.Errorf("watching a log: %w", err)
	}
	defer file.Close()
	// Reading a mapping beyond the end of its file kills the process, so its length is checked first.
	start := make([]byte, preambleLen)
	var p preamble
	if _, err := file.ReadAt(start, 0); err != nil && err != io.EOF {
		return nil, fmt.Errorf("watching a log: %w", err)
	}
	if info, err := file.Stat(); err != nil {
		return nil, fmt.Errorf("watching a log: %w", err)
	} else if !p.get(start) || info.Size() < int64(p.header) {
		return nil, &formatError{path, 0, false, "this is no log of Turnstile, or not yet"}
	}
	b, err := mapped.Read(file, 0, int(p.countersEnd()))
	if err != nil {
		return nil, fmt.Errorf("watching %s: %w", path, err)
	}
	w := &Watched{mapped: b}
	w.Counters, w.Instances = countersOf(b, p.instances)
	return w, nil
}

// NewShadow returns a copy of the counters of a node on another machine, which Set updates from a Snapshot.
func NewShadow(instances int) *Watched {
	return &Watched{Counters: new(Counters), Instances: make([]InstanceCounters, instances)}
}

// words returns the counters as words, in the order in which they must be read: Pending before the counters
// of instances (see Counters).
func (w *Watched) words() [2][]atomic.Uint64 {
	first := unsafe.Slice((*atomic.Uint64)(unsafe.Pointer(w.Counters)), countersLen/8)
	if len(w.Instances) == 0 {
		return [2][]atomic.Uint64{first}
	}
	rest := unsafe.Slice((*atomic.Uint64)(unsafe.Pointer(&w.Instances[0])), len(w.Instances)*int(instanceLen)/8)
	return [2][]atomic.Uint64{first, rest}
}

// Snapshot appends the counters to b: the number of instances, and then each word, a run of zeros as a zero
// and its length, all as unsigned varints.
func (w *Watched) Snapshot(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(len(w.Instances)))
	zeros := uint64(0)
	flush := func() {
		if zeros > 0 {
			b = binary.AppendUvarint(append(b, 0), zeros)
			zeros = 0
		}
	}
	for _, part := range w.words() {
		for i := range part {
			switch x := part[i].Load(); x {
			case 0:
				zeros++
			default:
				flush()
				b = binary.AppendUvarint(b, x)
			}
		}
	}
	flush()
	return b
}

// InstancesIn returns the number of instances in the Snapshot at the beginning of b.
func InstancesIn(b []byte) (int, error) {
	count, n := binary.Uvarint(b)
	if n <= 0 || count > maxInstances {
		return 0, errSnapshot
	}
	return int(count), nil
}

var errSnapshot = fmt.Errorf("these are no counters of a node")

// Set sets a shadow to the Snapshot at the beginning of b, and returns what follows. After an error the
// counters are a mixture of old and new.
func (w *Watched) Set(b []byte) (rest []byte, err error) {
	if count, err := InstancesIn(b); err != nil || count != len(w.Instances) {
		return nil, errSnapshot
	}
	_, n := binary.Uvarint(b)
	b = b[n:]
	next := func() (x uint64) {
		if x, n = binary.Uvarint(b); n <= 0 {
			err = errSnapshot
			return 0
		}
		b = b[n:]
		return x
	}
	zeros := uint64(0)
	for _, part := range w.words() {
		for i := range part {
			x := uint64(0)
			if zeros == 0 {
				if x = next(); x == 0 {
					if zeros = next(); zeros == 0 {
						err = errSnapshot
					}
				}
			}
			if err != nil {
				return nil, err
			}
			if x == 0 {
				zeros--
			}
			part[i].Store(x)
		}
	}
	if zeros > 0 {
		return nil, errSnapshot
	}
	return b, nil
}
