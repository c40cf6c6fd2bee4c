package nodes

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"iter"
	"slices"
)

// ClientState is the state of a client, which goes from idle to waiting to inside, and back to idle.
type ClientState uint8

// The states of a client.
const (
	Idle ClientState = iota
	Waiting
	Inside
)

func (s ClientState) String() string { return [...]string{"idle", "waiting", "inside"}[s] }

// A Node is what one process holds: the machines of a stack, each with its client and its timers.
type Node struct {
	stack       *Stack
	id          ID
	incarnation uint32
	effects     []Effect   // effects of the current input
	first       instance   // instance 0, often the only one: inline, so that a node is one piece of memory
	rest        []instance // instances 1 and up
	pending     []pending  // notices between the machines, not delivered yet
	choose      Choose
}

// An instance is one machine of a node with its client and its timers.
type instance struct {
	machine Machine
	env     Env
	client  ClientState
	units   int32   // units wanted by the latest request of the client
	gen     uint32  // generation of the timer that was set last
	ports   []ID    // in an anonymous network: the node at each port
	timers  []armed // sorted by kind and peer, so the order in which they were set does not matter
}

type armed struct {
	timer Timer
	gen   uint32
}

// pending is a notice from one machine of a node to others of the same node: a message to itself (OpSend), a
// leader, a suspicion, or (op 0) a call for an election.
type pending struct {
	op       Op
	instance int32 // instance of the machine that sent it
	id       ID
	message  Message
	term     uint64
}

// NewNode returns the node id in an incarnation, from 0. choose answers Env.Choose.
func NewNode(stack *Stack, id ID, incarnation uint32, choose Choose) *Node {
	n := &Node{}
	n.init(stack, id, incarnation, choose)
	return n
}

// init makes n the node id, with fresh machines.
func (n *Node) init(stack *Stack, id ID, incarnation uint32, choose Choose) {
	*n = Node{stack: stack, id: id, incarnation: incarnation, choose: choose}
	if more := len(stack.instances) - 1; more > 0 {
		n.rest = make([]instance, more)
	}
	for i := range n.count() {
		inst := instance{machine: stack.machine(i, id)}
		if of := &stack.instances[i]; of.Spec.Ports != nil {
			inst.ports = of.Spec.Ports(of.Config, id)
		}
		n.put(i, inst)
	}
}

// ID returns the number of the node.
func (n *Node) ID() ID { return n.id }

// Incarnation returns how often the node has restarted.
func (n *Node) Incarnation() uint32 { return n.incarnation }

// count returns how many instances there are.
func (n *Node) count() int32 { return int32(1 + len(n.rest)) }

// at returns the instance numbered i.
func (n *Node) at(i int32) *instance {
	if i == 0 {
		return &n.first
	}
	return &n.rest[i-1]
}

// put makes inst the instance numbered i.
func (n *Node) put(i int32, inst instance) {
	inst.env = Env{node: n, instance: n.at(i), index: i}
	*n.at(i) = inst
}

// Clone returns a copy of the node that shares no memory with it, except the stack and choose.
func (n *Node) Clone() *Node {
	fresh := &Node{}
	n.cloneInto(fresh)
	return fresh
}

// cloneInto makes fresh a copy of n, as Clone does.
func (n *Node) cloneInto(fresh *Node) {
	*fresh = *n
	fresh.effects, fresh.pending = nil, nil // empty between inputs
	if n.rest != nil {
		fresh.rest = make([]instance, len(n.rest))
	}
	for i := range n.count() {
		inst := *n.at(i)
		inst.machine = cloneMachine(inst.machine)
		inst.timers = slices.Clone(inst.timers)
		fresh.put(i, inst)
	}
}

// AppendState appends the state of the node: its machines, their clients and their running timers, without
// generations. Equal states give equal bytes.
func (n *Node) AppendState(b []byte) []byte {
	for i := range n.count() {
		b = n.AppendInstance(b, i)
	}
	return b
}

// AppendInstance appends the state of one instance, as AppendState does.
func (n *Node) AppendInstance(b []byte, i int32) []byte {
	inst := n.at(i)
	b = append(appendMachine(b, inst.machine), byte(inst.client))
	if inst.client != Idle {
		b = binary.AppendUvarint(b, uint64(inst.units))
	}
	b = binary.AppendUvarint(b, uint64(len(inst.timers)))
	for _, a := range inst.timers {
		b = append(b, byte(a.timer.Kind), byte(a.timer.Peer), byte(a.timer.Peer>>8), byte(a.timer.Peer>>16))
	}
	return b
}

