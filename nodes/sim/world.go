package sim

import (
	"turnstile/internal/chance"
	"turnstile/nodes"
	"turnstile/nodes/history"
)

// A world is a simulated run under way.
type world struct {
	Options
	dice      chance.Dice
	codec     *nodes.Codec
	n         int // clients
	nodes     []*nodes.Node
	members   []member
	lives     []life
	tallies   []tally      // of each node in turn, by kind
	links     *nodes.Links // nil if all messages take the same time
	latency   int64        // that time
	queue     queue
	turn      nodes.ID       // who has the input at hand
	effects   []nodes.Effect // of it
	now       int64
	events    []history.Event
	entries   uint64
	inflight  int // messages on their way
	open      int // requests that are not over
	inside    int
	account   int64
	issued    uint64
	drawn     uint64 // sequential load: draws of who asks
	handled   uint64
	sent      uint64
	asked     asked // sequential load: the request under way
	trace     []history.MessageRecord
	passed    uint64 // messages ever put into the trace
	frozen    bool   // two have been inside: the trace keeps what led to it
	moved     uint64 // handled at the latest entry, or when somebody began to wait
	broken    nodes.Assumption
	stopped   bool
	measuring bool // that is marked
	ended     bool // and so is Stopped
	parked    bool
	stall     string
	cut       error
}

// asked is a request that was made with all at rest.
type asked struct {
	open bool
	node nodes.ID
	sent uint64 // messages before it
}

// traceLength is how many of the latest messages of all nodes are kept, for the story of a violation.
const traceLength = 4096

// A life counts how often a node has gone down or come up again.
type life uint32

// up reports whether the node is up.
func (l life) up() bool { return l%2 == 0 }

// incarnation returns how often it has come up again.
func (l life) incarnation() uint32 { return uint32(l / 2) }

// A member is what the world knows of one node beside its machine.
type member struct {
	over    bool // no request is planned any more
	count   uint32
	choices uint32
	due     int64 // when the latest request was due, or the next is
	made    bool  // that request was made
	money   int64 // what the account held at the latest enter
	saved   nodes.Message
	totals  totals
}

// totals count what a node does, but for its messages by kind, in few cache lines: of a hundred thousand
// nodes none stays in a cache from one event to the next.
type totals struct{ requests, entries, exits, resent, dropped, copied uint64 }

// A tally counts the messages of one kind at one node.
type tally struct{ sent, publishes, delivered uint64 }

func newWorld(o Options) *world {
	w := &world{Options: o, dice: chance.Dice(o.Seed), codec: o.Spec.Codec(), n: o.Config.N}
	if w.Patience == 0 {
		w.Patience = plenty * uint64(o.total())
	}
	w.members = make([]member, o.total())
	w.lives = make([]life, o.total())
	w.tallies = make([]tally, o.total()*w.codec.Kinds())
	for id := range nodes.ID(o.total()) {
		w.nodes = append(w.nodes, w.node(id))
	}
	// Nothing arrives at the moment it is sent, so that causes come before effects in any order of equal times.
	w.queue, w.latency = newQueue(), max(1, int64(o.Latency))
	if o.Shaper != nil {
		w.links = nodes.NewLinks(o.total(), w.codec.Kinds(), o.Shaper, o.Reordering)
	}
	return w
}

// node makes the node id, as it comes up.
func (w *world) node(id nodes.ID) *nodes.Node {
	m := &w.members[id]
	choose := func(n int) int {
		m.choices++
		return w.dice.Below(chance.At(chance.ForChoice, id, uint64(m.choices)), n)
	}
	part := nodes.Part{Machine: w.Spec.Machine(w.Config, id), Codec: w.codec}
	return nodes.NewNode(id, w.n, w.lives[id].incarnation(), choose, part)
}
