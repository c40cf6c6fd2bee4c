package sim

import (
	"turnstile/internal/chance"
	"turnstile/internal/skew"
	"turnstile/nodes"
	"turnstile/nodes/history"
)

// A world is the state of a simulated run.
type world struct {
	Options
	detectors
	dice       chance.Dice
	stack      *nodes.Stack
	n          int // clients
	processes  []nodes.Process
	resources  []resource   // of each instance that is a mutex
	resource   []int32      // of an instance: its number among these, or -1
	clients    []client     // of each node in turn, by resource
	choices    []uint32     // that the machines of each node have made, by instance
	totals     []totals     // of each node in turn, by instance
	tallies    []tally      // of each node in turn, by instance and kind
	lives      []uint32     // how often each node has gone down or come up again
	kinds      int          // of messages
	nets       []uint8      // of each kind
	heartbeats []bool       // which kinds only say that their sender is up
	circulates []bool       // of each instance
	packet     nodes.Packet // the current one
	links      *nodes.Links // nil if all messages take the same time
	weighs     bool         // packets have Bytes
	buffer     []byte       // of an encoded message
	latency    int64        // that time
	queue      queue
	missed     map[nodes.ID][]missed // of nodes that stand still
	resumed    nodes.Set             // nodes that have gone on at resumedAt
	resumedAt  int64
	clocks     map[nodes.ID]skew.Clock // those that were set
	turn       nodes.ID                // the node that handles the current input
	now        int64
	folds      []history.Fold
	moment     []history.Event // what has happened at one time
	entries    uint64
	inflight   int // messages on their way
	open       int // requests that are not over
	waiting    int // those of them that are not inside
	issued     uint64
	drawn      uint64 // sequential load: nodes drawn so far
	handled    uint64
	sent       uint64 // messages, heartbeats left out
	dropped    uint64
	asked      asked // sequential load: the current request
	trace      []history.MessageRecord
	traced     uint64 // messages ever put into the trace
	frozen     bool   // too many have been inside: the trace keeps what led to it
	steps      uint64 // messages handled and timers run out, those of failure detectors left out
	moved      uint64 // steps at the latest entry, or when somebody began to wait
	last       uint64 // steps when the last request was over
	beats      uint64 // messages of failure detectors handled since then
	broken     nodes.Assumption
	stopped    bool
	measuring  bool // Measuring is marked
	warmup     warmup
	ended      bool // Stopped is marked
	parked     bool
	expired    bool // no timer runs out any more
	stall      string
	cut        error
}

// A resource is what the clients of one instance share.
type resource struct {
	instance int32
	capacity int // in units
	taken    int // units
	account  int64
	fenced   bool        // it refuses what is written under lower fence numbers
	fence    uint64      // the highest that has entered
	dice     chance.Dice // for what its clients do
}

// A client is what the world knows of one client beside its machine.
type client struct {
	over bool // no request is planned any more
	made bool // the request that was due latest was made
	// It is in its critical section, or has left it, and the machine may not know yet. A machine whose node goes
	// down before its grant is done knows more than its client.
	inside, left bool
	count        uint32
	due          int64  // when the latest request was due, or the next is
	money        int64  // what the account held at the latest enter
	fence        uint64 // under which that was
}

// asked is a request of the sequential load, made when all was at rest.
type asked struct {
	open bool
	node nodes.ID
	sent uint64 // messages before it
}

// traceLen is how many of the latest messages of all nodes are kept, for the story of a violation.
const traceLen = 4096

// totals count what an instance of a node does, except its messages by kind. They take few cache lines: with
// 100,000 nodes none stays in a cache from one event to the next.
type totals struct{ requests, entries, exits, resent, dropped, copied uint64 }

// A tally counts the messages of one kind of an instance of one node.
type tally struct{ sent, publishes, delivered uint64 }

// newWorld returns a run of valid options that has not begun.
func newWorld(o Options) *world {
	stack, _ := o.Stack() // the options are valid
	total := stack.Total()
	w := &world{Options: o, dice: chance.Dice(o.Seed), stack: stack, n: stack.N(), queue: newQueue(),
		resumedAt: -1}
	if w.Patience == 0 {
		w.Patience = plenty * uint64(total)
	}
	instances := len(stack.Instances())
	w.resource = make([]int32, instances)
	for i, in := range stack.Instances() {
		w.resource[i] = -1
		w.circulates = append(w.circulates, in.Spec.Circulates)
		if r := len(w.resources); r < len(stack.Mutexes()) && stack.Mutexes()[r] == int32(i) {
			w.resource[i] = int32(r)
			w.resources = append(w.resources, resource{instance: int32(i), capacity: in.Config.Capacity(),
				fenced: stack.Fenced(int32(i)), dice: w.dice.Of(chance.ForResource, r)})
		}
	}
	w.clients = make([]client, w.n*len(w.resources))
	w.choices = make([]uint32, total*instances)
	w.totals = make([]totals, total*instances)
	w.kinds = stack.Codec().Kinds()
	w.tallies = make([]tally, total*instances*w.kinds)
	w.lives = make([]uint32, total)
	for kind := range w.kinds {
		k := stack.Codec().Kind(kind)
		w.nets, w.heartbeats = append(w.nets, k.Net), append(w.heartbeats, k.Heartbeat)
	}
	// No message arrives at the time it is sent, so that causes come before effects whatever the order of events
	// of one time.
	w.latency = max(1, int64(o.Latency))
	if o.Shaper != nil {
		w.links = nodes.NewLinks(total, w.kinds, o.Shaper, o.Reordering)
		weigher, may := o.Shaper.(nodes.Weigher)
		w.weighs = may && weigher.NeedsBytes()
	}
	w.detectors = newDetectors(stack)
	rt := nodes.NewRuntime(stack, w, w.choose)
	w.processes = make([]nodes.Process, total)
	for id := range w.processes {
		rt.Process(&w.processes[id], nodes.ID(id))
	}
	return w
}

// choose answers Env.Choose.
func (w *world) choose(id nodes.ID, instance int32, n int) int {
	count := &w.choices[w.at(id, instance)]
	*count++
	return w.dice.Of(chance.ForChoice, int(instance)).Below(chance.At(chance.ForChoice, id, uint64(*count)), n)
}

// at returns the place of an instance of a node in totals and choices.
func (w *world) at(id nodes.ID, instance int32) int { return int(id)*len(w.resource) + int(instance) }

func (w *world) tally(id nodes.ID, instance int32, kind uint8) *tally {
	return &w.tallies[w.at(id, instance)*w.kinds+int(kind)]
}

// client returns the client of a resource at a node.
func (w *world) client(id nodes.ID, r int32) *client {
	return &w.clients[int(id)*len(w.resources)+int(r)]
}
