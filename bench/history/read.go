package history

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"iter"
	"slices"

	"turnstile/nodes"
)

// A History is all that one trial of a run left behind.
type History struct {
	Logs []*NodeLog // in the order of their nodes, the orchestrator's (nodes.None) first
}

// A NodeLog is what one node, or the orchestrator, left behind.
type NodeLog struct {
	Node       nodes.ID
	StampError int64 // bound on the error of its stamps, in nanoseconds
	Totals     Totals
	Late       []uint64 // how many timers ran out how late (see LatenessBucket); nil: none
	// By node: messages sent on the link to it, received on the link from it, and its multicasts. Nil in a
	// simulated run, where no transport has to be trusted.
	SentTo, ReceivedFrom, MultiFrom []uint64
	Ring                            []Passage // the latest messages, oldest first
	Events                          []Event
}

// Totals are the Counters of a node at the end, field by field, but for Late, which comes last.
type Totals struct {
	State, Requests, Entries, Exits                uint64
	Sent, Delivered, Publishes, Bytes              [MaxKinds]uint64
	Resent, Dropped, Copied                        uint64
	Gaps, Repeats, MultiSent, RingNext, EventCount uint64
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

// DecodeLog reads a log from its bytes. name and base say in errors where they are from. A log whose
// writer died has a half-written event or nothing at its end; that is no error.
func DecodeLog(name string, base int64, b []byte) (*NodeLog, error) {
	fail := func(at int, format string, args ...any) (*NodeLog, error) {
		return nil, &FormatError{name, base + int64(at), fmt.Sprintf(format, args...)}
	}
	var p preamble
	if len(b) < preambleLen {
		return fail(len(b), "the log is cut off in its preamble of %d bytes", preambleLen)
	}
	if !p.get(b) {
		return fail(0, "this is no log of Turnstile, or its preamble is garbled")
	}
	if len(b) < int(p.header) {
		return fail(len(b), "the log is cut off in its header of %d bytes", p.header)
	}
	l := &NodeLog{Node: p.node, StampError: p.errNS}
	at := preambleLen
	size, _ := binary.Decode(b[at:at+int(countersLen)], binary.LittleEndian, &l.Totals)
	at += size
	l.Late = make([]uint64, LatenessBuckets)
	at += 8 * copyWords(l.Late, b[at:])
	if !slices.ContainsFunc(l.Late, func(n uint64) bool { return n > 0 }) {
		l.Late = nil
	}
	if p.mapped {
		for _, stream := range []*[]uint64{&l.SentTo, &l.ReceivedFrom, &l.MultiFrom} {
			*stream = make([]uint64, p.nodes)
			at += 8 * copyWords(*stream, b[at:])
		}
	}
	l.Ring = decodeRing(b[at:at+int(p.ring)*passageLen], p.node, l.Totals.RingNext)
	var bad int
	if l.Events, bad = decodeEvents(b[p.header:], p.node); bad >= 0 {
		return fail(int(p.header)+bad, "event %d is garbled", bad/EventLen)
	}
	// There may be more than were counted: the writer may have died, or not have ended, in between.
	if have, counted := uint64(len(l.Events)), l.Totals.EventCount; have < counted {
		return fail(len(b), "the log is cut off: it has counted %d events and holds %d", counted, have)
	}
	for i := 1; i < len(l.Events); i++ {
		if l.Events[i].At < l.Events[i-1].At {
			return fail(int(p.header)+i*EventLen, "event %d is earlier than the one before it", i)
		}
	}
	return l, nil
}

func copyWords(to []uint64, from []byte) int {
	for i := range to {
		to[i] = binary.LittleEndian.Uint64(from[8*i:])
	}
	return len(to)
}

// decodeRing reads a ring that next messages were put in. The place that comes next holds the oldest
// message, or nothing, or half of the one that the writer was putting in when it died: it is left out.
func decodeRing(b []byte, node nodes.ID, next uint64) []Passage {
	size := uint64(len(b) / passageLen)
	if size == 0 {
		return nil
	}
	count := min(next, size-1)
	ring := make([]Passage, 0, count)
	for i := next - count; i < next; i++ {
		ring = append(ring, getPassage(b[i%size*passageLen:], node))
	}
	return ring
}

// decodeEvents reads events to the end of b or to the first that was never committed. It returns the
// offset of one that is garbled, or -1.
func decodeEvents(b []byte, node nodes.ID) ([]Event, int) {
	events := make([]Event, 0, len(b)/EventLen)
	for at := 0; at < len(b); at += EventLen {
		e := Event{Node: node}
		if len(b)-at >= EventLen && getEvent(b[at:at+EventLen], uint64(at/EventLen), &e) {
			events = append(events, e)
			continue
		}
		// The writer died here if this event has no commit word and nothing follows it.
		if len(bytes.Trim(b[min(at+EventLen-4, len(b)):], "\x00")) > 0 {
			return nil, at
		}
		break
	}
	return events, -1
}

// All yields the events of all logs in the order of their stamps; of equal stamps, in the order of
// the logs. Within a log the order is that of the log.
func (h *History) All() iter.Seq[Event] {
	return func(yield func(Event) bool) {
		var heads []cursor
		for i, l := range h.Logs {
			if len(l.Events) > 0 {
				heads = append(heads, cursor{l.Events, i})
			}
		}
		for i := len(heads)/2 - 1; i >= 0; i-- {
			sink(heads, i)
		}
		for len(heads) > 0 {
			if !yield(heads[0].rest[0]) {
				return
			}
			if heads[0].rest = heads[0].rest[1:]; len(heads[0].rest) == 0 {
				heads[0] = heads[len(heads)-1]
				heads = heads[:len(heads)-1]
			}
			sink(heads, 0)
		}
	}
}

// A cursor stands in one log of a merge; a slice of cursors is a heap, the earliest first.
type cursor struct {
	rest []Event
	log  int
}

func (c *cursor) before(d *cursor) bool {
	if c.rest[0].At != d.rest[0].At {
		return c.rest[0].At < d.rest[0].At
	}
	return c.log < d.log
}

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
		f.Close()
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