// Timers returns the running timers of an instance, each with its generation.
func (n *Node) Timers(instance int32) iter.Seq2[Timer, uint32] {
	return func(yield func(Timer, uint32) bool) {
		for _, a := range n.at(instance).timers {
			if !yield(a.timer, a.gen) {
				return
			}
		}
	}
}

// Client returns the state of the client of an instance.
func (n *Node) Client(instance int32) ClientState { return n.at(instance).client }

// Inside reports whether the client of some instance is in its critical section.
func (n *Node) Inside() bool {
	for i := range n.count() {
		if n.at(i).client == Inside {
			return true
		}
	}
	return false
}

// Units returns how many units of the resource the latest request of the client of an instance wants.
func (n *Node) Units(instance int32) int { return int(n.at(instance).units) }

// Machine returns the machine of an instance. The caller must not change it.
func (n *Node) Machine(instance int32) Machine { return n.at(instance).machine }

// Handle hands the input in to its machine, delivers the notices between the machines of the node, and
// returns all effects. They are valid until the next call. It panics when the host or a machine breaks its
// contract; the text names the node, the machine and the event.
func (n *Node) Handle(in Input) []Effect {
	clear(n.effects) // so that old effects keep no message in memory
	n.effects = n.HandleInto(n.effects[:0], &in)
	return n.effects
}

// HandleInto is Handle, but appends the effects to a slice of the caller.
func (n *Node) HandleInto(effects []Effect, in *Input) []Effect {
	n.effects = effects
	switch in.Kind {
	case Start, Recover, Suspect, Trust:
		for i := range n.count() {
			n.at(i).handleShared(in)
		}
	default:
		n.at(in.Instance).handleOwn(in)
	}
	if len(n.pending) > 0 {
		n.deliverPending()
	}
	effects, n.effects = n.effects, nil
	return effects
}

// mostNotices is how many notices between machines of a node may follow one input. More are taken for an
// endless exchange.
const mostNotices = 1 << 16

// deliverPending delivers the notices between the machines of this node, before any other input: messages of
// machines to themselves first, then the rest in order.
func (n *Node) deliverPending() {
	for count := 0; len(n.pending) > 0; count++ {
		if count == mostNotices {
			panic(fmt.Sprintf("node %d: the events that %T causes in its own node never end", n.id,
				n.at(n.pending[0].instance).machine))
		}
		at := max(0, slices.IndexFunc(n.pending, func(p pending) bool { return p.op == OpSend }))
		p := n.pending[at]
		n.pending = slices.Delete(n.pending, at, at+1)
		if p.op == OpSend {
			inst := n.at(p.instance)
			inst.receive(n.id, p.message)
			continue
		}
		for i := range n.count() {
			n.at(i).hear(&p, i == p.instance)
		}
	}
}

// hear delivers a notice to the machine. A failure detector does not hear of its own suspicions.
func (i *instance) hear(p *pending, own bool) {
	switch p.op {
	case OpElect:
		if m, ok := i.machine.(Led); ok {
			m.Lead(&i.env, p.id, p.term)
		}
	case OpSuspect:
		if m, ok := i.machine.(Suspecter); ok && !own {
			m.Suspect(&i.env, p.id)
		}
	case OpTrust:
		if m, ok := i.machine.(Truster); ok && !own {
			m.Trust(&i.env, p.id)
		}
	default:
		if m, ok := i.machine.(Elector); ok {
			m.Campaign(&i.env)
		}
	}
}

// handleShared handles an input that is for every instance.
func (i *instance) handleShared(in *Input) {
	switch in.Kind {
	case Start:
		if m, ok := i.machine.(Starter); ok {
			m.Start(&i.env)
		}
	case Recover:
		var saved Message
		if s, _ := in.Message.(Saved); s != nil {
			saved = s[i.env.index]
		}
		if m, ok := i.machine.(Recoverer); ok {
			m.Recover(&i.env, saved)
		} else if m, ok := i.machine.(Starter); ok {
			m.Start(&i.env) // a machine that does not recover begins again
		}
	case Suspect:
		i.hear(&pending{op: OpSuspect, id: in.From}, false)
	case Trust:
		i.hear(&pending{op: OpTrust, id: in.From}, false)
	}
}

