package history

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"os"
	"path/filepath"
	"slices"

	"turnstile/internal/heap"
	"turnstile/internal/input"
	"turnstile/nodes"
)

// A logReader reads the log of one process. A log whose writer died may end with a half-written event, which
// is no error.
type logReader struct {
	NodeLog
	preamble
	name  string
	r     *bufio.Reader
	event Event  // the latest event that was read
	count int    // number of events read
	raw   int64  // the uncorrected stamp of the latest event
	clock *Clock // the clock of the process's host; nil: the orchestrator's
	own   int64  // bound on the error of the stamps against that clock
}

// newLogReader reads the header of a log of length bytes, or fewer if it is cut off. Errors contain name; the
// buffer has size bytes. An error other than a formatError is from r.
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

// readUpTo reads n bytes, or fewer if r ends before. Since n may be garbled, it allocates as bytes come.
func readUpTo(r io.Reader, n int64) ([]byte, error) {
	var b bytes.Buffer
	b.Grow(int(min(n, 1<<20)) + bytes.MinRead)
	_, err := b.ReadFrom(io.LimitReader(r, n))
	return b.Bytes(), err
}

// log decodes the header of a log after its preamble.
func (p *preamble) log(header []byte) NodeLog {
	l := NodeLog{Node: p.node, Incarnation: p.life, StampError: p.errNS, Networks: int(p.networks)}
	binary.Decode(header, binary.LittleEndian, &l.Totals)
	at := int(countersLen)
	for range p.instances {
		l.Instances = append(l.Instances, decodeInstance(header[at:at+int(instanceLen)]))
		at += int(instanceLen)
	}
	for _, counts := range []*[]uint64{&l.Late, &l.Transit} {
		*counts = make([]uint64, LatenessBuckets)
		at += 8 * copyWords(*counts, header[at:])
		if !slices.ContainsFunc(*counts, func(n uint64) bool { return n > 0 }) {
			*counts = nil
		}
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

// decodeTrace reads a trace. next is the number of messages ever written to it. decodeTrace leaves out the
// place of the message after these, which may be half-written if the writer died.
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

// latest yields the places of whole messages in a trace with size places, the oldest first.
func latest(size, next uint64) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		for i := next - min(next, max(size, 1)-1); i < next && yield(i%size); i++ {
		}
	}
}

// next reads the next event, and reports whether there was one.
func (l *logReader) next() (bool, error) {
	if l.count > 0 && l.count%perPage == 0 {
		l.r.Discard(pageLen % EventLen) // at the end of the log fewer bytes may be left
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

// end checks that the log may end at the bytes b, which hold no whole event.
func (l *logReader) end(b []byte) error {
	// If this event has no commit word and nothing follows, the writer died here.
	l.r.Discard(min(EventLen-4, len(b)))
	switch zeros, err := onlyZeros(l.r); {
	case err != nil:
		return err
	case !zeros:
		return l.fail(l.offset(l.count), "event %d is garbled", l.count)
	}
	// More events than counted are fine: the writer may have died, or still run, between event and counter.
	if have, counted := uint64(l.count), l.Totals.EventCount; have < counted {
		return l.fail(l.offset(l.count), "the log is cut off: it has counted %d events and holds %d", counted, have)
	}
	return nil
}

// onlyZeros reports whether the rest of r is zeros.
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

// logPattern matches the names of the logs in the folder of a trial.
const logPattern = "*.log"

// A folder is a folder of logs while it is read: it merges them, reading each from its beginning to its end.
type folder struct {
	files   []*os.File
	readers []*logReader
	nodes   int             // number of nodes, by the logs of nodes or, without any, by events
	heads   heap.Heap[head] // the next event of each log that has one, the earliest first
	err     error
	clocks  []Clock  // the clocks of hosts other than the orchestrator's
	others  []Event  // events not read yet that no log has at their time: clock bounds, late events
	late    int      // events in others whose places in the journal are not read yet
	journal *os.File // nil: none
}

// A head is the next event of one log of a merge. It has a copy of the time, so comparing heads reads little
// memory.
type head struct {
	at  int64 // the time of the event
	log int32
}

func (h *head) before(other *head) bool {
	return h.at < other.at || h.at == other.at && h.log < other.log
}

// Bytes for the buffers of all logs of a folder together, and the least for each.
const (
	buffersLen  = 32 << 20
	bufferLeast = 4 << 10
)

// openFolder opens the logs of a folder, except logs without a preamble (see begun).
func openFolder(dir string) (*folder, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	entries = slices.DeleteFunc(entries, func(e os.DirEntry) bool {
		ok, _ := filepath.Match(logPattern, e.Name())
		return !ok
	})
	f := &folder{heads: heap.New((*head).before)}
	size := min(pageLen, max(bufferLeast, buffersLen/max(1, len(entries))))
	for _, entry := range entries {
		if err := f.open(filepath.Join(dir, entry.Name()), size); err != nil {
			return nil, errors.Join(err, f.close())
		}
	}
	if len(f.readers) == 0 {
		return nil, fmt.Errorf("%s holds no logs", dir)
	}
	slices.SortStableFunc(f.readers, func(a, b *logReader) int {
		return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.Incarnation, b.Incarnation))
	})
	if err := f.belong(); err != nil {
		return nil, errors.Join(err, f.close())
	}
	clocks, err := readClocks(dir, f.readers[0].origin)
	if err != nil {
		return nil, errors.Join(err, f.close())
	}
	f.correct(clocks)
	if f.nodes = headerOf(f.logs()).Nodes; f.nodes == 0 {
		f.nodes = f.named()
	}
	f.readLate()
	for i, l := range f.readers {
		switch more, err := f.advance(l); {
		case err != nil:
			return nil, errors.Join(err, f.close())
		case more:
			f.heads.Push(head{l.event.At, int32(i)})
		}
	}
	if f.heads.Len() > 0 {
		f.bound(f.heads.First().at)
	}
	return f, nil
}

