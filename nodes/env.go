package nodes

import (
	"fmt"
	"time"
)

// Env is how a machine asks for effects while it handles an event. They are recorded, and the host carries
// them out after the handler, in order. So no handler is called while another runs.
type Env struct {
	node     *Node
	instance *instance
	index    int32
}

// Self returns this node's ID. In an anonymous network it panics.
func (e *Env) Self() ID {
	e.mustKnowIDs("asks who it is")
	return e.node.id
}

// mustKnowIDs panics in an anonymous network, whose nodes know ports and no IDs.
func (e *Env) mustKnowIDs(does string) {
	if e.instance.ports != nil {
		panic(fmt.Sprintf("node %d: %T %s in an anonymous network", e.node.id, e.instance.machine, does))
	}
}

// N returns how many clients there are.
func (e *Env) N() int { return e.node.stack.N() }

// Total returns how many nodes there are, clients and servers.
func (e *Env) Total() int { return e.node.stack.total }

// Peers returns the set of all clients but this node. The caller may keep and change it.
func (e *Env) Peers() Set {
	e.mustKnowIDs("asks for its peers")
	s := Everyone(e.N())
	s.Remove(e.node.id)
	return s
}

// Incarnation returns how often this node has restarted: 0 at first.
func (e *Env) Incarnation() uint32 { return e.node.incarnation }

// Send sends m to a node. The message is copied at the call: later changes of its slices do not affect it. A
// message to the node itself is handled as soon as this handler returns, and is not counted.
func (e *Env) Send(to ID, m Message) { e.send(to, m, false) }

// Resend is Send for a retry of a message, which is counted apart.
func (e *Env) Resend(to ID, m Message) { e.send(to, m, true) }

func (e *Env) send(to ID, m Message, retry bool) {
	kind, m := e.freeze(m)
	if ports := e.instance.ports; ports != nil {
		if to < 0 || int(to) >= len(ports) {
			panic(fmt.Sprintf("node %d: %T sends by port %d, and has %d",
				e.node.id, e.instance.machine, to, len(ports)))
		}
		to = ports[to]
	}
	switch {
	case to == e.node.id:
		e.node.pending = append(e.node.pending, pending{op: OpSend, instance: e.index, message: m})
	case to < 0 || int(to) >= e.node.stack.total:
		panic(fmt.Sprintf("node %d sends a message to node %d, which does not exist", e.node.id, to))
	default:
		e.node.effects = append(e.node.effects,
			Effect{Op: OpSend, Kind: kind, Resend: retry, Instance: e.index, To: to, Message: m})
	}
}

// Broadcast sends m to every other client.
func (e *Env) Broadcast(m Message) {
	e.mustKnowIDs("broadcasts")
	if e.N() == 1 && e.node.id == 0 {
		return // no peer to hear it
	}
	kind, m := e.freeze(m)
	e.node.effects = append(e.node.effects,
		Effect{Op: OpBroadcast, Kind: kind, Instance: e.index, To: None, Message: m})
}

func (e *Env) freeze(m Message) (uint8, Message) {
	codec := e.node.stack.codec
	kind := codec.KindOf(m)
	if kind < 0 {
		panic(fmt.Sprintf("node %d: %T sends a %T, which its algorithm does not list in Messages",
			e.node.id, e.instance.machine, m))
	}
	return uint8(kind), codec.Freeze(kind, m)
}

// Choose returns a number from 0 to n-1 that the host picks.
func (e *Env) Choose(n int) int {
	if n < 1 {
		panic(fmt.Sprintf("node %d: %T chooses one of %d", e.node.id, e.instance.machine, n))
	}
	return e.node.choose(e.node.id, e.index, n)
}

// SetTimer makes t run out once, after a time from min to max. It replaces a running timer t.
func (e *Env) SetTimer(t Timer, min, max time.Duration) {
	in := &e.node.stack.Instances()[e.index]
	if len(in.Spec.Timers) > 0 && in.Spec.TimerName(in.Config, e.node.id, t.Kind) == nil {
		panic(fmt.Sprintf("%T sets a timer of kind %d, which the algorithm %s does not list in Timers",
			e.instance.machine, t.Kind, in.Spec.Name))
	}
	gen := e.instance.arm(t)
	e.node.effects = append(e.node.effects,
		Effect{Op: OpSetTimer, Instance: e.index, Timer: t, Gen: gen, Min: min, Max: max})
}

