// Package history is what a run leaves behind: events, one after another, and what each node counted beside
// them. Every figure and every verdict is made from that later, and from nothing else.
//
// # From processes to a history
//
// A process appends its events to a [Log], a mapped file, in which they survive its sudden death. The
// orchestrator's own log is its [Journal]; it reads the counters of the others while they run by [Watch].
// When all is over, [Store] merges the logs into one compressed file. A simulated run has no logs: it writes
// a [File] as it goes.
//
// If hosts have several clocks, [WriteClocks] puts the measured offsets beside the logs. A merge of the logs
// corrects their stamps with the offsets, and adds a [ClockBound] for the error that is left.
//
// # Reading one
//
// [Open] takes either: a stored file, or the folder of logs that a killed orchestrator left behind. A
// [Reader] gives the history to folds. It owes them this:
//
//   - Events come in the order of time; those of one time in the order of their nodes, the orchestrator
//     (nodes.None) first; those of one node as it recorded them.
//   - Close is called once, after the last event, with what each node left beside its events.
//   - What is cut off, garbled or of another format is an error that says where, and never taken for
//     something else. Run returns it instead of closing the folds. A half-written event at the end of a log
//     is no error: its writer died there.
//
// A [Fold] owes that it takes no memory for each event: a history may have any number of them.
//
// What each event says is documented at its [Kind]; docs/measures.md describes the bytes. The package's
// example writes a history, and counts the entries in it.
package history

import (
	"fmt"
	"math"
	"os"
	"reflect"
	"strings"
	"time"

	"turnstile/nodes"
)

// A Header is what must be known of a history before its events.
type Header struct {
	Nodes      int   // clients and servers; 0 if none left a log, and no event is one of a node
	StampError int64 // bound on the error of comparing any two stamps, in nanoseconds
	// Origin tells the history of one trial from those of all others; 0: of none in particular.
	Origin uint64
}

// headerOf returns the header of the history of logs. A node that died before it had a log is known from the
// streams of the others.
func headerOf(logs []*NodeLog) (h Header) {
	var first, second int64 // the two largest errors: their sum bounds that of comparing two stamps
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

// A NodeLog is what one process of a node, or the orchestrator, left behind beside its events. In a simulated
// run it is of all incarnations of the node.
type NodeLog struct {
	Node        nodes.ID
	Incarnation uint32 // of the node: how often it had restarted
	StampError  int64  // bound on the error of its stamps, in nanoseconds
	Totals      Totals
	Instances   []InstanceTotals
	Late        []uint64 // how many timers ran out how late (see LatenessBucket); nil: none
	// By node, and where there is a second network once more for the streams on that, which come behind:
	// messages sent on the link to it, and the number of the last that was received on the link from
	// it, and of its multicasts, in the latest stream (see LinkBegan). Nil in a simulated run, which has no
	// transport to check.
	SentTo, ReceivedFrom, MultiFrom []uint64
	Floor                           []uint64        // by node: see Log.Floor; nil: no connection was lost
	Trace                           []MessageRecord // the latest messages, oldest first
	Texts                           []Text          // what these say; nil: nothing that is kept
	Last                            string          // what a program that broke the protocol said last

	// Networks is whose streams a log has as its process has left it; 0: one, or not known, of a stored history.
	Networks int
}

// A Fold takes a history event by event, in the order of time, and at the end what the nodes left beside
// their events, in the order of their IDs and incarnations, the orchestrator first.
type Fold interface {
	Add(e Event)
	Close(logs []*NodeLog)
}

// A History is a whole history in memory, for tests and for small ones. It is the Fold that keeps everything.
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
	Offset   int64 // in bytes
	Unpacked bool  // the offset is one of the uncompressed content of a stored history
	What     string
}

func (e *formatError) Error() string {
	of := ""
	if e.Unpacked {
		of = " of its uncompressed content"
	}
	return fmt.Sprintf("%s: at byte %d%s: %s", e.File, e.Offset, of, e.What)
}

// Difference reads two histories beside each other and says where they first differ; nothing if they are the
// same, whatever run they are of. It also returns how many events are the same.
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

// describe prints an event, if there is one.
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

// logsDiffer says which node left something else beside its events.
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

// A Lateness is how many timers of all nodes ran out how late, by LatenessBucket.
type Lateness [LatenessBuckets]uint64

// LatenessIn merges what the logs of nodes tell.
func LatenessIn(logs []*NodeLog) (all Lateness) {
	for _, l := range logs {
		for b, n := range l.Late {
			all[b] += n
		}
	}
	return all
}

// Quantile returns the upper end of the bucket that a quantile lies in, in nanoseconds. It reports whether
// any timer ran out.
func (l *Lateness) Quantile(q float64) (ns int64, known bool) {
	var total, seen uint64
	for _, n := range l {
		total += n
	}
	rank := max(1, uint64(math.Ceil(q*float64(total)-1e-9)))
	for b, n := range l {
		if seen += n; n > 0 && seen >= rank {
			return latenessOf(b+1) - 1, true
		}
	}
	return 0, false
}

// LastSeen returns the latest time in the log at path, whose writer has ended: of an event, or of a message
// in its trace.
func LastSeen(path string) (at int64, err error) {
	file, err := os.Open(path)
	if err != nil {
		return 0, fmt.Errorf("looking at a log: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return 0, fmt.Errorf("looking at a log: %w", err)
	}
	l, err := newLogReader(path, info.Size(), file, pageLen)
	for more := err == nil; more && err == nil; {
		if more, err = l.next(); more {
			at = l.event.At
		}
	}
	if err != nil {
		return 0, fmt.Errorf("looking at a log: %w", err)
	}
	for _, m := range l.Trace {
		at = max(at, m.At)
	}
	return at, nil
}
