package sim

import (
	"turnstile/internal/chance"
	"turnstile/internal/skew"
	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/lab"
	"turnstile/nodes/port"
	"turnstile/nodes/stall"
	"turnstile/nodes/workload"
)

// A world is the state of a simulated run.
type world struct {
	Options
	detectors
	dice       chance.Dice
	n          int // number of clients
	processes  []nodes.Process
	lab        lab.Lab
	ofResource []chance.Dice        // dice of the clients of each resource
	loads      []*workload.Workload // by resource: the workload of its clients
	arrivals   []arrival            // the requests of clients, by node, then resource
	choices    []uint32             // how many choices machines have drawn, by node, then instance
	perNode    int                  // number of instances at each node
	lives      []uint32             // by node: how often it went down or came up again (even: it is up)
	nets       []uint8              // by kind of message: the network that carries it
	heartbeats []bool               // by kind of message: whether it is a heartbeat
	packet     nodes.Packet         // the packet that is sent now
	links      *nodes.Links         // nil: every message takes the time in the field latency
	weighs     bool                 // the Shaper needs the sizes of packets
	buffer     []byte               // for an encoded message
	latency    int64                // of all messages, if links is nil
	queue      queue
	inboxes    []workload.Inbox[event] // by node; nil: messages are handled as they arrive
	missed     map[nodes.ID][]missed   // by paused node: the events that it missed
	resumed    nodes.Set               // nodes that resumed at resumedAt
	resumedAt  int64
	clocks     map[nodes.ID]skew.Clock // by node: its clock, if a fault has set it
	turn       nodes.ID                // the node that handles the current input
	hook       port.Hook               // the event that the fault driver looks at
	now        int64
	folds      []history.Fold
	moment     []history.Event // events of the current time, not given to folds yet
	entries    uint64
	inflight   int // messages on their way
	open       int // requests that are issued and not over
	waiting    int // requests that are issued but have not entered
	issued     uint64
	drawn      uint64 // sequential load: nodes drawn so far
	handled    uint64
	sent       uint64 // messages sent, except heartbeats
	dropped    uint64
	asked      asked                   // sequential load: the current request
	trace      []history.MessageRecord // with Options.Messages: only messages of the current time
	traced     uint64                  // messages ever put into the trace
	keeps      uint64                  // capacity of the trace
	numbers    bool                    // all messages are recorded, with their numbers
	arriving   uint32                  // number of the message that the current input is, if numbers is set
	message    uint32                  // number of the latest message sent, if numbers is set
	frozen     bool                    // exclusion was violated: the trace keeps the messages before it
	steps      uint64                  // messages and timers handled, except by failure detectors
	moved      uint64                  // w.steps at the latest entry, or when a client began to wait
	short      uint64                  // after so few steps without an entry the run never counts as stalled
	last       uint64                  // w.steps when the last request was over
	beats      uint64                  // messages of failure detectors handled since w.moved was set
	stopped    bool                    // no more requests are issued
	measuring  bool                    // the event Measuring is recorded
	warmup     warmup
	ended      bool // the event Stopped is recorded
	parked     bool // nodes handle no more messages, timers or campaigns
	expired    bool // timers no longer run out
	stall      stall.Reports
	cut        error
}

// An arrival is the next request of a client or, if made is set, its latest request.
type arrival struct {
	over bool  // no request is planned any more
	made bool  // the request has been made
	due  int64 // when the request is or was due
}

// asked is a request of the sequential load, made when all nodes were at rest.
type asked struct {
	open bool
	node nodes.ID
	sent uint64 // number of messages sent before the request
}

// How many of the latest messages of all nodes the trace keeps: traceLen by default, for the story of a
// violation; mostTrace with Options.Trace, which takes 200 MB. Both are powers of two.
const (
	traceLen  = 4096
	mostTrace = 1 << 23
)

// newWorld returns a run of valid options that has not begun.
func newWorld(o Options) *world {
	stack := o.Stack
	total := stack.Total()
	w := &world{Options: o, dice: chance.Dice(o.Seed), n: stack.N(), queue: newQueue(), resumedAt: -1,
		keeps: traceLen, numbers: o.Trace || o.Messages != nil || o.Schedule != nil}
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
	// Messages take at least 1 ns, so causes come before effects in any order of the events of one time.
	w.latency = max(1, int64(o.Latency))
	if o.Shaper != nil {
		w.links = nodes.NewLinks(total, o.Shaper, o.Reordering)
		weigher, may := o.Shaper.(nodes.Weigher)
		w.weighs = may && weigher.NeedsBytes()
	}
	w.detectors = newDetectors(stack)
	rt := nodes.NewRuntime(stack.Stack, w, w.choose)
	if o.Schedule != nil {
		rt.TellBetween(w.between)
	}
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

// choose draws the answer to Env.Choose.
func (w *world) choose(id nodes.ID, instance int32, n int) int {
	count := &w.choices[int(id)*w.perNode+int(instance)]
	*count++
	dice := w.dice.Of(chance.ForChoice, int(instance))
	answer := dice.Below(chance.At(chance.ForChoice, id, uint64(*count)), n)
	w.Schedule.Choose(instance, answer)
	return answer
}

// arrival returns the arrival of the client of a resource at a node.
func (w *world) arrival(id nodes.ID, r int32) *arrival {
	return &w.arrivals[int(id)*len(w.lab.Resources)+int(r)]
}

// A warmup is the state of an adaptive warm-up.
type warmup struct {
	cold     int  // number of clients that wait for one of their first workload.SteadyEntries entries
	extended bool // Warmup is over, but some clients are cold
}

// adaptive reports whether the clients decide how long the warm-up takes.
func (o *Options) adaptive() bool { return o.WarmupLimit > o.Warmup && o.Duration > 0 }

// planWindow plans when measuring begins and, unless the warm-up is adaptive, when it ends.
func (w *world) planWindow() {
	if w.Duration == 0 {
		return
	}
	w.plan(int64(w.Warmup), toMeasure, 0)
	if !w.adaptive() {
		w.plan(int64(w.Warmup+w.Duration), toStop, 0)
	}
}

// asksCold updates the number of cold clients when a request begins, and servedCold when it is served.
// request is its number among the requests of its client.
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

// warm is called when the time of the warm-up is over. It ends the warm-up, or extends it if clients are
// cold.
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

// measure begins measuring, and plans its end.
func (w *world) measure() {
	w.warmup.extended = false
	w.mark(history.Measuring)
	w.plan(w.now+int64(w.Duration), toStop, 0)
}
