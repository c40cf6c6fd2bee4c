// Package history records a run: its events in order, and the counters of each node. Every figure and every
// verdict is computed from a history alone.
//
// # From processes to a history
//
// A process appends its events to a [Log], a mapped file, so they survive its sudden death. The
// orchestrator's own log is its [Journal]; it reads the counters of running processes by [Watch]. After the
// run, [Store] merges the logs into one compressed file. A simulated run has no logs: it writes a [File] as
// it goes.
//
// If hosts have several clocks, [WriteClocks] puts the measured offsets beside the logs. A merge of the logs
// corrects their stamps with the offsets, and adds a [ClockBound] for the remaining error.
//
// # Reading a history
//
// [Open] opens a stored file, or the folder of logs that a killed orchestrator left behind. A [Reader] gives
// the history to folds. It guarantees the following to them:
//
//   - Events come in the order of time; at one time, in the order of their nodes, the orchestrator
//     (nodes.None) first. Events of one node come in the order in which the node recorded them. The
//     orchestrator records some events late: they come at their time, see [Journal].
//   - Close is called once, after the last event, with the NodeLog of each node.
//   - A file that is cut off, garbled or of another format gives an error that says where. Run returns it
//     instead of closing the folds. A half-written event at the end of a log is no error: its writer died
//     while it wrote the event.
//
// A [Fold] must not take memory for each event: a history may have any number of them.
//
// # The bytes of a stored history
//
// The file is compressed by zstandard, and its numbers are little-endian. It begins with TURNHIS5. Then come
// blocks. Each block has its type, its length, a CRC-32C and its content; the CRC-32C covers the rest.
// The first block is a header: number of nodes, bound on the error of stamps, origin. Blocks of events
// follow, in the order of time. An event has 40 bytes: time, value, fence, entry, count, instance, kind,
// padding, node. Then come the counters of each node and incarnation. The number of events and logs is last.
//
// Each [Kind] documents its event. The package's example writes a history, and counts the entries in it.
package history

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"turnstile/internal/input"
	"turnstile/nodes"
)

// A Header comes before the events of a history.
type Header struct {
	Nodes      int    // number of clients and servers; 0 if no node left a log or an event
	StampError int64  // bound on the error of comparing any two stamps, in nanoseconds
	Origin     uint64 // identifies the trial; 0: no trial
}

// headerOf returns the header of a history with these logs. It counts nodes that died before they had a log
// by the streams in the logs of others.
func headerOf(logs []*NodeLog) (h Header) {
	var first, second int64 // the two largest errors: their sum bounds the error of comparing two stamps
	for _, l := range logs {
		h.Nodes = max(h.Nodes, int(l.Node)+1, len(l.SentTo)/max(1, l.Networks))
		if e := l.StampError; e > first {
			first, second = e, first
		} else {
			second = max(second, e)
		}
	}
	h.StampError = first + second
	return h
}

// A NodeLog is what one process of a node, or the orchestrator, left beside its events. In a simulated run it
// covers all incarnations of the node.
type NodeLog struct {
	Node        nodes.ID
	Incarnation uint32 // how often the node had restarted
	StampError  int64  // bound on the error of its stamps, in nanoseconds
	Totals      Totals
	Instances   []InstanceTotals
	// Late has the number of timers that ran out less than LateFrom late, and Transit the number of messages
	// handled less than LateFrom after they were sent, by LatenessBucket; nil: none. Lagged events have the
	// others.
	Late, Transit []uint64
	// By node, then for a second network by node again: the number of messages sent on the link to it, and
	// the numbers of the last message on the link from it and of its last multicast, in the latest stream
	// (see LinkBegan). Nil in a simulated run, which has no transport to check.
	SentTo, ReceivedFrom, MultiFrom []uint64
	Floor                           []uint64        // by node: see Log.Floor; nil: no connection was lost
	Trace                           []MessageRecord // the latest messages, oldest first
	Texts                           []Text          // texts of the messages in Trace; nil: not kept
	Last                            string          // the last line of a program that broke the protocol

	// Networks is how many networks have streams here; 0: one or, in a stored history, not known.
	Networks int
}

