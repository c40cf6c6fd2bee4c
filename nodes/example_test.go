package nodes_test

import (
	"fmt"

	"turnstile/nodes"
)

// A pair is a mutex for two nodes, which hand one token to each other on demand. It is safe because there is
// one token; it makes progress since a node that leaves hands the token over if the other has asked.
type pair struct {
	has   bool // the token is here
	wants bool // our client waits or is inside
	owes  bool // the peer has asked for the token
}

var _ nodes.Mutex = (*pair)(nil)

type (
	pairAsk   struct{} // asks for the token
	pairToken struct{} // is the token
)

func (p *pair) Start(env *nodes.Env) { p.has = env.Self() == 0 }

func (p *pair) Request(env *nodes.Env) {
	p.wants = true
	if p.has {
		env.Grant()
		return
	}
	env.Broadcast(pairAsk{})
}

func (p *pair) Release(env *nodes.Env) {
	p.wants = false
	p.handOver(env)
}

func (p *pair) Receive(env *nodes.Env, _ nodes.ID, m nodes.Message) {
	switch m.(type) {
	case pairAsk:
		p.owes = true
		p.handOver(env)
	case pairToken:
		p.has = true
		env.Grant()
	default:
		nodes.Unexpected(p, m)
	}
}

// handOver sends the token to the peer if it has asked and our client is done.
func (p *pair) handOver(env *nodes.Env) {
	if p.has && p.owes && !p.wants {
		p.has, p.owes = false, false
		env.Broadcast(pairToken{})
	}
}

var pairSpec = nodes.Spec{
	Name:     "pair",
	New:      func(nodes.Config) nodes.Machine { return &pair{} },
	Messages: []nodes.MessageKind{{Zero: pairAsk{}}, {Zero: pairToken{}, Token: true}},
	Safe:     nodes.NoDuplication | nodes.NoAmnesia,
	Live:     nodes.NoLoss | nodes.NoCrash,
}

// pairStack returns the stack of two nodes that run a pair.
func pairStack() *nodes.Stack {
	stack, err := nodes.Assemble(nodes.Instance{Spec: &pairSpec, Config: nodes.Config{N: 2}})
	if err != nil {
		panic(err)
	}
	return stack
}

// Inputs go into a node and effects come out, as data.
func Example() {
	stack := pairStack()
	noChoice := func(nodes.ID, int32, int) int { return 0 }
	node0, node1 := nodes.NewNode(stack, 0, 0, noChoice), nodes.NewNode(stack, 1, 0, noChoice)
	handle := func(n *nodes.Node, in nodes.Input) {
		for _, e := range n.Handle(in) {
			switch e.Op {
			case nodes.OpBroadcast:
				fmt.Printf("node %d sends %s\n", n.ID(), stack.Codec().Name(int(e.Kind)))
			case nodes.OpGrant:
				fmt.Printf("node %d lets its client in\n", n.ID())
			}
		}
	}
	handle(node0, nodes.Input{Kind: nodes.Start})
	handle(node1, nodes.Input{Kind: nodes.Start})

	handle(node0, nodes.Input{Kind: nodes.Request})
	handle(node1, nodes.Input{Kind: nodes.Request})
	handle(node0, nodes.Input{Kind: nodes.Receive, From: 1, Message: pairAsk{}})
	fmt.Println("the client of node 1 is", node1.Client(0))
	handle(node0, nodes.Input{Kind: nodes.Release})
	handle(node1, nodes.Input{Kind: nodes.Receive, From: 0, Message: pairToken{}})
	fmt.Println("the machine of node 1:", node1.Status(0).Machine)

	// Output:
	// node 0 lets its client in
	// node 1 sends ask
	// the client of node 1 is waiting
	// node 0 sends token
	// node 1 lets its client in
	// the machine of node 1: has=true wants=true owes=false
}

// A lan is the smallest host: it delivers messages in the order sent, and its clients leave at once.
type lan struct {
	processes []nodes.Process
	inputs    []func() // not handled yet
}

func (l *lan) Send(p *nodes.Process, e *nodes.Effect) {
	in := nodes.Input{Kind: nodes.Receive, Instance: e.Instance, From: p.ID(), Message: e.Message}
	to := &l.processes[e.To]
	l.inputs = append(l.inputs, func() { to.Handle(&in) })
}

func (l *lan) Broadcast(p *nodes.Process, e *nodes.Effect) {
	for id := range p.Hearers() {
		one := *e
		one.To = id
		l.Send(p, &one)
	}
}

func (l *lan) Enter(p *nodes.Process, e *nodes.Effect) {
	fmt.Printf("the client of node %d is inside\n", p.ID())
	out := nodes.Input{Kind: nodes.Release, Instance: e.Instance}
	l.inputs = append(l.inputs, func() { p.Handle(&out) })
}

// A pair asks for no other effects, so the other methods do nothing.
func (l *lan) SetTimer(*nodes.Process, *nodes.Effect)      {}
func (l *lan) Save(*nodes.Process, *nodes.Effect)          {}
func (l *lan) Revoke(*nodes.Process, *nodes.Effect)        {}
func (l *lan) Inform(*nodes.Process, *nodes.Effect)        {}
func (l *lan) Elect(*nodes.Process, *nodes.Effect)         {}
func (l *lan) Suspect(*nodes.Process, *nodes.Effect, bool) {}

// A host does what the machines of its processes ask for.
func ExampleRuntime() {
	l := &lan{processes: make([]nodes.Process, 2)}
	runtime := nodes.NewRuntime(pairStack(), l, func(nodes.ID, int32, int) int { return 0 })
	for id := range l.processes {
		runtime.Process(&l.processes[id], nodes.ID(id))
		l.processes[id].Boot()
	}
	for id := range l.processes {
		l.processes[id].Handle(&nodes.Input{Kind: nodes.Request})
	}
	for len(l.inputs) > 0 {
		next := l.inputs[0]
		l.inputs = l.inputs[1:]
		next()
	}

	// Output:
	// the client of node 0 is inside
	// the client of node 1 is inside
}