// handleOwn handles an input that is for this instance alone.
func (i *instance) handleOwn(in *Input) {
	switch in.Kind {
	case Receive:
		i.receive(in.From, in.Message)
	case Request:
		i.setClient("is asked by a client", Idle, Waiting)
		i.units = max(1, in.Units)
		i.machine.(Mutex).Request(&i.env)
	case Release:
		i.setClient("is left by a client", Inside, Idle)
		i.machine.(Mutex).Release(&i.env)
	case Cancel:
		i.setClient("is cancelled by a client", Waiting, Waiting)
		i.machine.(Canceller).Cancel(&i.env)
	case Leave:
		i.machine.(Leaver).Leave(&i.env, in.Lingers)
	case Timeout:
		if i.expire(in.Timer, in.Gen) {
			i.machine.(Timed).Timeout(&i.env, in.Timer)
		}
	case Campaign:
		i.machine.(Elector).Campaign(&i.env)
	default:
		panic(fmt.Sprintf("node %d: no input is numbered %d", i.env.node.id, in.Kind))
	}
}

// receive hands the machine a message. In an anonymous network, from is the first port that leads to the
// sender.
func (i *instance) receive(from ID, m Message) {
	if i.ports != nil {
		from = ID(slices.Index(i.ports, from))
	}
	i.machine.Receive(&i.env, from, m)
}

// setClient changes the state of the client. It panics, and names the event, unless the old state was from.
func (i *instance) setClient(does string, from, to ClientState) {
	if i.client != from {
		panic(fmt.Sprintf("node %d: %T %s while the client is %v", i.env.node.id, i.machine, does, i.client))
	}
	i.client = to
}

// arm starts t and returns its generation. A timeout of an earlier generation is ignored.
func (i *instance) arm(t Timer) uint32 {
	i.disarm(t)
	i.gen++
	at, _ := slices.BinarySearchFunc(i.timers, t, func(a armed, t Timer) int {
		return cmp.Or(cmp.Compare(a.timer.Kind, t.Kind), cmp.Compare(a.timer.Peer, t.Peer))
	})
	i.timers = slices.Insert(i.timers, at, armed{t, i.gen})
	return i.gen
}

// disarm stops t and reports whether it was running.
func (i *instance) disarm(t Timer) bool {
	for at, a := range i.timers {
		if a.timer == t {
			i.timers = append(i.timers[:at], i.timers[at+1:]...)
			return true
		}
	}
	return false
}

// expire stops t and reports true, unless t was stopped or set again since generation gen.
func (i *instance) expire(t Timer, gen uint32) bool {
	for _, a := range i.timers {
		if a.timer == t && a.gen == gen {
			return i.disarm(t)
		}
	}
	return false
}

// A NodeStatus is the status of a node, for the report of a stall.
type NodeStatus struct {
	Client  string `json:"client" yaml:"client"` // idle, waiting or inside
	Machine string `json:"machine" yaml:"machine"`
	// Standing is what the machine's method Standing returns, if it has one.
	Standing string `json:"standing,omitempty" yaml:"standing,omitempty"`
	WaitsFor []ID   `json:"waits_for,omitempty" yaml:"waits_for,omitempty,flow"`
	// LentTo is the node that has the permission of this node; nil: no node has it.
	LentTo *ID  `json:"lent_to,omitempty" yaml:"lent_to,omitempty"`
	Token  bool `json:"token,omitempty" yaml:"token,omitempty"` // the token is at this node
	// Since is when the open request was due, in ns since the start of the run. The host sets it. Not stored.
	Since int64 `json:"since,omitempty" yaml:"-"`
}

// Status describes an instance of the node.
func (n *Node) Status(instance int32) *NodeStatus {
	inst, s := n.at(instance), n.Brief(instance)
	s.Machine = stateOf(inst.machine)
	_, elects := inst.machine.(Elector)
	if w, ok := inst.machine.(Standing); ok && (inst.client == Waiting || elects) {
		s.Standing = w.Standing()
	}
	return s
}

// Brief is like Status, but lacks the texts Machine and Standing, which take long to make.
func (n *Node) Brief(instance int32) *NodeStatus {
	inst, s := n.at(instance), &NodeStatus{Client: "none"}
	if int(n.id) < n.stack.N() {
		s.Client = inst.client.String()
	}
	if w, ok := inst.machine.(Waiter); ok && inst.client == Waiting {
		set := w.WaitsFor()
		for id := range set.All() {
			s.WaitsFor = append(s.WaitsFor, id)
		}
	}
	if l, ok := inst.machine.(Lender); ok {
		if to := l.LentTo(); to != None {
			s.LentTo = &to
		}
	}
	if t, ok := inst.machine.(TokenHolder); ok {
		s.Token = t.HasToken()
	}
	return s
}
