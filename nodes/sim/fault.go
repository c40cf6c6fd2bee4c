package sim

import (
	"turnstile/bench/history"
	"turnstile/chaos"
	"turnstile/nodes"
)

// crash takes a node down: what was open at it is over, and what is on its way there will be lost.
func (w *world) crash(id nodes.ID) {
	m := &w.members[id]
	if !w.lives[id].up() {
		return
	}
	w.lives[id]++
	w.broke(nodes.NoCrash)
	w.record(history.Event{Kind: history.Crashed, Entry: m.count, Node: id})
	switch w.nodes[id].Client(0) {
	case nodes.Inside:
		w.inside--
		w.open--
	case nodes.Waiting:
		w.open--
	}
}

// restart brings a node up anew. Its client begins again.
func (w *world) restart(id nodes.ID, amnesia bool) {
	m := &w.members[id]
	if w.lives[id].up() {
		return
	}
	w.lives[id]++
	if amnesia {
		m.saved = nil
	}
	w.record(history.Event{Kind: history.Restarted, Count: w.lives[id].incarnation(), Node: id})
	w.nodes[id] = w.node(id)
	if _, remembers := w.nodes[id].Machine(0).(nodes.Recoverer); amnesia || !remembers {
		w.broke(nodes.NoAmnesia)
	}
	w.feed(id, &nodes.Input{What: nodes.Recover, Message: m.saved})
	if int(id) < w.n {
		w.plan(id, w.now, w.now)
	}
}

// links decides when messages arrive.
type links struct {
	shaper     chaos.Shaper // nil if all messages take the same time
	constant   int64        // that time
	overtaking bool
	overtook   bool // a message is to arrive before one that was sent earlier
	nodes      uint64
	dense      []link          // by sender and receiver, for a cluster of moderate size
	sparse     map[uint64]link // for a large one, whose links are mostly idle
	delays     chaos.Fate
	arrivals   []int64
}

// A link is what has to be remembered of one.
type link struct {
	count uint64 // of messages sent
	last  int64  // when the latest arrives
}

// mostDense is up to how many links there is an array of them.
const mostDense = 1 << 20

func newLinks(o Options) links {
	total := uint64(o.total())
	l := links{shaper: o.shaper(), overtaking: o.Overtaking, nodes: total,
		// Nothing arrives at the moment it is sent, so that causes come before effects in any order of
		// equal times.
		constant: max(1, int64(o.Latency.Mean()))}
	if l.shaper == nil {
		return l
	}
	if total*total <= mostDense {
		l.dense = make([]link, total*total)
	} else {
		l.sparse = map[uint64]link{}
	}
	return l
}

// fate returns when the copies of a message that is sent now arrive. It is valid until the next call.
func (l *links) fate(from, to nodes.ID, kind uint8, now int64) []int64 {
	at := uint64(from)*l.nodes + uint64(to)
	var k link
	if l.dense != nil {
		k = l.dense[at]
	} else {
		k = l.sparse[at]
	}
	k.count++
	l.delays = l.shaper.Shape(chaos.Link{From: from, To: to}, kind, k.count, l.delays[:0])
	l.arrivals = l.arrivals[:0]
	for _, d := range l.delays {
		arrival := now + max(1, int64(d))
		if !l.overtaking {
			arrival = max(arrival, k.last)
		}
		l.overtook = l.overtook || arrival < k.last
		k.last = max(k.last, arrival)
		l.arrivals = append(l.arrivals, arrival)
	}
	if l.dense != nil {
		l.dense[at] = k
	} else {
		l.sparse[at] = k
	}
	return l.arrivals
}
