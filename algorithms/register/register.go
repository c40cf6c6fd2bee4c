// Package register has shared variables for machines: variables that their owners serve over messages. A
// machine embeds the Memory of what it owns, and a Client for what it reads and writes at others. Both are
// plain, so that hosts, codec and explorer treat such a machine as any other.
//
// A read is a message and its answer another, so a read and a write of one variable may overlap: whoever
// reads gets what the variable holds when the read arrives. An exploration thus tries every value that a read
// can return.
//
// Accesses are tagged. So an answer that is late, or comes twice, is not taken for that of a later access,
// and a write that is late, or comes twice, does not undo a later one of the same writer. A tag begins with
// how often its node has restarted, so this holds in its next life too, as long as the owner is up.
package register

import "turnstile/nodes"

// The messages of registers: what a row whose machines have a Memory or a Client lists.
type (
	// Read asks the owner for the value of its variable Var.
	Read struct {
		Var uint32
		Tag uint64
	}
	// Value answers a Read: Var held Value when that arrived.
	Value struct {
		Var        uint32
		Tag, Value uint64
	}
	// Write has the owner set its variable Var to Value.
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

// A Memory is the variables of one owner, numbered from 0. All are 0 at first.
type Memory struct {
	values []uint64
	latest []uint64 // by variable and writer: the tag of its latest write
}

// MemoryOf returns a memory of so many variables.
func MemoryOf(variables int) Memory { return Memory{values: make([]uint64, variables)} }

// Get and Set are the owner's own accesses. They take no message, and no time.
func (m *Memory) Get(v uint32) uint64 { return m.values[v] }

// Set sets the variable v to x.
func (m *Memory) Set(v uint32, x uint64) { m.values[v] = x }

// Serve answers a Read or a Write. It reports whether the message is one.
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

// write does what a message asks for, unless that is older than another write of the same variable and
// writer, which has overtaken it.
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
// Begin and Write begin a new tag, and reads that follow have the same one. Whoever reads a variable again
// and again, until it has a certain value, may do so under one tag: any value that was read under it was
// there after Begin. Whoever needs what a variable holds now begins anew.
type Client struct {
	tag      uint64
	variable uint32    // that is accessed
	awaiting nodes.Set // the owners that have yet to answer
	merges   bool      // each for those below it as well
}

// Begin has all answers ignored that have not yet come.
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

// ReadAgain reads once more what an owner has not answered.
func (c *Client) ReadAgain(env *nodes.Env, owner nodes.ID) {
	env.Resend(owner, Read{c.variable, c.tag})
}

// Forget has an owner's answer not be waited for.
func (c *Client) Forget(owner nodes.ID) { c.awaiting.Remove(owner) }

// ReadAll reads the variable v of every other client.
func (c *Client) ReadAll(env *nodes.Env, v uint32) {
	c.variable, c.merges = v, false
	c.awaiting = env.Peers()
	env.Broadcast(Read{v, c.tag})
}

// Write begins and sets the variable v of an owner to x. Whoever needs that done before its next access waits
// until nothing is Awaited. Whoever does not is a processor with a store buffer: its write may be done after
// the accesses that follow.
func (c *Client) Write(env *nodes.Env, owner nodes.ID, v uint32, x uint64) {
	c.Begin(env)
	c.variable, c.merges = v, false
	c.awaiting.Add(owner)
	env.Send(owner, Write{v, c.tag, x})
}

// Take returns what an answer says, the value 0 if it is to a write. It reports whether the message is the
// answer to an access of this client that is still waited for; all others are to be ignored.
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
	// The value of an owner says nothing of those below it.
	if tag != c.tag || v != c.variable || merged != c.merges || !c.awaiting.Remove(from) {
		return 0, false
	}
	return value, true
}

// Awaited reports whether an answer is still missing.
func (c *Client) Awaited() bool { return !c.awaiting.Empty() }

// WaitsFor returns the owners whose answers are missing. The caller may keep and change it.
func (c *Client) WaitsFor() nodes.Set { return c.awaiting.Clone() }