// StopTimer stops t: it does not run out.
func (e *Env) StopTimer(t Timer) { e.instance.disarm(t) }

// Save makes m the message that Recover gets after a crash. It is durable before any later Send.
func (e *Env) Save(m Message) {
	kind, m := e.freeze(m)
	e.node.effects = append(e.node.effects,
		Effect{Op: OpSave, Kind: kind, Instance: e.index, Message: m})
}

// Units returns how many units of the resource the latest request of the client wants. Among readers and
// writers of M units, a reader wants 1 and a writer M.
func (e *Env) Units() int { return int(e.instance.units) }

// Grant lets the waiting client into its critical section.
func (e *Env) Grant() { e.GrantFenced(0) }

// MostFence is the highest fence number.
const MostFence = 1<<36 - 1

// GrantFenced is Grant under a fence number, which must rise from grant to grant of a resource. It must not
// exceed MostFence.
func (e *Env) GrantFenced(fence uint64) {
	if fence > MostFence {
		panic(fmt.Sprintf("it grants under the fence number %d; the highest is %d", fence, uint64(MostFence)))
	}
	e.instance.setClient("grants", Waiting, Inside)
	e.node.effects = append(e.node.effects, Effect{Op: OpGrant, Instance: e.index, Number: fence})
}

// Revoke makes the client leave its critical section at once, since its lease or epoch is lost. No Release
// follows.
func (e *Env) Revoke() {
	e.instance.setClient("revokes", Inside, Idle)
	e.node.effects = append(e.node.effects, Effect{Op: OpRevoke, Instance: e.index})
}

// TellLost records that the client has been told that it lost the lock. It stays inside until its Release.
func (e *Env) TellLost() { e.inform(OpTellLost, "says that the lock is lost", Inside) }

// Refuse records that the lock has refused one try of the waiting client. Request is the first try.
func (e *Env) Refuse() { e.inform(OpRefuse, "refuses", Waiting) }

// Retry records the next try of a request, after Refuse.
func (e *Env) Retry() { e.inform(OpRetry, "tries again", Waiting) }

// GiveUp ends the request of the waiting client without a grant, after Cancel.
func (e *Env) GiveUp() {
	e.instance.setClient("gives up", Waiting, Idle)
	e.node.effects = append(e.node.effects, Effect{Op: OpGiveUp, Instance: e.index})
}

// Left says that the machine has given up what the node has, after Leave.
func (e *Env) Left() {
	e.node.effects = append(e.node.effects, Effect{Op: OpLeft, Instance: e.index})
}

// inform has the host record what the client hears of the lock. It panics if the client is not in the state
// that the parameter in requires. The parameter does names the event in the panic.
func (e *Env) inform(op Op, does string, in ClientState) {
	e.instance.setClient(does, in, in)
	e.node.effects = append(e.node.effects, Effect{Op: op, Instance: e.index})
}

// Elect records that this node has chosen leader (or None) for term, and tells the machines of this node that
// implement Led.
func (e *Env) Elect(leader ID, term uint64) {
	e.tell(OpElect, leader, term)
}

// Campaign asks the elector beside this machine to campaign.
func (e *Env) Campaign() {
	e.node.pending = append(e.node.pending, pending{instance: e.index})
}

// Suspect records that this machine, a failure detector, suspects a peer, and tells all other Suspecters of
// the node.
func (e *Env) Suspect(peer ID) { e.tell(OpSuspect, peer, 0) }

// Trust takes a suspicion back, and tells all other Trusters of the node.
func (e *Env) Trust(peer ID) { e.tell(OpTrust, peer, 0) }

// tell notifies the host and the machines of this node.
func (e *Env) tell(op Op, id ID, term uint64) {
	e.node.effects = append(e.node.effects, Effect{Op: op, Instance: e.index, To: id, Number: term})
	e.node.pending = append(e.node.pending, pending{op: op, instance: e.index, id: id, term: term})
}

// Somebody stands for a leader other than this node in an anonymous network, where machines cannot name it.
// See Env.ElectSomebody.
const Somebody ID = -2

// Lead records that this node leads in term. It is Elect for machines of anonymous networks, which do not
// know their own ID.
func (e *Env) Lead(term uint64) { e.tell(OpElect, e.node.id, term) }

// ElectSomebody is Elect for machines of anonymous networks that follow another node.
func (e *Env) ElectSomebody(term uint64) { e.tell(OpElect, Somebody, term) }
