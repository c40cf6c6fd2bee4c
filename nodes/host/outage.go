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
	connection []uint32 // how often this node has been connected again, by network
	restored   uint32   // the number of the latest order Restored that it has obeyed
	since      []uint32 // which that was when it was last connected again, by network
	open       bool     // connections are lost, as far as is known: there are no floors
	links      []ends   // by stream: see traffic.stream
	multicasts []ends
}

// ends are the connections, of this node and of the sender, by which the latest message of a stream came.
type ends struct{ own, senders uint32 }

func newOutage(total, streams, networks int) *outage {
	return &outage{links: make([]ends, streams), multicasts: make([]ends, total),
		connection: make([]uint32, networks), since: make([]uint32, networks)}
}

// redialled takes note that what comes next on a network comes by a new connection.
func (o *outage) redialled(network int) {
	o.connection[network]++
	o.since[network] = o.restored
}

// stamp says in the envelope of a message what its receiver must know, given its network and the floor of its
// stream.
func (o *outage) stamp(e *envelope, network int, floor uint64) {
	e.reconnects, e.restored = o.connection[network], o.restored
	if !o.open && o.restored > 0 {
		e.owed = e.seq - floor
	}
}

// explain returns how many of the messages that are missing between number seen and e, which came by a
// network in a stream, were lost with a connection. It is called for each message.
func (o *outage) explain(e *envelope, network int, stream nodes.ID, seen uint64) uint64 {
	last := &o.links[stream]
	if e.multicast {
		last = &o.multicasts[e.from]
	}
	before, connection := *last, o.connection[network]
	*last = ends{connection, e.reconnects}
	if before == *last {
		return 0
	}
	floor := e.seq - 1
	// If this node was connected again, the floor must be one that was set after that.
	if e.owed > 0 && (before.own == connection || e.restored > o.since[network]) {
		floor = e.seq - min(e.owed, e.seq)
	}
	return max(floor, seen) - seen
}

// setFloors takes note whether messages are lost now. Those of each stream up to its floor may be.
func (h *host) setFloors(open bool) {
	h.outage.open = open
	floor := func(sent uint64) uint64 {
		if open {
			return history.AnyNumber
		}
		return sent
	}
	for id := range nodes.ID(len(h.outage.links)) {
		h.log.Floor(id).Store(floor(h.log.SentTo(id).Load()))
	}
	h.log.MultiFloor.Store(floor(h.log.MultiSent.Load()))
}

// followOutage obeys the orders Outage, Parted and Restored. A node that has lost its connection again since
// will be told later that all are connected.
func (h *host) followOutage(o Order) {
	switch {
	case h.outage == nil:
		h.err = errors.New("an outage is announced to a node that was not told to reconnect")
	case o.Do == Parted:
		// As if it was connected again. What a node sends from now on says so, and while brokers are cut off, the
		// first of it that arrives is sent after they are not.
		h.outage.redialled(0) // which alone has several brokers
		h.setFloors(true)
	case o.Do == Outage:
		h.setFloors(true)
	case h.traffic.connected():
		h.outage.restored = uint32(o.Round)
		h.setFloors(false)
	}
}
