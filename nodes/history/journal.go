package history

import (
	"fmt"
	"os"
	"sync"

	"turnstile/nodes"
)

// A Journal is the orchestrator's own log: the marks of the run, faults and measurements from outside. It is
// safe for use by several goroutines. An event that arrives out of order takes the stamp of the event before,
// so stamps never fall. The orchestrator may learn late that somebody killed a node, or that a process ended,
// which ended the run (the mark Interrupted). Then Value has the time of the event, and readers return the
// event at that time.
type Journal struct {
	mu   sync.Mutex
	log  *Log
	last int64
}

// CreateJournal makes a new journal at path, of a trial (see Header.Origin). The error of its stamps is at
// most stampError nanoseconds.
func CreateJournal(path string, origin uint64, stampError int64) (*Journal, error) {
	log, err := Create(path, Options{Node: nodes.None, Origin: origin, StampError: stampError})
	if err != nil {
		return nil, err
	}
	return &Journal{log: log}, nil
}

// Mark records that the run reached a mark at a time.
func (j *Journal) Mark(at int64, mark uint32) error {
	return j.append(Event{At: at, Kind: Marked, Count: mark})
}

// Stall records that the run has stalled. messages is how many messages were handled since the last entry, in
// a livelock; 0: nothing moves.
func (j *Journal) Stall(at int64, messages uint64) error {
	return j.append(Event{At: at, Kind: Marked, Count: Stalled, Value: int64(messages)})
}

// Gauge records the value of a gauge.
func (j *Journal) Gauge(at int64, gauge uint32, value int64) error {
	return j.append(Event{At: at, Kind: Gauged, Count: gauge, Value: value})
}

// Pause records that a process (a node's ID, Broker or Orchestrator) was paused, or resumed.
func (j *Journal) Pause(at int64, process uint32, stands bool) error {
	kind := Resumed
	if stands {
		kind = Paused
	}
	return j.append(Event{At: at, Kind: kind, Count: process})
}

// ofNode reports whether the orchestrator records events of this kind on behalf of a node. The journal then
// stores the node in the field Fence.
func (k Kind) ofNode() bool { return k == Killed || k == Crashed || k == Restarted }

// Add records an event of the orchestrator, or an event that it records on behalf of a node: see ofNode.
func (j *Journal) Add(e Event) error { return j.append(e) }

// Settle records that the run came to rest after a single request of node; messages is how many it took.
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
