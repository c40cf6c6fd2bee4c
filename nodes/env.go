package nodes

import (
	"fmt"
	"time"
)

// Env is what a machine may ask for while it handles an event. What it asks is recorded as effects,
// which the host does afterwards, in order; so no handler is ever re-entered.
type Env struct {
	node     *Node
	instance *instance
	index    int32
}

// Self returns this node's ID.
func (e *Env) Self() ID { return e.node.id }

// N returns how many clients there are.
func (e *Env) N() int { return e.node.n }

// Peers returns the set of all clients but this node. It is a fresh one, to keep and to change.
func (e *Env) Peers() Set {
	s := Everyone(e.node.n)
	s.Remove(e.node.id)
	return s
}

// Incarnation returns how often this node has come up before: 0, then 1 after its first restart.
func (e *Env) Incarnation() uint32 { return e.node.incarnation }

// Send sends m to the node to. The message is frozen at the call: what the machine does to its
// slices later does not reach it. A message to oneself is handled as soon as this handler returns,
// and is counted nowhere.
func (e *Env) Send(to ID, m Message) { e.send(to, m, false) }

// Resend is Send for a retry of a message, which is counted apart.
func (e *Env) Resend(to ID, m Message) { e.send(to, m, true) }

func (e *Env) send(to ID, m Message, retry bool) {
	kind, m := e.freeze(m)
	if to == e.node.id {
		e.node.toSelf = append(e.node.toSelf, selfMessage{e.instance, m})
		e.node.unsettled = true
		return
	}
	e.node.effects = append(e.node.effects,
		Effect{Op: OpSend, Kind: kind, Resend: retry, Instance: e.index, To: to, Message: m})
}

// Broadcast sends m to every other client.
func (e *Env) Broadcast(m Message) {
	if e.node.n == 1 && e.node.id == 0 {
		return // no peer to hear it
	}
	kind, m := e.freeze(m)
	e.node.effects = append(e.node.effects,
		Effect{Op: OpBroadcast, Kind: kind, Instance: e.index, To: None, Message: m})
}

func (e *Env) freeze(m Message) (uint8, Message) {
	kind := e.instance.codec.KindOf(m)
	if kind < 0 {
		panic(fmt.Sprintf("node %d: %T sends a %T, which its row does not list among its messages",
			e.node.id, e.instance.machine, m))
	}
	return uint8(kind), e.instance.codec.Freeze(kind, m)
}

// Choose returns a number from 0 to n-1 that the host picks.
func (e *Env) Choose(n int) int {
	if n < 1 {
		panic(fmt.Sprintf("node %d: %T chooses one of %d", e.node.id, e.instance.machine, n))
	}
	return e.node.choose(n)
}

// SetTimer has t run out once, after a time from min to max. It replaces a running timer t.
func (e *Env) SetTimer(t Timer, min, max time.Duration) {
	gen := e.instance.arm(t)
	e.node.effects = append(e.node.effects,
		Effect{Op: OpSetTimer, Instance: e.index, Timer: t, Gen: gen, Min: min, Max: max})
}

// StopTimer sees to it that t does not run out.
func (e *Env) StopTimer(t Timer) {
	if e.instance.disarm(t) {
		e.node.effects = append(e.node.effects, Effect{Op: OpStopTimer, Instance: e.index, Timer: t})
	}
}

// Save makes m what Recover is given after a crash. It is durable before any later Send.
func (e *Env) Save(m Message) {
	kind, m := e.freeze(m)
	e.node.effects = append(e.node.effects,
		Effect{Op: OpSave, Kind: kind, Instance: e.index, Message: m})
}

// Grant lets the waiting client into its critical section.
func (e *Env) Grant() { e.GrantFenced(0) }

// GrantFenced is Grant under a fencing number, which must rise from grant to grant of a resource.
func (e *Env) GrantFenced(fence uint64) {
	if e.instance.client != Waiting {
		panic(fmt.Sprintf("node %d: %T grants while its client is %v",
			e.node.id, e.instance.machine, e.instance.client))
	}
	e.instance.client = Inside
	e.node.effects = append(e.node.effects, Effect{Op: OpGrant, Instance: e.index, Number: fence})
}

// Elect says that this node takes leader (or None) for the leader of term.
func (e *Env) Elect(leader ID, term uint64) {
	e.node.effects = append(e.node.effects,
		Effect{Op: OpElect, Instance: e.index, To: leader, Number: term})
	e.node.elected = append(e.node.elected, election{leader, term})
	e.node.unsettled = true
}

// Campaign asks the elector beside this machine to bring an election about.
func (e *Env) Campaign() { e.node.campaign, e.node.unsettled = true, true }
