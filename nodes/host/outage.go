package host

import (
	"errors"

	"turnstile/nodes"
	"turnstile/nodes/history"
)

// An outage is what a node that reconnects must know to tell the messages that were lost with a connection
// from those that were lost for no reason. Explained are those before the first message of a stream that
// comes after either end has been connected again. Of these, the sender still owes those above the floor of
// the stream: what it sent after the orchestrator said that all nodes were connected.
type outage struct {
	connection uint32 // how often this node has been connected again
	restored   uint32 // the number of the latest order Restored that it has obeyed
	since      uint32 // which that was when it was last connected again
	open       bool   // connections are lost, as far as is known: there are no floors
	links      []ends // by sender
	multicasts []ends
}

// ends are the connections, of this node and of the sender, by which the latest message of a stream came.
type ends struct{ own, senders uint32 }

func newOutage(total int) *outage {
	return &outage{links: make([]ends, total), multicasts: make([]ends, total)}
}

// redialled takes note that what comes next comes by a new connection.
func (o *outage) redialled() {
	o.connection++
	o.since = o.restored
}

// stamp says in the envelope of a message what its receiver must know, given the floor of its stream.
func (o *outage) stamp(e *envelope, floor uint64) {
	e.reconnects, e.restored = o.connection, o.restored
	if !o.open && o.restored > 0 {
		e.owed = e.seq - floor
	}
}

// explain returns how many of the messages that are missing between number seen and e were lost with a
// connection. It is called for each message.
func (o *outage) explain(e *envelope, seen uint64) uint64 {
	last := &o.links[e.from]
	if e.multicast {
		last = &o.multicasts[e.from]
	}
	before := *last
	*last = ends{o.connection, e.reconnects}
	if before == *last {
		return 0
	}
	floor := e.seq - 1
	// If this node was connected again, the floor must be one that was set after that.
	if e.owed > 0 && (before.own == o.connection || e.restored > o.since) {
		floor = e.seq - min(e.owed, e.seq)
	}
	return max(floor, seen) - seen
}

// setFloors takes note whether messages are lost now. Those of each stream up to its floor may be.
func (h *Host) setFloors(open bool) {
	h.outage.open = open
	floor := func(sent uint64) uint64 {
		if open {
			return history.AnyNumber
		}
		return sent
	}
	for id := range nodes.ID(h.process.Stack().Total()) {
		h.log.Floor(id).Store(floor(h.log.SentTo(id).Load()))
	}
	h.log.MultiFloor.Store(floor(h.log.MultiSent.Load()))
}

// followOutage obeys the orders Outage, Parted and Restored. A node that has lost its connection again since
// will be told later that all are connected.
func (h *Host) followOutage(o Order) {
	switch {
	case h.outage == nil:
		h.err = errors.New("an outage is announced to a node that was not told to reconnect")
	case o.Do == Parted:
		// As if it was connected again. What a node sends from now on says so, and while brokers are cut off, the
		// first of it that arrives is sent after they are not.
		h.outage.redialled()
		h.setFloors(true)
	case o.Do == Outage:
		h.setFloors(true)
	case h.traffic.conn != nil:
		h.outage.restored = uint32(o.Round)
		h.setFloors(false)
	}
}
