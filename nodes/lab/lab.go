// Package lab holds the clients, resources and counters of a cluster in one process, and records their events
// in a history. [turnstile/nodes/sim] and [turnstile/nodes/replay] decide what happens next and when; a [Lab]
// records it.
package lab

import (
	"slices"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/history"
	"turnstile/nodes/workload"
)

// Fence returns the fence number of the latest entry of the client.
func (c *client) Fence() uint64 { return c.fence }

// A Lab holds the clients, resources and counters of a cluster, whose nodes are made of one stack.
type Lab struct {
	Resources []resource // the resource of each instance that is a mutex, in their order
	Broken    nodes.Assumption

	work       workload.Work       // the work that clients do inside
	stints     []workload.Stint    // indexed as clients; nil if the work has no steps
	record     func(history.Event) // stamps an event and keeps it
	total, n   int                 // number of all nodes; number of nodes with clients
	kinds      int                 // number of message kinds
	resource   []int32             // by instance: its number in Resources, or -1
	circulates []bool              // by instance: its messages circulate
	clients    []client            // by node, then resource
	totals     []totals            // by node, then instance
	tallies    []tally             // by node, then instance, then kind
}

// A resource is what the clients of one instance share.
type resource struct {
	Instance int32
	Capacity int    // capacity in units
	Taken    int    // units taken
	Fenced   bool   // it refuses writes under lower fence numbers
	Fence    uint64 // the highest fence number under which a client has entered
	account  int64
	words    workload.Words
}

// A client is one client of a resource.
type client struct {
	Count uint32 // number of its requests
	// Inside: the client is in its critical section. Left: it has left, but the machine may not know yet. If the
	// node goes down before a grant is carried out, the machine counts its client inside, but Inside is false.
	Inside, Left bool
	tried        int64  // when its latest request was made, or made again
	money        int64  // the account at its latest entry
	fence        uint64 // fence number of its latest entry
}

// totals are the counters of an instance of a node, except messages by kind. They are compact, since with
// 100,000 nodes none stays in a cache from one event to the next.
type totals struct{ requests, entries, exits, resent, dropped, copied uint64 }

// A tally counts the messages of one kind of an instance of one node.
type tally struct{ sent, publishes, delivered uint64 }

// New returns the lab of a cluster of stack whose clients do work inside. It passes its events to record,
// which sets their times.
func New(stack *algorithm.Stack, work workload.Work, record func(history.Event)) Lab {
	total, instances := stack.Total(), len(stack.Instances())
	l := Lab{record: record, work: work, total: total, n: stack.N(), kinds: stack.Codec().Kinds(),
		resource: make([]int32, instances)}
	for i, in := range stack.Instances() {
		l.resource[i] = -1
		l.circulates = append(l.circulates, in.Circulates)
		if r := len(l.Resources); r < len(stack.Mutexes()) && stack.Mutexes()[r] == int32(i) {
			l.resource[i] = int32(r)
			l.Resources = append(l.Resources, resource{Instance: int32(i), Capacity: in.Config.Capacity(),
				Fenced: stack.Fenced(int32(i))})
		}
	}
	if work.Steps() > 0 {
		l.stints = make([]workload.Stint, stack.N()*len(l.Resources))
	}
	l.clients = make([]client, stack.N()*len(l.Resources))
	l.totals = make([]totals, total*instances)
	l.tallies = make([]tally, total*instances*l.kinds)
	return l
}

// Clone returns a copy of the lab that passes its events to record. Events of one do not change the other.
func (l *Lab) Clone(record func(history.Event)) Lab {
	c := *l
	c.record = record
	c.Resources, c.clients = slices.Clone(l.Resources), slices.Clone(l.clients)
	c.stints = slices.Clone(l.stints)
	c.totals, c.tallies = slices.Clone(l.totals), slices.Clone(l.tallies)
	return c
}

// Resource returns the number of the resource of an instance that is a mutex.
func (l *Lab) Resource(instance int32) int32 { return l.resource[instance] }

// Client returns the client of resource r at a node that has clients.
func (l *Lab) Client(id nodes.ID, r int32) *client {
	return &l.clients[int(id)*len(l.Resources)+int(r)]
}

// clientOf returns the client of an instance at a node, and its resource.
func (l *Lab) clientOf(id nodes.ID, instance int32) (*client, *resource) {
	r := l.resource[instance]
	return l.Client(id, r), &l.Resources[r]
}

// totalsOf returns the counters of an instance of a node.
func (l *Lab) totalsOf(id nodes.ID, instance int32) *totals {
	return &l.totals[int(id)*len(l.resource)+int(instance)]
}

// tally returns the counters of a kind of message of an instance of a node.
func (l *Lab) tally(id nodes.ID, instance int32, kind uint8) *tally {
	return &l.tallies[(int(id)*len(l.resource)+int(instance))*l.kinds+int(kind)]
}

