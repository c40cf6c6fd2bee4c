package history

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"iter"
	"slices"

	"turnstile/nodes"
)

// A History is all that one trial of a run left behind.
type History struct {
	Logs []*NodeLog // in the order of their nodes, the orchestrator's (nodes.None) first
	all  []Event    // of all logs in the order of All, if that is known
}

// A NodeLog is what one node, or the orchestrator, left behind.
type NodeLog struct {
	Node       nodes.ID
	StampError int64 // bound on the error of its stamps, in nanoseconds
	Totals     Totals
	Instances  []InstanceTotals
	Late       []uint64 // how many timers ran out how late (see LatenessBucket); nil: none
	// By node: messages sent on the link to it, received on the link from it, and its multicasts. Nil in a
	// simulated run, where no transport has to be trusted.
	SentTo, ReceivedFrom, MultiFrom []uint64
	Trace                           []MessageRecord // the latest messages, oldest first
	Events                          []Event
}

// Nodes returns how many nodes took part, servers included, or 0 if none left a log. A node that died before
// it had a log is known from the streams of the others.
func (h *History) Nodes() (count int) {
	for _, l := range h.Logs {
		count = max(count, int(l.Node)+1, len(l.SentTo))
	}
	return count
}

// A FormatError says where in a file something stands that no history holds.
type FormatError struct {
	File   string
	Offset int64 // in bytes, of the file or, in a stored history, of its uncompressed content
	What   string
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("%s: at offset %d: %s", e.File, e.Offset, e.What)
}

// decodeLog reads a log of so many bytes, or fewer if it is cut off. name and base say in errors where they
// are from. A log whose writer died has a half-written event or nothing at its end; that is no error.
// An error that is no FormatError is one of r. The log never lies in memory whole: its events take as much
// again.
func decodeLog(name string, base, length int64, r io.Reader) (*NodeLog, error) {
	fail := func(at int64, format string, args ...any) (*NodeLog, error) {
		return nil, &FormatError{name, base + at, fmt.Sprintf(format, args...)}
	}
	r = io.LimitReader(r, length)
	var p preamble
	b, err := readUpTo(r, preambleLen)
	switch {
	case err != nil:
		return nil, err
	case len(b) < preambleLen:
		return fail(int64(len(b)), "the log is cut off in its preamble of %d bytes", preambleLen)
	case !p.get(b):
		return fail(0, "this is no log of Turnstile, or its preamble is garbled")
	case length < int64(p.header):
		return fail(length, "the log is cut off in its header of %d bytes", p.header)
	}
	header, err := readUpTo(r, int64(p.header)-preambleLen)
	if err == nil && len(header) < int(p.header)-preambleLen {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, err
	}
	l := p.log(header)
	events := eventReader{node: p.node, most: eventsIn(length - int64(p.header)), all: []Event{}}
	bad, err := events.read(r)
	switch {
	case err != nil:
		return nil, err
	case bad >= 0:
		return fail(p.offset(bad), "event %d is garbled", bad)
	}
	l.Events = events.all
	// There may be more than were counted: the writer may have died, or not have ended, in between.
	if have, counted := uint64(len(l.Events)), l.Totals.EventCount; have < counted {
		return fail(p.offset(int(have)),
			"the log is cut off: it has counted %d events and holds %d", counted, have)
	}
	for i := 1; i < len(l.Events); i++ {
		if l.Events[i].At < l.Events[i-1].At {
			return fail(p.offset(i), "event %d is earlier than the one before it", i)
		}
	}
	return l, nil
}

// readUpTo reads n bytes, or fewer if there are no more. It makes little room on the word of the file alone.
func readUpTo(r io.Reader, n int64) ([]byte, error) {
	var b bytes.Buffer
	b.Grow(int(min(n, 1<<20)) + bytes.MinRead)
	_, err := b.ReadFrom(io.LimitReader(r, n))
	return b.Bytes(), err
}

// log reads what is between the preamble of a log and its events.
func (p *preamble) log(header []byte) *NodeLog {
	l := &NodeLog{Node: p.node, StampError: p.errNS}
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
	if p.mapped {
		for _, stream := range []*[]uint64{&l.SentTo, &l.ReceivedFrom, &l.MultiFrom} {
			*stream = make([]uint64, p.nodes)
			at += 8 * copyWords(*stream, header[at:])
		}
	}
	l.Trace = decodeTrace(header[at:at+int(p.trace)*messageRecordLen], p.node, l.Totals.TraceNext)
	return l
}

func copyWords(to []uint64, from []byte) int {
	for i := range to {
		to[i] = binary.LittleEndian.Uint64(from[8*i:])
	}
	return len(to)
}

// decodeTrace reads a trace that next messages were put in. The place that comes next holds the oldest
// message, or nothing, or half of the one that the writer was putting in when it died: it is left out.
func decodeTrace(b []byte, node nodes.ID, next uint64) []MessageRecord {
	size := uint64(len(b) / messageRecordLen)
	if size == 0 {
		return nil
	}
	count := min(next, size-1)
	trace := make([]MessageRecord, 0, count)
	for i := next - count; i < next; i++ {
		trace = append(trace, getMessageRecord(b[i%size*messageRecordLen:], node))
	}
	return trace
}

