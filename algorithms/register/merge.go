package register

import (
	"cmp"

	"turnstile/nodes"
)

// A variable of all others may be read along a tree whose root is the reader: the read goes down the tree,
// and on the way up the values of each subtree are merged into one. So a read takes 2(N-1) messages. The
// reader itself gets one from each of its children.
type (
	// Gather asks a node for the variable Var, its own and its subtree's.
	Gather struct {
		Root  nodes.ID // the reader
		Var   uint32
		Tag   uint64
		Least bool // merged into the lowest that is not 0; otherwise into the highest
	}
	// Merged answers a Gather: Value is the value of the node Of. The lowest ID wins among equal values.
	Merged struct {
		Root       nodes.ID
		Var        uint32
		Tag, Value uint64
		Of         nodes.ID
	}
)

// Merges are the merged reads of others that a node takes part in.
type Merges struct {
	of []merge // by reader: the latest read
}

// A merge is the state of one read.
type merge struct {
	asked   Gather
	parent  nodes.ID
	missing nodes.Set // children that have not answered
	value   uint64
	of      nodes.ID
}

// Serve takes part in another node's read, together with the nodes below this one in the reader's tree.
// Reads under one tag may get each other's answers: each value was there after the first had begun.
func (s *Merges) Serve(env *nodes.Env, from nodes.ID, m nodes.Message, own *Memory, below []nodes.ID) {
	if s.of == nil {
		s.of = make([]merge, env.N())
	}
	switch m := m.(type) {
	case Gather:
		if m.Tag < s.of[m.Root].asked.Tag {
			return // a later read has overtaken it
		}
		of := &s.of[m.Root]
		*of = merge{m, from, nodes.SetOf(below...), own.Get(m.Var), env.Self()}
		for _, child := range below {
			env.Send(child, m)
		}
		of.answer(env)
	case Merged:
		of := &s.of[m.Root]
		if m.Tag == of.asked.Tag && of.missing.Remove(from) {
			of.add(m.Value, m.Of)
			of.answer(env)
		}
	}
}

// add merges a value into the result.
func (m *merge) add(value uint64, of nodes.ID) {
	order := cmp.Compare(m.value, value)
	if m.asked.Least {
		order = cmp.Compare(value-1, m.value-1) // so that 0 is the highest
	}
	if order < 0 || order == 0 && of < m.of {
		m.value, m.of = value, of
	}
}

// answer answers the parent if no value is missing.
func (m *merge) answer(env *nodes.Env) {
	if m.missing.Empty() {
		env.Send(m.parent, Merged{m.asked.Root, m.asked.Var, m.asked.Tag, m.value, m.of})
	}
}

// Gather reads the variable v of every other client along a tree in which these are our children. Each sends
// one Merged.
func (c *Client) Gather(env *nodes.Env, v uint32, least bool, children []nodes.ID) {
	c.variable, c.merges = v, true
	c.awaiting = nodes.SetOf(children...)
	for _, child := range children {
		env.Send(child, Gather{env.Self(), v, c.tag, least})
	}
}
