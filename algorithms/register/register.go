// Package register has shared variables for machines: their owners serve them over messages. A machine embeds
// a Memory for the variables that it owns, and a Client for the variables of others that it accesses. Both
// are plain data, so that hosts, codec and explorer treat such a machine like any other.
//
// A read is a message and its answer another, so a read and a write of one variable may overlap: a read
// returns what the variable holds when the message arrives. So an exploration tries every value that a read
// can return.
//
// Accesses are tagged. So an answer that is late, or comes twice, is not taken for the answer to a later
// access; and a write that is late, or comes twice, does not undo a later one of the same writer. A tag
// begins with the node's incarnation, so this also holds after the node has restarted, unless the owner has
// restarted, too.
package register

import "turnstile/nodes"

// The messages of registers. An algorithm lists them if its machines have a Memory or a Client.
type (
	// Read asks the owner for the value of its variable Var.
	Read struct {
		Var uint32
		Tag uint64
	}
	// Value answers a Read: Var held Value when the Read arrived.
	Value struct {
		Var        uint32
		Tag, Value uint64
	}
	// Write asks the owner to set its variable Var to Value.
	Write struct {
		Var        uint32
		Tag, Value uint64
	}
	// Written acknowledges a Write.
	Written struct {
		Var uint32
		Tag uint64
	}
)

// A Memory holds the variables of one owner, numbered from 0. All are 0 at first.
type Memory struct {
	values []uint64
	latest []uint64 // by variable and writer: the tag of the writer's latest write
}

// MemoryOf returns a memory with that many variables.
func MemoryOf(variables int) Memory { return Memory{values: make([]uint64, variables)} }

// Get returns the variable v. Get and Set are the owner's own accesses, without messages or delay.
func (m *Memory) Get(v uint32) uint64 { return m.values[v] }

// Set sets the variable v to x.
func (m *Memory) Set(v uint32, x uint64) { m.values[v] = x }

// Serve answers a Read or a Write. It returns false for any other message.
func (m *Memory) Serve(env *nodes.Env, from nodes.ID, message nodes.Message) bool {
	switch message := message.(type) {
	case Read:
		env.Send(from, Value{message.Var, message.Tag, m.values[message.Var]})
	case Write:
		m.write(env, from, message)
		env.Send(from, Written{message.Var, message.Tag})
	default:
		return false
	}
	return true
}

// write does a write, unless a later write of the same writer has overtaken it.
func (m *Memory) write(env *nodes.Env, from nodes.ID, w Write) {
	if m.latest == nil {
		m.latest = make([]uint64, len(m.values)*env.Total())
	}
	latest := &m.latest[int(w.Var)*env.Total()+int(from)]
	if w.Tag > *latest {
		*latest = w.Tag
		m.values[w.Var] = w.Value
	}
}

// A Client reads and writes variables of others, one access at a time, or the same variable of several owners
// at once.
//
// Begin and Write begin a new tag, which the following reads share. A client that reads a variable again and
// again, until it has a certain value, may do so under one tag: any value read under it was there after
// Begin. A client that needs the present value calls Begin again.
type Client struct {
	tag      uint64
	variable uint32    // the variable that is accessed
	awaiting nodes.Set // the owners that have yet to answer
	merges   bool      // each answer is for the owner's whole subtree
}

// Begin begins a new tag: answers that have not yet come are ignored.
func (c *Client) Begin(env *nodes.Env) {
	c.tag = max(c.tag, uint64(env.Incarnation())<<32) + 1
	c.awaiting.Clear()
}

// Read reads the variable v of one owner.
func (c *Client) Read(env *nodes.Env, owner nodes.ID, v uint32) {
	c.variable, c.merges = v, false
	c.awaiting.Add(owner)
	env.Send(owner, Read{v, c.tag})
}

// ReadAgain repeats a read that an owner has not answered.
func (c *Client) ReadAgain(env *nodes.Env, owner nodes.ID) {
	env.Resend(owner, Read{c.variable, c.tag})
}

// Forget stops waiting for an owner's answer.
func (c *Client) Forget(owner nodes.ID) { c.awaiting.Remove(owner) }

// ReadAll reads the variable v of every other client.
func (c *Client) ReadAll(env *nodes.Env, v uint32) {
	c.variable, c.merges = v, false
	c.awaiting = env.Peers()
	env.Broadcast(Read{v, c.tag})
}

// Write begins a new tag, and asks an owner to set its variable v to x. A client that needs the write done
// before its next access waits until nothing is Awaited. A client that does not wait is like a processor with
// a store buffer: its write may be done after the accesses that follow.
func (c *Client) Write(env *nodes.Env, owner nodes.ID, v uint32, x uint64) {
	c.Begin(env)
	c.variable, c.merges = v, false
	c.awaiting.Add(owner)
	env.Send(owner, Write{v, c.tag, x})
}

// Take returns the value in an answer, or 0 for the answer to a Write. It returns false if this client does
// not wait for the message, which is then to be ignored.
func (c *Client) Take(from nodes.ID, m nodes.Message) (value uint64, awaited bool) {
	var v uint32
	var tag uint64
	merged := false
	switch m := m.(type) {
	case Value:
		v, tag, value = m.Var, m.Tag, m.Value
	case Merged:
		v, tag, value, merged = m.Var, m.Tag, m.Value, true
	case Written:
		v, tag = m.Var, m.Tag
	}
	// An owner's own value does not answer a read of its whole subtree.
	if tag != c.tag || v != c.variable || merged != c.merges || !c.awaiting.Remove(from) {
		return 0, false
	}
	return value, true
}

// Awaited reports whether an answer is still missing.
func (c *Client) Awaited() bool { return !c.awaiting.Empty() }

// WaitsFor returns the owners whose answers are missing. The caller may keep and change the set.
func (c *Client) WaitsFor() nodes.Set { return c.awaiting.Clone() }
