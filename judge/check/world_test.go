package check

import (
	"cmp"
	"slices"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/history"
)

// A world makes up the history of a run as real nodes would leave it: every step keeps register,
// account, counters and streams as they would be kept. Each step takes a microsecond.
type world struct {
	Logs []*log
	Setting
	now     int64
	account int64
	inside  uint32
	read    []int64  // by node: what the account held when it entered
	past    []uint64 // by node: requests of its earlier incarnations
	isDown  []bool   // by node
}

// A log is what one node leaves, with its events.
type log struct {
	*history.NodeLog
	Events []history.Event
}

// history merges the logs.
func (w *world) history() *history.History {
	h := &history.History{}
	for _, l := range w.Logs {
		h.Logs = append(h.Logs, l.NodeLog)
		h.Events = append(h.Events, l.Events...)
	}
	slices.SortStableFunc(h.Events, func(a, b history.Event) int { return cmp.Compare(a.At, b.At) })
	return h
}

const (
	kindRequest = iota // the kinds of messages
	kindReply
)

const stampError = 100 // of each log

// newWorld returns a world of n clients with the costs of Ricart and Agrawala, in which the run has begun.
func newWorld(n int) *world {
	w := &world{read: make([]int64, n), past: make([]uint64, n), isDown: make([]bool, n)}
	w.Setting = Setting{
		Config: nodes.Config{N: n}, Algorithm: "made-up", Codec: nodes.NewCodec(toys),
		Cost: algorithm.Exactly(2 * float64(n-1)), CostKnown: true,
		Identities: []algorithm.Identity{{Says: "REPLY = REQUEST",
			Holds: func(_ nodes.Config, t algorithm.Tally) bool {
				return t.Sent["reply"] == t.Sent["request"]
			}}},
	}
	for id := nodes.None; int(id) < n; id++ {
		l := &history.NodeLog{Node: id, StampError: stampError}
		if id != nodes.None {
			l.SentTo, l.ReceivedFrom, l.MultiFrom = make([]uint64, n), make([]uint64, n), make([]uint64, n)
		}
		w.Logs = append(w.Logs, &log{NodeLog: l})
	}
	w.mark(history.Began)
	return w
}

// log returns the log of the latest process of a node.
func (w *world) log(id nodes.ID) (latest *log) {
	for _, l := range w.Logs {
		if l.Node == id {
			latest = l
		}
	}
	return latest
}

func (w *world) totals(id nodes.ID) *history.InstanceTotals { return w.log(id).Instance(0) }

func (w *world) add(id nodes.ID, e history.Event) {
	w.now += 1000
	e.At, e.Node = w.now, id
	l := w.log(id)
	l.Events = append(l.Events, e)
	l.Totals.EventCount++
}

func (w *world) mark(m uint32) { w.add(nodes.None, history.Event{Kind: history.Marked, Count: m}) }

func (w *world) ask(id nodes.ID) {
	t := w.totals(id)
	t.Requests++
	w.add(id, history.Event{
		Kind: history.Requested, Entry: w.entry(id), Value: w.now + 1000, Count: 1})
}

// entry returns the number of the latest request of a node.
func (w *world) entry(id nodes.ID) uint32 { return uint32(w.past[id] + w.totals(id).Requests) }

func (w *world) unissued(id nodes.ID, due int64) {
	w.add(id, history.Event{Kind: history.Unissued, Value: due})
}

func (w *world) enter(id nodes.ID) {
	t := w.totals(id)
	t.Entries++
	w.inside++
	w.read[id] = w.account
	w.add(id, history.Event{
		Kind: history.Entered, Entry: w.entry(id), Value: w.account, Count: w.inside})
}

func (w *world) exit(id nodes.ID) {
	t := w.totals(id)
	t.Exits++
	w.account = w.read[id] + 1
	w.inside--
	w.add(id, history.Event{Kind: history.Exited, Entry: w.entry(id), Value: w.account})
}

// send sends a message that arrives at once.
func (w *world) send(from, to nodes.ID, kind uint8) {
	f, t := w.log(from), w.log(to)
	w.totals(from).Kind(kind).Sent++
	f.SentTo[to]++
	w.pass(history.MessageRecord{Node: from, Peer: to, Kind: kind, Sent: true})
	if w.isDown[to] {
		return
	}
	if w.begins(from, to) {
		w.add(to, history.Event{Kind: history.LinkBegan, Count: uint32(from), Entry: f.Incarnation,
			Value: int64(f.SentTo[to]), Fence: t.ReceivedFrom[from]})
	}
	t.ReceivedFrom[from] = f.SentTo[to]
	w.pass(history.MessageRecord{Node: to, Peer: from, Kind: kind})
	w.totals(to).Kind(kind).Delivered++
}