// Deliver counts a message that a node receives.
func (l *Lab) Deliver(to nodes.ID, instance int32, kind uint8) {
	l.tally(to, instance, kind).delivered++
}

// Drop counts a lost message for an instance of a node.
func (l *Lab) Drop(to nodes.ID, instance int32) { l.totalsOf(to, instance).dropped++ }

// Copy counts copies of a message for an instance of a node.
func (l *Lab) Copy(to nodes.ID, instance int32, copies int) {
	l.totalsOf(to, instance).copied += uint64(copies)
}

// Request records that a client asks for units of a resource. The request was due at time due.
func (l *Lab) Request(id nodes.ID, instance int32, due int64, units int32) {
	c, _ := l.clientOf(id, instance)
	c.Count++
	c.Left, c.tried = false, due
	l.totalsOf(id, instance).requests++
	l.record(history.Event{Kind: history.Requested, Entry: c.Count, Value: due, Count: uint32(units),
		Node: id, Instance: uint16(instance)})
}

// Enter carries out a grant: the client enters its critical section.
func (l *Lab) Enter(p *nodes.Process, e *nodes.Effect) {
	c, res := l.clientOf(p.ID(), e.Instance)
	res.Taken += p.Units(e.Instance)
	c.money, c.fence, c.Inside = res.account, e.Number, true
	res.Fence = max(res.Fence, e.Number)
	l.totalsOf(p.ID(), e.Instance).entries++
	if stint := l.Stint(p.ID(), e.Instance); stint != nil {
		*stint = l.work.Begin(p.ID(), uint64(c.Count), res.words)
	}
	l.record(history.Event{Kind: history.Entered, Entry: c.Count, Value: c.money, Fence: e.Number,
		Count: uint32(res.Taken), Node: p.ID(), Instance: uint16(e.Instance)})
}

// Stint returns the work of a client in its latest critical section; nil: it has no steps.
func (l *Lab) Stint(id nodes.ID, instance int32) *workload.Stint {
	if l.stints == nil {
		return nil
	}
	return &l.stints[int(id)*len(l.Resources)+int(l.resource[instance])]
}

// Step does the next step of the work of a client that is inside. It reports whether there was one.
func (l *Lab) Step(p *nodes.Process, instance int32) bool {
	stint := l.Stint(p.ID(), instance)
	if stint == nil || stint.Over() {
		return false
	}
	_, res := l.clientOf(p.ID(), instance)
	word, value := stint.Next()
	stint.Swapped(res.words[word])
	res.words[word] = value
	return true
}

// Exit ends the critical section of a client that is done. It reports whether the resource refuses the
// client's write, since another client has entered under a higher fence number.
func (l *Lab) Exit(p *nodes.Process, instance int32) (refused bool) {
	c, res := l.clientOf(p.ID(), instance)
	exited := history.Event{Kind: history.Exited}
	if refused = res.Fenced && c.fence < res.Fence; refused {
		exited.Count = 1
	} else {
		res.account = c.money + 1
	}
	l.leave(p, instance, exited)
	return refused
}

// Account returns the account of the resource of a client, and what the client read of it when it entered.
func (l *Lab) Account(id nodes.ID, instance int32) (now, read int64) {
	c, res := l.clientOf(id, instance)
	return res.account, c.money
}

// Revoke ends a critical section that the machine has lost. The client writes nothing.
func (l *Lab) Revoke(p *nodes.Process, instance int32) {
	l.leave(p, instance, history.Event{Kind: history.Revoked})
}

// Inform records what a client hears of its lock, from the effect. The first try of a request counts as made
// when the request was due.
func (l *Lab) Inform(p *nodes.Process, e *nodes.Effect, now int64) {
	c, _ := l.clientOf(p.ID(), e.Instance)
	heard := history.Event{Entry: c.Count, Node: p.ID(), Instance: uint16(e.Instance)}
	switch e.Op {
	case nodes.OpTellLost:
		heard.Kind = history.ToldLost
		l.record(heard)
	case nodes.OpRefuse:
		heard.Kind, heard.Value = history.TryRefused, c.tried
		l.record(heard)
	case nodes.OpRetry:
		c.tried = now
	}
}

// leave records that a critical section is over, and how.
func (l *Lab) leave(p *nodes.Process, instance int32, how history.Event) {
	c, res := l.clientOf(p.ID(), instance)
	c.Inside, c.Left = false, true
	l.totalsOf(p.ID(), instance).exits++
	res.Taken -= p.Units(instance)
	if stint := l.Stint(p.ID(), instance); stint != nil {
		how.Work(stint.Done, stint.Spoilt)
	}
	how.Entry, how.Value, how.Node, how.Instance = c.Count, res.account, p.ID(), uint16(instance)
	l.record(how)
}

