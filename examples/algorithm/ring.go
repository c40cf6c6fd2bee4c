// Package regional has an algorithm in a module of its own: a token ring that knows regions.
package regional

import (
	"cmp"
	"slices"

	"turnstile"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

// Algorithm is the ring, with what it promises.
var Algorithm = turnstile.Algorithm{
	Spec: nodes.Spec{
		Name:       "regional-ring",
		New:        newRegional,
		Messages:   []nodes.MessageKind{{Zero: token{}, Token: true}},
		Safe:       nodes.NoDuplication,          // what safety assumes
		Live:       nodes.NoLoss | nodes.NoCrash, // what progress assumes
		Circulates: true,                         // it sends even if no client asks
	},
	Family:  "token",
	Summary: "One token circulates, through all nodes of a region before it goes on to the next.",
	Mutex:   &algorithm.Exclusion{},
}

// token is the privilege. There is one, unless the network makes a copy of it.
type token struct{}

// regional is the machine of a node. It passes the token round a ring in which the nodes of a region are
// neighbours, so that the token seldom crosses from one region to another.
type regional struct {
	next  []nodes.ID // by node: who comes after it
	wants bool       // our client waits or is inside
	has   bool       // the token is here
}

func newRegional(c nodes.Config) nodes.Machine {
	order := make([]nodes.ID, c.N)
	for id := range order {
		order[id] = nodes.ID(id)
	}
	slices.SortStableFunc(order, func(a, b nodes.ID) int { return cmp.Compare(c.Region(a), c.Region(b)) })
	r := &regional{next: make([]nodes.ID, c.N)}
	for at, id := range order {
		r.next[id] = order[(at+1)%c.N]
	}
	return r
}

// Start is called before any other event. Node 0 has the token first.
func (r *regional) Start(env *nodes.Env) {
	if env.Self() == 0 {
		r.has = true
		r.pass(env)
	}
}

// Recover is called instead of Start after a crash. It does nothing: node 0 would make a second token.
func (r *regional) Recover(*nodes.Env, nodes.Message) {}

// Request is called when the client wants to enter.
func (r *regional) Request(env *nodes.Env) {
	r.wants = true
	if r.has { // in a cluster of one
		env.Grant()
	}
}

// Release is called when the client has left.
func (r *regional) Release(env *nodes.Env) {
	r.wants = false
	r.pass(env)
}

// Receive is called for each message.
func (r *regional) Receive(env *nodes.Env, _ nodes.ID, _ nodes.Message) {
	if r.has {
		return // a copy
	}
	r.has = true
	if r.wants {
		env.Grant()
	} else {
		r.pass(env)
	}
}

func (r *regional) pass(env *nodes.Env) {
	if env.N() > 1 {
		r.has = false
		env.Send(r.next[env.Self()], token{})
	}
}

// HasToken tells faults whom to hit if they are to hit the token.
func (r *regional) HasToken() bool { return r.has }