// multicast sends a message that arrives at all other clients at once.
func (w *world) multicast(from nodes.ID, kind uint8) {
	w.log(from).Totals.MultiSent++
	w.pass(history.MessageRecord{Node: from, Peer: nodes.None, Kind: kind, Sent: true})
	for id := range nodes.ID(w.Config.N) {
		if id != from {
			w.totals(from).Kind(kind).Sent++
			w.log(id).MultiFrom[from]++
			w.totals(id).Kind(kind).Delivered++
			w.pass(history.MessageRecord{Node: id, Peer: from, Kind: kind})
		}
	}
}

func (w *world) pass(p history.MessageRecord) {
	w.now += 1000
	p.At = w.now
	l := w.log(p.Node)
	l.Trace = append(l.Trace, p)
	l.Totals.TraceNext++
}

// permission has a node ask all others and get their replies.
func (w *world) permission(id nodes.ID) {
	for peer := range nodes.ID(w.Config.N) {
		if peer != id {
			w.send(id, peer, kindRequest)
			w.send(peer, id, kindReply)
		}
	}
}

// turn is one whole entry of a node.
func (w *world) turn(id nodes.ID) {
	w.ask(id)
	w.permission(id)
	w.enter(id)
	w.exit(id)
}

// sound returns the world of a sound run: every node has two turns; the first is warm-up.
func sound(n int) *world {
	w := newWorld(n)
	w.round()
	w.mark(history.Measuring)
	w.round()
	w.end()
	return w
}

// measuring returns a world that has just begun to measure, two entries after its beginning.
func measuring() *world {
	w := newWorld(2)
	w.round()
	w.mark(history.Measuring)
	return w
}

func (w *world) round() {
	for id := range nodes.ID(w.Config.N) {
		w.turn(id)
	}
}

func (w *world) end() {
	w.mark(history.Stopped)
	w.mark(history.Rested)
}

// ring returns the world of a sound run in which a token goes round, twice for every entry.
func ring(n int) *world {
	w := newWorld(n)
	w.Circulates, w.Identities, w.Cost = true, nil, algorithm.Exactly(2*float64(n))
	w.mark(history.Measuring)
	lap := func() {
		for id := range nodes.ID(n) {
			w.handOn(id)
		}
	}
	for range 4 {
		w.ask(0)
		w.enter(0)
		w.exit(0)
		lap()
		lap()
	}
	lap() // this lap serves no client
	w.end()
	return w
}

// handOn passes the token on.
func (w *world) handOn(from nodes.ID) {
	w.add(from, history.Event{Kind: history.Sent, Count: kindRequest})
	w.send(from, (from+1)%nodes.ID(w.Config.N), kindRequest)
}

// together has nodes 0 and 1 inside at once, as an algorithm would that excludes nobody.
func (w *world) together() {
	w.ask(0)
	w.ask(1)
	w.permission(0)
	w.permission(1)
	w.enter(0)
	w.enter(1)
	w.exit(0)
	w.exit(1)
}

// eventsOf gives change each event of a kind.
func (w *world) eventsOf(kind history.Kind, change func(e *history.Event)) {
	for _, l := range w.Logs {
		for i := range l.Events {
			if l.Events[i].Kind == kind {
				change(&l.Events[i])
			}
		}
	}
}

// forget takes out the events of a kind.
func (w *world) forget(kind history.Kind, count uint32) {
	for _, l := range w.Logs {
		kept := l.Events[:0]
		for _, e := range l.Events {
			if e.Kind != kind || e.Count != count {
				kept = append(kept, e)
			}
		}
		l.Events = kept
	}
}

func (w *world) judge() Verdict { return Judge(w.history(), w.Setting) }

type (
	toyRequest struct{}
	toyReply   struct{}
)

var toys = []nodes.MessageKind{{Zero: toyRequest{}}, {Zero: toyReply{}}}

// hangsInside stalls the run: node 1 never leaves, and node 0 waits for it.
func (w *world) hangsInside() {
	w.ask(1)
	w.permission(1)
	w.enter(1)
	w.ask(0)
	w.mark(history.Stopped)
	w.mark(history.Stalled)
}

// change returns a sound run of three nodes that was changed.
func change(f func(w *world)) func() *world {
	return func() *world {
		w := sound(3)
		f(w)
		return w
	}
}
