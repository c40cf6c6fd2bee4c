package register

import (
	"cmp"

	"turnstile/nodes"
)

// A node may read the same variable of all other nodes along a tree whose root is the reader: the read goes
// down the tree, and on the way up the values of each subtree are merged into one. So a read takes 2(N-1)
// messages. The reader itself gets one message from each of its children.
type (
	// Gather asks a node for the value of the variable Var, merged over the node's subtree.
	Gather struct {
		Root  nodes.ID // the node that reads
		Var   uint32
		Tag   uint64
		Least bool // merge into the lowest value that is not 0; if not set: into the highest value
	}
	// Merged answers a Gather: Value is the merged value, and Of is the node whose variable has it. Of nodes
	// with equal values, the lowest ID is taken.
	Merged struct {
		Root       nodes.ID
		Var        uint32
		Tag, Value uint64
		Of         nodes.ID
	}
)

// Merges holds the state of other nodes' reads along trees in which this node takes part.
type Merges struct {
	of []merge // by reader: its latest read
}

// A merge is the state of one read.
type merge struct {
	asked   Gather
	parent  nodes.ID
	missing nodes.Set // children that have not answered
	value   uint64
	of      nodes.ID
}

// Serve takes part in another node's read, together with the nodes below this one in the reader's tree. Two
// reads with the same tag may get each other's answers. That does no harm: each value was there after the
// first of the two had begun.
func (s *Merges) Serve(env *nodes.Env, from nodes.ID, m nodes.Message, own *Memory, below []nodes.ID) {
	if s.of == nil {
		s.of = make([]merge, env.N())
	}
	switch m := m.(type) {
	case Gather:
		if m.Tag < s.of[m.Root].asked.Tag {
			return // a later read of the same reader has overtaken this one
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
		order = cmp.Compare(value-1, m.value-1) // 0-1 is the highest number, so that 0 is taken last
	}
	if order < 0 || order == 0 && of < m.of {
		m.value, m.of = value, of
	}
}

// answer sends the merged value to the parent, unless the value of a child is missing.
func (m *merge) answer(env *nodes.Env) {
	if m.missing.Empty() {
		env.Send(m.parent, Merged{m.asked.Root, m.asked.Var, m.asked.Tag, m.value, m.of})
	}
}

// Gather reads the variable v of every other client along a tree in which this node has the given children.
// Each child sends one Merged.
func (c *Client) Gather(env *nodes.Env, v uint32, least bool, children []nodes.ID) {
	c.variable, c.merges = v, true
	c.awaiting = nodes.SetOf(children...)
	for _, child := range children {
		env.Send(child, Gather{env.Self(), v, c.tag, least})
	}
}
