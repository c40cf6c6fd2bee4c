package nodes

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"iter"
	"slices"
)

// ClientState is where the client of an instance stands: idle, waiting, inside, and idle again.
type ClientState uint8

// The states of a client.
const (
	Idle ClientState = iota
	Waiting
	Inside
)

func (s ClientState) String() string { return [...]string{"idle", "waiting", "inside"}[s] }

// A Node is what one process holds: numbered instances of machines, each with its client. A named
// resource is one more instance; so is the elector beside a mutex.
type Node struct {
	id          ID
	n           int
	incarnation uint32
	unsettled   bool // something is toSelf or elected, or campaign is set
	campaign    bool
	effects     []Effect   // of the input at hand
	first       instance   // instance 0, mostly the only one: of many nodes, each is in one piece of memory
	rest        []instance // 1 and up
	toSelf      []selfMessage
	elected     []election // to be told to the machines that are Led
	choose      func(n int) int
}

// An instance is one machine of a node with its client and its timers.
type instance struct {
	machine Machine
	codec   *Codec
	client  ClientState
	env     Env
	timers  []armed // by kind and peer, so that in which order they were set is no part of the state
	gen     uint32  // of the timer that was set last
}

type (
	armed struct {
		timer Timer
		gen   uint32
	}
	selfMessage struct {
		to *instance
		m  Message
	}
	election struct {
		leader ID
		term   uint64
	}
)

// A Part is what one instance of a node is made of.
type Part struct {
	Machine Machine
	Codec   *Codec // of the messages of its algorithm
}

// NewNode returns node id of a cluster of n clients, up for the time numbered incarnation from 0.
// choose answers Env.Choose; the instances are numbered in the order of parts. There is one at least.
func NewNode(id ID, n int, incarnation uint32, choose func(n int) int, parts ...Part) *Node {
	node := &Node{id: id, n: n, incarnation: incarnation, choose: choose}
	node.rest = make([]instance, len(parts)-1)
	for i, p := range parts {
		node.put(int32(i), instance{machine: p.Machine, codec: p.Codec})
	}
	return node
}

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

// Clone returns a copy of the node that shares no memory with it, but for choose.
func (n *Node) Clone() *Node {
	fresh := *n
	fresh.effects, fresh.toSelf, fresh.elected = nil, nil, nil // empty between inputs
	fresh.rest = make([]instance, len(n.rest))
	for i := range n.count() {
		inst := *n.at(i)
		inst.machine = CloneMachine(inst.machine)
		inst.timers = slices.Clone(inst.timers)
		fresh.put(i, inst)
	}
	return &fresh
}

// AppendState writes out the state of the node: of its machines, their clients, and which of their timers
// run. Equal states give equal bytes. What only tells old timers from new is left out.
func (n *Node) AppendState(b []byte) []byte {
	for i := range n.count() {
		inst := n.at(i)
		b = append(AppendMachine(b, inst.machine), byte(inst.client))
		b = binary.AppendUvarint(b, uint64(len(inst.timers)))
		for _, a := range inst.timers {
			b = append(b, byte(a.timer.Kind), byte(a.timer.Peer), byte(a.timer.Peer>>8), byte(a.timer.Peer>>16))
		}
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

// Client returns where the client of an instance stands.
func (n *Node) Client(instance int32) ClientState { return n.at(instance).client }

// Machine returns the machine of an instance, to look at.
func (n *Node) Machine(instance int32) Machine { return n.at(instance).machine }

// Handle runs the machine that in is for, and those that hear of what it did, to completion, and
// returns what they asked for. The effects are valid until the next call. It panics when the host or
// a machine breaks its contract; the text names the node, the machine and the event.
func (n *Node) Handle(in Input) []Effect {
	clear(n.effects) // let go of the messages
	n.effects = n.HandleInto(n.effects[:0], in)
	return n.effects
}

// HandleInto is Handle with the effects appended to a slice of the caller's, of which the node keeps
// nothing.
func (n *Node) HandleInto(effects []Effect, in Input) []Effect {
	n.effects = effects
	switch in.Kind {
	case Start, Recover, Suspect, Trust:
		for i := range n.count() {
			n.at(i).all(in)
		}
	default:
		n.at(in.Instance).one(in)
	}
	if n.unsettled {
		n.settle()
	}
	effects, n.effects = n.effects, nil
	return effects
}

// settle delivers what the machines of this node have for each other: messages to oneself, elections
// and calls for one. All of it comes before any other input.
func (n *Node) settle() {
	for len(n.toSelf)+len(n.elected) > 0 || n.campaign {
		switch {
		case len(n.toSelf) > 0:
			next := n.toSelf[0]
			n.toSelf = append(n.toSelf[:0], n.toSelf[1:]...)
			next.to.machine.Receive(&next.to.env, n.id, next.m)
		case len(n.elected) > 0:
			e := n.elected[0]
			n.elected = append(n.elected[:0], n.elected[1:]...)
			for i := range n.count() {
				if led, ok := n.at(i).machine.(Led); ok {
					led.Lead(&n.at(i).env, e.leader, e.term)
				}
			}
		default:
			n.campaign = false
			for i := range n.count() {
				if elector, ok := n.at(i).machine.(Elector); ok {
					elector.Campaign(&n.at(i).env)
				}
			}
		}
	}
	n.unsettled = false
}

// all handles an input that is for every instance, by those machines that care.
func (i *instance) all(in Input) {
	switch in.Kind {
	case Start:
		if m, ok := i.machine.(Starter); ok {
			m.Start(&i.env)
		}
	case Recover:
		if m, ok := i.machine.(Recoverer); ok {
			m.Recover(&i.env, in.Message)
		} else if m, ok := i.machine.(Starter); ok {
			m.Start(&i.env) // an amnesic machine begins again
		}
	case Suspect:
		if m, ok := i.machine.(Suspecter); ok {
			m.Suspect(&i.env, in.From)
		}
	case Trust:
		if m, ok := i.machine.(Truster); ok {
			m.Trust(&i.env, in.From)
		}
	}
}

// one handles an input that is for this instance alone.
func (i *instance) one(in Input) {
	switch in.Kind {
	case Receive:
		i.machine.Receive(&i.env, in.From, in.Message)
	case Request:
		i.turn(in.Kind, Idle, Waiting)
		i.machine.(Mutex).Request(&i.env)
	case Release:
		i.turn(in.Kind, Inside, Idle)
		i.machine.(Mutex).Release(&i.env)
	case Timeout:
		if i.expire(in.Timer, in.Gen) {
			i.machine.(Timed).Timeout(&i.env, in.Timer)
		}
	case Campaign:
		i.machine.(Elector).Campaign(&i.env)
	default:
		panic(fmt.Sprintf("node %d: no input is numbered %d", i.env.Self(), in.Kind))
	}
}

// turn moves the client on, from where it must stand.
func (i *instance) turn(what InputKind, from, to ClientState) {
	if i.client != from {
		panic(fmt.Sprintf("node %d: %T: input %d while the client is %v",
			i.env.Self(), i.machine, what, i.client))
	}
	i.client = to
}

// arm starts t and returns the generation that alone may run out.
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