// Crash takes the clients of a node that goes down out of their critical sections, and records the crash.
// Call it before the process goes down.
func (l *Lab) Crash(p *nodes.Process) {
	l.Break(nodes.NoCrash)
	crashed := history.Event{Kind: history.Crashed, Node: p.ID()}
	for r := range l.Resources {
		if int(p.ID()) >= l.n {
			break
		}
		c, res := l.Client(p.ID(), int32(r)), &l.Resources[r]
		if r == 0 {
			crashed.Entry = c.Count
		}
		if c.Inside {
			res.Taken -= p.Units(res.Instance)
			c.Inside = false
		}
	}
	l.record(crashed)
}

// Restart records that a node comes up again, and reports whether it loses state that its peers may rely on.
// Call it before the process comes up.
func (l *Lab) Restart(p *nodes.Process, amnesia bool) (forgets bool) {
	if forgets = p.Forgets(amnesia); forgets {
		l.Break(nodes.NoAmnesia)
	}
	l.record(history.Event{Kind: history.Restarted, Count: p.Incarnation() + 1, Node: p.ID()})
	return forgets
}

// Campaign records that a node is told to campaign.
func (l *Lab) Campaign(id nodes.ID, instance int32) {
	l.record(history.Event{Kind: history.Campaigned, Node: id, Instance: uint16(instance)})
}

// Elect records the leader that a node has declared, from the effect.
func (l *Lab) Elect(id nodes.ID, e *nodes.Effect) {
	l.record(history.Event{Kind: history.Elected, Node: id, Instance: uint16(e.Instance), Count: uint32(e.To),
		Value: int64(e.Number)})
}

// Suspect records that the failure detector of a node suspects another, or trusts it again.
func (l *Lab) Suspect(by, of nodes.ID, instance int32, suspects bool) {
	kind := history.Trusted
	if suspects {
		kind = history.Suspected
	}
	l.record(history.Event{Kind: kind, Node: by, Instance: uint16(instance), Count: uint32(of)})
}

// Send counts a message by its deliveries and its publishes, and records it if it circulates.
func (l *Lab) Send(id nodes.ID, e *nodes.Effect, deliveries, publishes int) {
	t := l.tally(id, e.Instance, e.Kind)
	t.sent += uint64(deliveries)
	t.publishes += uint64(publishes)
	if e.Resend {
		l.totalsOf(id, e.Instance).resent += uint64(deliveries)
	}
	for i := 0; l.circulates[e.Instance] && i < deliveries; i++ {
		l.record(history.Event{Kind: history.Sent, Count: uint32(e.Kind), Node: id, Instance: uint16(e.Instance)})
	}
}

// Break records that an assumption about the system is broken.
func (l *Lab) Break(need nodes.Assumption) {
	if l.Broken&need == need {
		return
	}
	l.Broken |= need
	l.record(history.Event{Kind: history.AssumptionBroken, Value: int64(l.Broken), Node: nodes.None})
}

// Observe records an observation about a node, such as history.Quiet about nodes.None.
func (l *Lab) Observe(id nodes.ID, what uint32) {
	l.record(history.Event{Kind: history.Observed, Count: what, Node: id})
}

// Mark records that the run has reached a point such as history.Began, with a value.
func (l *Lab) Mark(mark uint32, value int64) {
	l.record(history.Event{Kind: history.Marked, Count: mark, Value: value, Node: nodes.None})
}

// Logs returns what the logs of processes would hold beside events, with the log of the orchestrator first.
// trace yields messages in the order of time.
func (l *Lab) Logs(trace func(yield func(history.MessageRecord) bool)) []*history.NodeLog {
	instances := len(l.resource)
	all := make([]history.NodeLog, l.total+1) // in few allocations: there may be 100,000 nodes
	totals := make([]history.InstanceTotals, len(l.totals))
	tallies := make([]history.KindTotals, len(l.tallies))
	for i, k := range l.tallies {
		tallies[i] = history.KindTotals{Sent: k.sent, Publishes: k.publishes, Delivered: k.delivered}
	}
	for i, t := range l.totals {
		totals[i] = history.InstanceTotals{Requests: t.requests, Entries: t.entries, Exits: t.exits,
			Resent: t.resent, Dropped: t.dropped, Copied: t.copied,
			Kinds: tallies[i*l.kinds : (i+1)*l.kinds : (i+1)*l.kinds]}
	}
	logs := make([]*history.NodeLog, 1, len(all))
	logs[0] = &all[0]
	all[0].Node = nodes.None
	for id := range l.total {
		n := &all[id+1]
		n.Node, n.Instances = nodes.ID(id), totals[id*instances:(id+1)*instances]
		logs = append(logs, n)
	}
	for m := range trace {
		n := logs[m.Node+1]
		n.Trace = append(n.Trace, m)
		n.Totals.TraceNext++
	}
	return logs
}
