package register_test

import (
	"fmt"
	"testing"

	"turnstile/algorithms/register"
	"turnstile/judge/algotest"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

// An owner serves one variable. At each request it reads the variable of node 1, or writes into it how many
// requests it has had.
type owner struct {
	memory register.Memory
	client register.Client
	writes bool
	count  uint64
	heard  []uint64
}

func (o *owner) Request(env *nodes.Env) {
	if o.count++; o.writes {
		o.client.Write(env, 1, 0, o.count)
	} else {
		o.client.Begin(env)
		o.client.Read(env, 1, 0)
	}
	env.Grant()
}

func (o *owner) Release(*nodes.Env) {}

func (o *owner) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if o.memory.Serve(env, from, m) {
		return
	}
	if value, awaited := o.client.Take(from, m); awaited {
		o.heard = append(o.heard, value)
	}
}

// owners is an algorithm of owners whose clients read or write.
func owners(writes bool) *algorithm.Algorithm {
	return &algorithm.Algorithm{Spec: nodes.Spec{
		Name: "owners",
		New:  func(nodes.Config) nodes.Machine { return &owner{memory: register.MemoryOf(1), writes: writes} },
		Messages: []nodes.MessageKind{{Zero: register.Read{}}, {Zero: register.Value{}}, {Zero: register.Write{}},
			{Zero: register.Written{}}}}}
}

// node returns a node of the algorithm owners that has started, in the life with the given number.
func node(writes bool, id nodes.ID, life uint32) *nodes.Node {
	n := nodes.NewNode(algotest.StackOf(owners(writes), nodes.Config{N: 2}).Stack, id, life, nil)
	if life == 0 {
		n.Handle(nodes.Input{Kind: nodes.Start})
	} else {
		n.Handle(nodes.Input{Kind: nodes.Recover})
	}
	return n
}

// access has the client of a node ask, and returns what it sends.
func access(n *nodes.Node) nodes.Message {
	m := n.Handle(nodes.Input{Kind: nodes.Request})[0].Message
	n.Handle(nodes.Input{Kind: nodes.Release})
	return m
}

// handed hands a message to a node, and returns what that answers.
func handed(n *nodes.Node, from nodes.ID, m nodes.Message) nodes.Message {
	for _, e := range n.Handle(nodes.Input{Kind: nodes.Receive, From: from, Message: m}) {
		return e.Message
	}
	return nil
}

// valueOf returns what the variable of a node holds.
func valueOf(n *nodes.Node) uint64 { return n.Machine(0).(*owner).memory.Get(0) }

// What is read is what the variable holds when the read arrives, be it before or after a write that overlaps.
func TestReadsOverlapWrites(t *testing.T) {
	for _, first := range []bool{true, false} {
		reader, writer, server := node(false, 0, 0), node(true, 0, 0), node(false, 1, 0)
		read, write, want := access(reader), access(writer), uint64(1)
		var answer nodes.Message
		if first {
			answer, want = handed(server, 0, read), 0
		}
		handed(server, 0, write)
		if !first {
			answer = handed(server, 0, read)
		}
		handed(reader, 1, answer)
		if got := reader.Machine(0).(*owner).heard; len(got) != 1 || got[0] != want {
			t.Errorf("the read arrives first: %t; it returns %d, want %d", first, got, want)
		}
	}
}

// A write that comes late, or twice, does not undo a later write. A write of the writer's next life counts as
// later. Every write is acknowledged, also if it has no effect.
func TestLateWritesAreNotDone(t *testing.T) {
	writer, server := node(true, 0, 0), node(false, 1, 0)
	one, two := access(writer), access(writer)
	for _, c := range []struct {
		write nodes.Message
		want  uint64
	}{{two, 2}, {one, 2}, {two, 2}, {access(node(true, 0, 1)), 1}, {two, 1}} {
		answer := handed(server, 0, c.write)
		if got := valueOf(server); got != c.want {
			t.Errorf("after %+v the variable holds %d, want %d", c.write, got, c.want)
		}
		if ack, ok := answer.(register.Written); !ok || ack.Tag != c.write.(register.Write).Tag {
			t.Errorf("%+v is answered by %+v", c.write, answer)
		}
	}
}

// An answer counts once, and for the access that it answers: neither for a later one nor for one of the next
// life.
func TestAnswersCountOnce(t *testing.T) {
	reader, server := node(false, 0, 0), node(false, 1, 0)
	early := handed(server, 0, access(reader))
	late := handed(server, 0, access(reader))
	for want, answer := range []nodes.Message{early, late, late} {
		handed(reader, 1, answer)
		if got := len(reader.Machine(0).(*owner).heard); got != min(want, 1) {
			t.Errorf("answer %d: %d have counted", want, got)
		}
	}
	again := node(false, 0, 1)
	access(again)
	access(again)
	for _, answer := range []nodes.Message{early, late} {
		handed(again, 1, answer)
	}
	m := again.Machine(0).(*owner)
	if len(m.heard) != 0 || !m.client.Awaited() || fmt.Sprint(m.client.WaitsFor()) != "{1}" {
		t.Errorf("in its next life it takes %d answers of the former for its own", len(m.heard))
	}
}
