package nodes

import "time"

// A Packet is one message on a link, the one-way path between two nodes, as a Shaper sees it.
type Packet struct {
	From, To ID
	Instance int32
	Kind     uint8
	Net      uint8  // the network that carries messages of its kind
	Number   uint64 // number of the packet on its link, from 1 (see Links.Restart)
	Bytes    int    // size of the encoded message; 0 in a simulation, unless a Weigher needs it
	At       int64  // when the link takes it, in the run's nanoseconds

	// Loose is set by a shaper if the packet may overtake others of its link, and be overtaken.
	Loose bool
}

// A Fate has one extra delay for each copy of a packet that arrives: empty, the packet is lost; {0},
// untouched; {0, d}, duplicated; {d}, late.
type Fate []time.Duration

// A Shaper decides the fate of each packet, once: in the simulator when the message is sent; in a real run in
// the receiving host, between broker and inbox. So a message in flight survives the crash of its sender and
// is lost with its receiver, as on a real network.
type Shaper interface {
	// Shape appends the fate of p to fate. It does not keep p.
	Shape(p *Packet, fate Fate) Fate
}

// A Weigher is a shaper that may need to know how many bytes packets have.
type Weigher interface{ NeedsBytes() bool }

// Links numbers the packets of a cluster, asks a Shaper for their fates, and keeps the order of each link.
// Receiving hosts and the simulator share this code, so a seed means the same to both.
type Links struct {
	shaper  Shaper
	reorder bool
	nodes   uint64
	dense   []link          // the links by sender and receiver, in a cluster of moderate size
	sparse  map[uint64]link // the same in a large cluster, where most links are idle
	lives   map[ID]uint32   // the incarnations of receivers that have restarted
	fate    Fate
	times   []int64
}

// A link is the state of one link.
type link struct {
	count  uint64 // number of packets so far
	last   int64  // latest arrival among packets that keep the order
	latest int64  // latest arrival among all packets
}

// mostDense is the highest number of links that are kept in an array.
const mostDense = 1 << 19

// NewLinks returns the links between total nodes, clients and servers. With reorder, the packets of a link
// may arrive in another order than sent.
func NewLinks(total int, shaper Shaper, reorder bool) *Links {
	l := &Links{shaper: shaper, reorder: reorder, nodes: uint64(total)}
	if links := l.nodes * l.nodes; links <= mostDense {
		l.dense = make([]link, links)
	} else {
		l.sparse = map[uint64]link{}
	}
	return l
}

// Reshape replaces the shaper. Packet numbers and the order of links continue.
func (l *Links) Reshape(shaper Shaper) { l.shaper = shaper }

// Restart forgets the packets on their way to a node that restarts in an incarnation, from 1. Packets to it
// are numbered from incarnation * 2^32 + 1: with the old numbers a shaper would draw the old fates again.
func (l *Links) Restart(to ID, incarnation uint32) {
	if l.lives == nil {
		l.lives = map[ID]uint32{}
	}
	l.lives[to] = incarnation
	for from := range l.nodes {
		if at := from*l.nodes + uint64(to); l.dense != nil {
			l.dense[at] = link{}
		} else {
			delete(l.sparse, at)
		}
	}
}

// Take numbers a packet and returns the arrival times of its copies, in the run's nanoseconds, none before
// p.At. It reports whether a copy arrives before a packet that was taken earlier. The times are valid until
// the next call.
func (l *Links) Take(p *Packet) (arrivals []int64, reordered bool) {
	at := uint64(p.From)*l.nodes + uint64(p.To)
	var k link
	if l.dense != nil {
		k = l.dense[at]
	} else {
		k = l.sparse[at]
	}
	if k.count == 0 && l.lives != nil {
		k.count = uint64(l.lives[p.To]) << 32
	}
	k.count++
	p.Number = k.count
	p.Loose = l.reorder
	l.fate = l.shaper.Shape(p, l.fate[:0])
	l.times = l.times[:0]
	for _, d := range l.fate {
		arrival := p.At + max(0, int64(d))
		if !p.Loose {
			arrival = max(arrival, k.last)
		}
		reordered = reordered || arrival < k.latest
		k.latest = max(k.latest, arrival)
		if !p.Loose {
			k.last = max(k.last, arrival)
		}
		l.times = append(l.times, arrival)
	}
	if l.dense != nil {
		l.dense[at] = k
	} else {
		l.sparse[at] = k
	}
	return l.times, reordered
}
