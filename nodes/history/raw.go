package history

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"iter"
	"slices"

	"turnstile/nodes"
)

// A logReader reads the log of one process. A log whose writer died may end with a half-written event, which
// is no error.
type logReader struct {
	NodeLog
	preamble
	name  string
	r     *bufio.Reader
	event Event  // the latest that was read
	count int    // of events read
	raw   int64  // the stamp of the latest, as its process has made it
	clock *Clock // by which it did; nil: the orchestrator's
	own   int64  // bound on the error of the stamps by that clock
}

// newLogReader reads what comes before the events of a log of so many bytes, or fewer if it is cut off. name
// is what errors call it; the reader takes size bytes of memory. An error that is no formatError is one of r.
func newLogReader(name string, length int64, r io.Reader, size int) (*logReader, error) {
	l := &logReader{name: name, r: bufio.NewReaderSize(io.LimitReader(r, length), size)}
	b, err := readUpTo(l.r, preambleLen)
	switch {
	case err != nil:
		return nil, err
	case len(b) < preambleLen:
		return nil, l.fail(int64(len(b)), "the log is cut off in its preamble of %d bytes", preambleLen)
	case !l.preamble.get(b):
		return nil, l.fail(0, "this is no log of Turnstile, or its preamble is garbled")
	case length < int64(l.header):
		return nil, l.fail(length, "the log is cut off in its header of %d bytes", l.header)
	}
	header, err := readUpTo(l.r, int64(l.header)-preambleLen)
	if err == nil && len(header) < int(l.header)-preambleLen {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, err
	}
	if seal := binary.LittleEndian.Uint64(header[sealAt:]); seal != 0 && seal != sealOf(header) {
		return nil, l.fail(preambleLen, "the counters of the log are garbled: their checksum is another")
	}
	l.NodeLog = l.preamble.log(header)
	return l, nil
}

func (l *logReader) fail(at int64, format string, args ...any) error {
	return &formatError{l.name, at, false, fmt.Sprintf(format, args...)}
}

// readUpTo reads n bytes, or fewer if there are no more. Since n comes from the file, it allocates little
// before the bytes are there.
func readUpTo(r io.Reader, n int64) ([]byte, error) {
	var b bytes.Buffer
	b.Grow(int(min(n, 1<<20)) + bytes.MinRead)
	_, err := b.ReadFrom(io.LimitReader(r, n))
	return b.Bytes(), err
}

// log reads what is between the preamble of a log and its events.
func (p *preamble) log(header []byte) NodeLog {
	l := NodeLog{Node: p.node, Incarnation: p.life, StampError: p.errNS, Networks: int(p.networks)}
	binary.Decode(header, binary.LittleEndian, &l.Totals)
	at := int(countersLen)
	for range p.instances {
		l.Instances = append(l.Instances, decodeInstance(header[at:at+int(instanceLen)]))
		at += int(instanceLen)
	}
	l.Late = make([]uint64, LatenessBuckets)
	at += 8 * copyWords(l.Late, header[at:])
	if !slices.ContainsFunc(l.Late, func(n uint64) bool { return n > 0 }) {
		l.Late = nil
	}
	for _, stream := range []*[]uint64{&l.SentTo, &l.ReceivedFrom, &l.MultiFrom, &l.Floor} {
		*stream = make([]uint64, p.streams())
		at += 8 * copyWords(*stream, header[at:])
	}
	if !slices.ContainsFunc(l.Floor, func(n uint64) bool { return n > 0 }) {
		l.Floor = nil
	}
	texts := at + int(p.trace)*messageRecordLen
	l.Trace = decodeTrace(header[at:texts], p.node, l.Totals.TraceNext)
	if p.texts > 0 {
		l.Texts, l.Last = decodeTexts(header[texts:texts+int(p.textsLen())], l.Totals.TraceNext)
	}
	return l
}

func copyWords(to []uint64, from []byte) int {
	for i := range to {
		to[i] = binary.LittleEndian.Uint64(from[8*i:])
	}
	return len(to)
}

// decodeTrace reads a trace into which next messages were written. The place of the next one holds the oldest
// message, or nothing, or half of the message that the writer was writing when it died: it is left out.
func decodeTrace(b []byte, node nodes.ID, next uint64) []MessageRecord {
	size := uint64(len(b) / messageRecordLen)
	if size == 0 {
		return nil
	}
	trace := make([]MessageRecord, 0, min(next, size-1))
	for at := range latest(size, next) {
		trace = append(trace, getMessageRecord(b[at*messageRecordLen:], node))
	}
	return trace
}

// latest yields the places in a trace of a size of the messages that are whole, the oldest first.
func latest(size, next uint64) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		for i := next - min(next, max(size, 1)-1); i < next && yield(i%size); i++ {
		}
	}
}

// next reads the next event, and reports whether there was one.
func (l *logReader) next() (bool, error) {
	if l.count > 0 && l.count%perPage == 0 {
		l.r.Discard(pageLen % EventLen) // fewer bytes at the end of the log
	}
	b, err := l.r.Peek(EventLen)
	if err != nil && err != io.EOF {
		return false, err
	}
	last := l.event.At
	if len(b) < EventLen || !getEvent(b, uint64(l.count), &l.event) {
		return false, l.end(b)
	}
	l.r.Discard(EventLen)
	l.event.Node = l.node
	if l.node == nodes.None && l.event.Kind.ofNode() {
		l.event.Node, l.event.Fence = nodes.ID(l.event.Fence), 0
	}
	if l.count > 0 && l.event.At < l.raw {
		return false, l.fail(l.offset(l.count), "event %d is earlier than the one before it", l.count)
	}
	l.raw = l.event.At
	l.restamp(last)
	l.count++
	return true, nil
}

// end checks that the log may end at b, where no event is.
func (l *logReader) end(b []byte) error {
	// If this event has no commit word and nothing follows, the writer died here.
	l.r.Discard(min(EventLen-4, len(b)))
	switch zeros, err := onlyZeros(l.r); {
	case err != nil:
		return err
	case !zeros:
		return l.fail(l.offset(l.count), "event %d is garbled", l.count)
	}
	// There may be more than were counted: the writer may have died, or not have ended, in between.
	if have, counted := uint64(l.count), l.Totals.EventCount; have < counted {
		return l.fail(l.offset(l.count), "the log is cut off: it has counted %d events and holds %d", counted, have)
	}
	return nil
}

// onlyZeros reports whether nothing else comes from r.
func onlyZeros(r io.Reader) (bool, error) {
	b := make([]byte, 4096)
	for {
		n, err := r.Read(b)
		if len(bytes.Trim(b[:n], "\x00")) > 0 {
			return false, nil
		}
		if err != nil {
			if err == io.EOF {
				err = nil
			}
			return true, err
		}
	}
}
