package sim

import (
	"turnstile/internal/chance"
	"turnstile/internal/skew"
	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/lab"
	"turnstile/nodes/stall"
	"turnstile/nodes/workload"
)

// A world is the state of a simulated run.
type world struct {
	Options
	detectors
	dice       chance.Dice
	n          int // clients
	processes  []nodes.Process
	lab        lab.Lab
	ofResource []chance.Dice        // for what the clients of each resource do
	loads      []*workload.Workload // of the clients of each resource
	arrivals   []arrival            // of each client: of each node in turn, by resource
	choices    []uint32             // that the machines of each node have made, by instance
	perNode    int                  // instances
	lives      []uint32             // how often each node has gone down or come up again
	nets       []uint8              // of each kind
	heartbeats []bool               // which kinds only say that their sender is up
	packet     nodes.Packet         // the current one
	links      *nodes.Links         // nil if all messages take the same time
	weighs     bool                 // packets have Bytes
	buffer     []byte               // of an encoded message
	latency    int64                // that time
	queue      queue
	inboxes    []workload.Inbox[event] // of the nodes; nil: messages are handled as they arrive
	missed     map[nodes.ID][]missed   // of nodes that stand still
	resumed    nodes.Set               // nodes that have gone on at resumedAt
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
	keeps      uint64 // how many it keeps
	message    uint32 // the number of the latest that was sent, if all are recorded
	frozen     bool   // too many have been inside: the trace keeps what led to it
	steps      uint64 // messages handled and timers run out, those of failure detectors left out
	moved      uint64 // steps at the latest entry, or when somebody began to wait
	short      uint64 // steps without an entry that are no stall, whatever else happens
	last       uint64 // steps when the last request was over
	beats      uint64 // messages of failure detectors handled since then
	stopped    bool
	measuring  bool // Measuring is marked
	warmup     warmup
	ended      bool // Stopped is marked
	parked     bool
	expired    bool // no timer runs out any more
	stall      stall.Reports
	cut        error
}

// An arrival is the next request of a client, or the latest.
type arrival struct {
	over bool  // no request is planned any more
	made bool  // the request that was due latest was made
	due  int64 // when the latest request was due, or the next is
}

// asked is a request of the sequential load, made when all was at rest.
type asked struct {
	open bool
	node nodes.ID
	sent uint64 // messages before it
}

// How many of the latest messages of all nodes are kept, for the story of a violation, and if all are to be
// recorded: these take 200 MB. Both are powers of two.
const (
	traceLen  = 4096
	mostTrace = 1 << 23
)

// newWorld returns a run of valid options that has not begun.
func newWorld(o Options) *world {
	stack := o.Stack
	total := stack.Total()
	w := &world{Options: o, dice: chance.Dice(o.Seed), n: stack.N(), queue: newQueue(), resumedAt: -1,
		keeps: traceLen}
	if o.Trace {
		w.keeps = mostTrace
	}
	if w.Patience == 0 {
		w.Patience = plenty * uint64(total)
	}
	w.short = min(w.Patience, 100*uint64(total))
	w.lab = lab.New(stack, o.Workload.Work, w.record)
	for r := range w.lab.Resources {
		w.ofResource = append(w.ofResource, w.dice.Of(chance.ForResource, r))
		w.loads = append(w.loads, o.Workload.Of(r, len(w.lab.Resources)))
	}
	w.arrivals = make([]arrival, w.n*len(w.lab.Resources))
	w.perNode = len(stack.Instances())
	w.choices = make([]uint32, total*w.perNode)
	kinds := stack.Codec().Kinds()
	w.lives = make([]uint32, total)
	for kind := range kinds {
		k := stack.Codec().Kind(kind)
		w.nets, w.heartbeats = append(w.nets, k.Net), append(w.heartbeats, k.Heartbeat)
	}
	// No message arrives at the time it is sent, so that causes come before effects whatever the order of events
	// of one time.
	w.latency = max(1, int64(o.Latency))
	if o.Shaper != nil {
		w.links = nodes.NewLinks(total, o.Shaper, o.Reordering)
		weigher, may := o.Shaper.(nodes.Weigher)
		w.weighs = may && weigher.NeedsBytes()
	}
	w.detectors = newDetectors(stack)
	rt := nodes.NewRuntime(stack.Stack, w, w.choose)
	w.processes = make([]nodes.Process, total)
	if !o.Workload.Receive.IsZero() {
		w.inboxes = make([]workload.Inbox[event], total)
	}
	for id := range w.inboxes {
		w.inboxes[id] = workload.NewInbox[event](o.Workload.Receive, w.dice, nodes.ID(id))
	}
	for id := range w.processes {
		rt.Process(&w.processes[id], nodes.ID(id))
	}
	return w
}

// choose answers Env.Choose.
func (w *world) choose(id nodes.ID, instance int32, n int) int {
	count := &w.choices[int(id)*w.perNode+int(instance)]
	*count++
	return w.dice.Of(chance.ForChoice, int(instance)).Below(chance.At(chance.ForChoice, id, uint64(*count)), n)
}

// arrival returns the next or latest request of the client of a resource at a node.
func (w *world) arrival(id nodes.ID, r int32) *arrival {
	return &w.arrivals[int(id)*len(w.lab.Resources)+int(r)]
}

// A warmup follows what ends the warm-up of a run for a duration.
type warmup struct {
	cold     int  // clients that wait for one of their first workload.SteadyEntries entries
	extended bool // the time for it is over, and some clients are cold
}

// adaptive reports whether the clients decide how long the warm-up takes.
func (o *Options) adaptive() bool { return o.WarmupLimit > o.Warmup && o.Duration > 0 }

// planWindow plans what is measured, as far as it is known.
func (w *world) planWindow() {
	if w.Duration == 0 {
		return
	}
	w.plan(int64(w.Warmup), toMeasure, 0)
	if !w.adaptive() {
		w.plan(int64(w.Warmup+w.Duration), toStop, 0)
	}
}

// asksCold and servedCold count the clients that are cold, given the number of a request.
func (w *world) asksCold(request uint32) {
	if request <= workload.SteadyEntries {
		w.warmup.cold++
	}
}

func (w *world) servedCold(request uint32) {
	if request <= workload.SteadyEntries {
		w.warmup.cold--
	}
	if w.warmup.extended && w.warmup.cold == 0 {
		w.measure()
	}
}

// warm ends the warm-up whose time is over, unless clients are cold and it may go on.
func (w *world) warm() {
	switch {
	case w.measuring:
	case !w.adaptive():
		w.mark(history.Measuring)
	case w.warmup.cold == 0 || w.now >= int64(w.WarmupLimit):
		w.measure()
	default:
		w.warmup.extended = true
		w.plan(int64(w.WarmupLimit), toMeasure, 0)
	}
}

// measure begins to measure, and plans the end of that.
func (w *world) measure() {
	w.warmup.extended = false
	w.mark(history.Measuring)
	w.plan(w.now+int64(w.Duration), toStop, 0)
}