// A Fold takes a history event by event, in the order of time, and at the end the logs of the nodes, in the
// order of their IDs and incarnations, the orchestrator first.
type Fold interface {
	Add(e Event)
	Close(logs []*NodeLog)
}

// A History is a whole history in memory, for tests and for small runs. It is the Fold that keeps everything.
type History struct {
	Events []Event
	Logs   []*NodeLog
}

// Add implements Fold.
func (h *History) Add(e Event) { h.Events = append(h.Events, e) }

// Close implements Fold.
func (h *History) Close(logs []*NodeLog) { h.Logs = logs }

// Header returns the header of the history.
func (h *History) Header() Header { return headerOf(h.Logs) }

// Run gives the history to each of the folds.
func (h *History) Run(folds ...Fold) {
	for _, e := range h.Events {
		for _, f := range folds {
			f.Add(e)
		}
	}
	for _, f := range folds {
		f.Close(h.Logs)
	}
}

// A formatError says what is wrong in a file, and where.
type formatError struct {
	File     string
	Offset   int64 // where in the file, in bytes
	Unpacked bool  // Offset is in the uncompressed content of a stored history
	What     string
}

func (e *formatError) Error() string {
	of := ""
	if e.Unpacked {
		of = " of its uncompressed content"
	}
	return fmt.Sprintf("%s: at byte %d%s: %s", e.File, e.Offset, of, e.What)
}

// Difference reads two histories side by side and says where they first differ; empty: nowhere. It ignores
// their Origin. It also returns the number of equal events before the first difference.
func (a *Reader) Difference(b *Reader) (says string, same uint64, err error) {
	if a.Nodes != b.Nodes || a.StampError != b.StampError {
		return fmt.Sprintf("one is of %d nodes with stamps that err by %d ns, the other of %d nodes and %d ns",
			a.Nodes, a.StampError, b.Nodes, b.StampError), 0, nil
	}
	for {
		var x, y Event
		moreA, err := a.Next(&x)
		if err != nil {
			return "", same, err
		}
		moreB, err := b.Next(&y)
		switch {
		case err != nil:
			return "", same, err
		case moreA && moreB && x == y:
			same++
		case moreA || moreB:
			return fmt.Sprintf("event %d is %s in one, and %s in the other", same+1, describe(&x, moreA),
				describe(&y, moreB)), same, nil
		default:
			return logsDiffer(a.Logs(), b.Logs()), same, nil
		}
	}
}

// describe prints an event, or that it is missing.
func describe(e *Event, there bool) string {
	if !there {
		return "missing"
	}
	words := []string{e.Kind.String()}
	for _, f := range []struct {
		name  string
		value int64
	}{
		{"instance", int64(e.Instance)}, {"entry", int64(e.Entry)}, {"value", e.Value}, {"count", int64(e.Count)},
		{"fence", int64(e.Fence)},
	} {
		if f.value != 0 {
			words = append(words, fmt.Sprintf("%s %d", f.name, f.value))
		}
	}
	return fmt.Sprintf("(node %d at %v: %s)", e.Node, time.Duration(e.At), strings.Join(words, ", "))
}

// logsDiffer says which logs differ; empty if none do.
func logsDiffer(a, b []*NodeLog) string {
	if len(a) != len(b) {
		return fmt.Sprintf("%d nodes left a log in one, and %d in the other", len(a), len(b))
	}
	for i := range a {
		if !reflect.DeepEqual(a[i], b[i]) {
			return fmt.Sprintf("what node %d counted differs", a[i].Node)
		}
	}
	return ""
}

// LastSeen returns the latest time in the log at path, of an event or a message in its trace. The writer must
// have ended.
func LastSeen(path string) (at int64, err error) {
	file, err := input.Open(path)
	if err != nil {
		return 0, fmt.Errorf("looking at a log: %w", err)
	}
	defer file.Close()
	l, err := scan(file, func(e *Event) { at = e.At })
	if err != nil {
		return 0, fmt.Errorf("looking at a log: %w", err)
	}
	for _, m := range l.Trace {
		at = max(at, m.At)
	}
	return at, nil
}
