package host

import (
	"sync/atomic"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/history"
)

// severalNetworks returns how many networks carry the messages of a stack, if there is a second one; 0: one.
func severalNetworks(stack *nodes.Stack) int {
	if networks := stack.Codec().Networks(); networks > 1 {
		return networks
	}
	return 0
}

// net returns the network that carries a kind of messages.
func (t *traffic) net(kind uint8) uint8 { return t.nets[kind] }

// way returns the network by whose connection a kind of messages goes: the first, if there is no other
// broker.
func (t *traffic) way(kind uint8) int { return min(int(t.net(kind)), len(t.conns)-1) }

// stream returns the number of the stream to or from a node in which a kind of messages comes. Networks do
// not keep the order between them, so each has streams of its own.
func (t *traffic) stream(kind uint8, peer nodes.ID) nodes.ID {
	return peer + nodes.ID(int(t.net(kind))*len(t.subjects))
}

// connected reports whether the node has its connections.
func (t *traffic) connected() bool {
	for _, conn := range t.conns {
		if conn == nil {
			return false
		}
	}
	return true
}

// flush waits until the brokers have what was sent, as far as they can be reached within a time.
func (t *traffic) flush(within time.Duration) {
	for _, conn := range t.conns {
		conn.FlushTimeout(within)
	}
}

// close closes the connections.
func (t *traffic) close() {
	for _, conn := range t.conns {
		conn.Close()
	}
}

// audit follows the numbers of a stream: each must be the last one plus one, unless messages were lost with a
// connection. A stream is that of one incarnation of the sender. The first message of a later one ends it.
func (h *host) audit(e *envelope) {
	stream := h.traffic.stream(e.kind, e.from)
	count, life := h.log.ReceivedFrom(stream), &h.traffic.lives[0][stream]
	if e.multicast {
		count, life = h.log.MulticastFrom(e.from), &h.traffic.lives[1][e.from]
	}
	if e.incarnation != *life {
		h.auditLife(e, count, life)
		return
	}
	seen := count.Load()
	if e.seq <= seen {
		h.log.Repeats.Add(1)
		return
	}
	missing, explained := e.seq-seen-1, uint64(0)
	if h.outage != nil {
		explained = h.outage.explain(e, h.traffic.way(e.kind), stream, seen)
		h.log.Explained.Add(explained)
	}
	if missing > explained {
		h.log.Gaps.Add(missing - explained)
	}
	count.Store(e.seq)
}

// auditLife takes a message of another incarnation of its sender than the one before it in its stream, given
// the number of that. A late one of an earlier incarnation is in no stream any more.
func (h *host) auditLife(e *envelope, count *atomic.Uint64, life *uint32) {
	if e.incarnation < *life && *life != unheard {
		h.log.Strays.Add(1)
		return
	}
	network, stream := h.traffic.way(e.kind), h.traffic.stream(e.kind, e.from)
	if h.outage != nil {
		h.outage.explain(e, network, stream, e.seq-1) // nothing: what is missing before it is for the check
	}
	began := history.Event{Kind: history.LinkBegan, Count: uint32(stream), Entry: e.incarnation,
		Value: int64(e.seq), Fence: count.Load()}
	if e.multicast {
		began.Kind, began.Count = history.MulticastBegan, uint32(e.from)
	}
	h.record(began)
	*life = e.incarnation
	if h.outage != nil {
		h.outage.explain(e, network, stream, 0)
	}
	count.Store(e.seq)
}
