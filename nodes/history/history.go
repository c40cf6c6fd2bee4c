package history

import (
	"fmt"

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