// mostNamed is more nodes than a run with processes has.
const mostNamed = 1 << 16

// named returns the number of nodes by the events about them, for a folder without logs of nodes, whose hosts
// may be gone. It leaves errors of reading to the method next.
func (f *folder) named() (count int) {
	for _, file := range f.files {
		scan(file, func(e *Event) {
			if e.Node < mostNamed {
				count = max(count, int(e.Node)+1)
			}
		})
	}
	return count
}

// readLate adds to f.others the events that the run learned later: see Journal. It leaves errors of reading
// to the method next.
func (f *folder) readLate() {
	if f.journal == nil {
		return
	}
	latest := int64(0) // time of the latest mark: marks keep their order
	scan(f.journal, func(e *Event) {
		switch late := *e; {
		case f.isLate(e):
			if late.At, late.Value = e.Value, 0; e.Kind == Marked {
				late.At = max(late.At, latest+1)
			}
			f.others = append(f.others, late)
		case e.Kind == Marked:
			latest = e.At
		}
	})
	f.late = len(f.others)
	slices.SortStableFunc(f.others, func(a, b Event) int { return cmp.Compare(a.At, b.At) })
}

// isLate reports whether an event of the journal is one that the run learned later.
func (f *folder) isLate(e *Event) bool {
	is := e.Kind == Killed && e.Node >= 0 && int(e.Node) < f.nodes || e.Kind == Marked && e.Count == Interrupted
	return is && e.Value > 0 && e.Value <= e.At
}

// advance reads the next event of a log that f.others does not have.
func (f *folder) advance(l *logReader) (more bool, err error) {
	more, err = l.next()
	for ; more && f.late > 0 && l.Node == nodes.None && f.isLate(&l.event); f.late-- {
		more, err = l.next()
	}
	return more, err
}

// scan reads a log from its beginning to its end, and calls visit for each event.
func scan(file *os.File, visit func(*Event)) (*logReader, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	l, err := newLogReader(file.Name(), info.Size(), io.NewSectionReader(file, 0, info.Size()), pageLen)
	for more := err == nil; more && err == nil; {
		if more, err = l.next(); more {
			visit(&l.event)
		}
	}
	return l, err
}

// belong checks that the logs are of one trial, and each of a different process.
func (f *folder) belong() error {
	for i, l := range f.readers[1:] {
		switch before := f.readers[i]; {
		case l.Node == before.Node && l.Incarnation == before.Incarnation:
			return l.fail(0, "this is a log of node %d, and so is %s", l.Node, before.name)
		case l.origin != before.origin:
			return l.fail(0, "this log is of another trial than %s", before.name)
		}
	}
	return nil
}

// open opens the log at path, if it has begun.
func (f *folder) open(path string, size int) error {
	file, err := input.Open(path)
	if err != nil {
		return err
	}
	f.files = append(f.files, file)
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if there, err := begun(file); !there {
		return err
	}
	l, err := newLogReader(path, info.Size(), file, size)
	if err == nil {
		f.readers = append(f.readers, l)
		if l.Node == nodes.None {
			f.journal = file
		}
	}
	return err
}

// begun reports whether a log has its preamble. If its process died before, the magic and everything after
// the preamble are zeros.
func begun(log io.ReaderAt) (bool, error) {
	for _, r := range []*io.SectionReader{
		io.NewSectionReader(log, 0, int64(len(magic))),
		io.NewSectionReader(log, preambleLen, math.MaxInt64-preambleLen),
	} {
		if zeros, err := onlyZeros(r); !zeros || err != nil {
			return err == nil, err
		}
	}
	return false, nil
}

// next reads the earliest event that is left; of equal times, one of f.others, or the event of the first log.
func (f *folder) next(e *Event) (bool, error) {
	if f.err != nil {
		return false, f.err
	}
	if f.heads.Len() == 0 { // no event is left that a bound could be for
		f.others = slices.DeleteFunc(f.others, func(e Event) bool { return e.Kind == ClockBound })
	}
	if len(f.others) > 0 && (f.heads.Len() == 0 || f.others[0].At <= f.heads.First().at) {
		*e, f.others = f.others[0], f.others[1:]
		return true, nil
	} else if f.heads.Len() == 0 {
		return false, nil
	}
	first := f.heads.First()
	l := f.readers[first.log]
	*e = l.event
	if e.Node < nodes.None || int(e.Node) >= f.nodes {
		return false, l.fail(l.offset(l.count-1), "the event is of node %d, but there are %d nodes",
			e.Node, f.nodes)
	}
	more, err := f.advance(l)
	f.err = err // the next call returns the error: this event is whole
	if more {
		first.at = l.event.At
		f.heads.Fix()
	} else {
		f.heads.Pop()
	}
	return true, nil
}

func (f *folder) logs() (logs []*NodeLog) {
	for _, l := range f.readers {
		logs = append(logs, &l.NodeLog)
	}
	return logs
}

func (f *folder) close() (err error) {
	for _, file := range f.files {
		err = errors.Join(err, file.Close())
	}
	return err
}