// An eventReader reads the events of one log.
type eventReader struct {
	node nodes.ID
	most int64 // that there may be
	all  []Event
}

// read reads events to the end of r or to the first that was never committed. It returns the index of one
// that is garbled, or -1.
func (e *eventReader) read(r io.Reader) (bad int, err error) {
	block := make([]byte, min(pageLen, (e.most+1)*EventLen)) // a page, but most logs of simulated runs are short
	for {
		n, err := io.ReadFull(r, block)
		if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
			return -1, err
		}
		for at := 0; at < min(n, perPage*EventLen); at += EventLen {
			if n-at >= EventLen && e.add(block[at:at+EventLen]) {
				continue
			}
			// The writer died here if this event has no commit word and nothing follows it.
			word := io.MultiReader(bytes.NewReader(block[min(at+EventLen-4, n):n]), r)
			if zeros, err := onlyZeros(word); err != nil || zeros {
				return -1, err
			}
			return len(e.all), nil
		}
		if n < len(block) {
			return -1, nil
		}
	}
}

// add adds an event, if b is one. Room for all is made little by little, as what there was room for comes:
// how many there are to be is no more than what the file says.
func (e *eventReader) add(b []byte) bool {
	event := Event{Node: e.node}
	if !getEvent(b, uint64(len(e.all)), &event) {
		return false
	}
	if have := len(e.all); have == cap(e.all) {
		e.all = append(make([]Event, 0, min(e.most, 1024+16*int64(have))), e.all...)
	}
	e.all = append(e.all, event)
	return true
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

// Ordered returns the history of events that were recorded in the order of time, and gives each to the log of
// its node. There is a log for each node, the orchestrator's first. The events are no longer the caller's.
func Ordered(logs []*NodeLog, events []Event) *History {
	for first := 0; first < len(events); { // those of one time stand in the order of their logs
		last := first + 1
		for last < len(events) && events[last].At == events[first].At {
			last++
		}
		slices.SortStableFunc(events[first:last], func(a, b Event) int { return cmp.Compare(a.Node, b.Node) })
		first = last
	}
	ends := make([]int, len(logs)+1) // of each log's events, when they lie log by log
	for i := range events {
		ends[events[i].Node+1]++
	}
	for i := 1; i < len(ends); i++ {
		ends[i] += ends[i-1]
	}
	sorted := make([]Event, len(events))
	for i := len(events) - 1; i >= 0; i-- { // from the last, so that each log's stay in order
		at := &ends[events[i].Node+1]
		*at--
		sorted[*at] = events[i]
	}
	for i, l := range logs { // now the ends are where each log's events begin
		l.Events = sorted[ends[i]:ends[i+1]:ends[i+1]]
		l.Totals.EventCount = uint64(len(l.Events))
	}
	return &History{Logs: logs, all: events}
}

// All yields the events of all logs in the order of their stamps; of equal stamps, in the order of
// the logs. Within a log the order is that of the log.
func (h *History) All() iter.Seq[Event] {
	return func(yield func(Event) bool) {
		if h.all != nil {
			slices.Values(h.all)(yield)
			return
		}
		var heads []cursor
		for i, l := range h.Logs {
			if len(l.Events) > 0 {
				heads = append(heads, cursor{at: l.Events[0].At, log: int32(i)})
			}
		}
		for i := len(heads)/2 - 1; i >= 0; i-- {
			sink(heads, i)
		}
		for len(heads) > 0 {
			first := &heads[0]
			events := h.Logs[first.log].Events
			if !yield(events[first.next]) {
				return
			}
			if first.next++; int(first.next) < len(events) {
				first.at = events[first.next].At
			} else {
				*first = heads[len(heads)-1]
				heads = heads[:len(heads)-1]
			}
			sink(heads, 0)
		}
	}
}

// A cursor stands in one log of a merge; a slice of cursors is a heap, the earliest first. It is small, since
// there may be a hundred thousand, and holds its time, since to compare two looks at nothing else then.
type cursor struct {
	at   int64 // of the next event
	log  int32
	next uint32
}

func (c *cursor) before(d *cursor) bool { return c.at < d.at || c.at == d.at && c.log < d.log }

func sink(heap []cursor, i int) {
	for {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(heap); child++ {
			if heap[child].before(&heap[least]) {
				least = child
			}
		}
		if least == i {
			return
		}
		heap[i], heap[least] = heap[least], heap[i]
		i = least
	}
}

// Run gives every event of h to each of the folds, and closes them.
func (h *History) Run(folds ...Fold) {
	for e := range h.All() {
		for _, f := range folds {
			f.Add(e)
		}
	}
	for _, f := range folds {
		f.Close(h.Logs)
	}
}

// StampError returns a bound on the error of comparing stamps of any two logs, in nanoseconds.
func (h *History) StampError() int64 {
	var first, second int64
	for _, l := range h.Logs {
		switch e := l.StampError; {
		case e > first:
			first, second = e, first
		case e > second:
			second = e
		}
	}
	return first + second
}
