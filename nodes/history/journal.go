package history

import (
	"fmt"
	"os"
	"sync"

	"turnstile/nodes"
)

// A Journal is the orchestrator's own log: the marks of the run and what was measured from outside. It is
// safe for use by several goroutines. Their events may arrive out of order: one that arrives late takes the
// stamp of the one before it, so that stamps never fall.
type Journal struct {
	mu   sync.Mutex
	log  *Log
	last int64
}

// CreateJournal makes a new journal at path, of a trial (see Header.Origin), for stamps with an error of
// stampError or less.
func CreateJournal(path string, origin uint64, stampError int64) (*Journal, error) {
	log, err := Create(path, Options{Node: nodes.None, Origin: origin, StampError: stampError})
	if err != nil {
		return nil, err
	}
	return &Journal{log: log}, nil
}

// Mark records that the run came to a mark at a time.
func (j *Journal) Mark(at int64, mark uint32) error {
	return j.append(Event{At: at, Kind: Marked, Count: mark})
}

// Stall marks that the run has stalled. messages is how many were handled since anybody entered, if it
// livelocks; 0 if nothing moves.
func (j *Journal) Stall(at int64, messages uint64) error {
	return j.append(Event{At: at, Kind: Marked, Count: Stalled, Value: int64(messages)})
}

// Gauge records the value of a gauge.
func (j *Journal) Gauge(at int64, gauge uint32, value int64) error {
	return j.append(Event{At: at, Kind: Gauged, Count: gauge, Value: value})
}

// Pause records that a process (a node's ID, Broker or Orchestrator) stands still, or goes on again.
func (j *Journal) Pause(at int64, process uint32, stands bool) error {
	kind := Resumed
	if stands {
		kind = Paused
	}
	return j.append(Event{At: at, Kind: kind, Count: process})
}

// ofNode reports whether an event of the journal is about the node that it names, as if that had recorded it.
// The node stands in place of the fence.
func (k Kind) ofNode() bool { return k == Killed || k == Crashed || k == Restarted }

// Add records an event of the orchestrator, or about what it has done to the node of the event.
func (j *Journal) Add(e Event) error { return j.append(e) }

// Settle records that the run came to rest after a single request of node, which took messages.
func (j *Journal) Settle(at int64, node nodes.ID, messages uint64) error {
	return j.append(Event{At: at, Kind: Settled, Count: uint32(node), Value: int64(messages)})
}

func (j *Journal) append(e Event) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.log == nil {
		return fmt.Errorf("recording in the journal: %w", os.ErrClosed)
	}
	j.last = max(j.last, e.At)
	e.At = j.last
	if e.Kind.ofNode() {
		e.Fence = uint64(e.Node)
	}
	return j.log.Append(e)
}

// Close closes the journal.
func (j *Journal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.log == nil {
		return nil
	}
	log := j.log
	j.log = nil
	return log.Close()
}
