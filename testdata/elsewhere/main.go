// Regional is a program of somebody else, outside the tree of Turnstile: an orchestrator that knows one
// algorithm more, and is the program of its nodes.
package main

import (
	"cmp"
	"slices"

	"turnstile"
	"turnstile/nodes"
	"turnstile/nodes/row"
)

func main() { turnstile.Main(&regionalRow) }

var regionalRow = turnstile.Row{
	Spec: nodes.Spec{
		Name:       "regional-ring",
		New:        newRegional,
		Messages:   []nodes.MessageKind{{Zero: token{}, Token: true}},
		Safe:       nodes.NoDuplication,
		Live:       nodes.NoLoss | nodes.NoCrash,
		Circulates: true,
	},
	Family:  "token",
	Summary: "One token circulates, through all nodes of a region before it goes on to the next.",
	Mutex:   &row.Exclusion{},
}

// regional passes one token round a ring in which the nodes of a region are neighbours, so that the token
// crosses from one region to another as seldom as possible.
type regional struct {
	next  []nodes.ID // by node: who comes after it
	wants bool       // our client waits or is inside
	has   bool       // the token is here
}

// token is the privilege. There is one, unless the network makes a copy of it.
type token struct{}

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

func (r *regional) Start(env *nodes.Env) {
	if env.Self() == 0 {
		r.has = true
		r.pass(env)
	}
}

// Recover does nothing: a token that node 0 made again would be a second one.
func (r *regional) Recover(*nodes.Env, nodes.Message) {}

func (r *regional) Request(env *nodes.Env) {
	r.wants = true
	if r.has { // in a cluster of one
		env.Grant()
	}
}

func (r *regional) Release(env *nodes.Env) {
	r.wants = false
	r.pass(env)
}

func (r *regional) Receive(env *nodes.Env, _ nodes.ID, m nodes.Message) {
	switch m.(type) {
	case token:
		if r.has {
			return // a copy
		}
		r.has = true
		if r.wants {
			env.Grant()
		} else {
			r.pass(env)
		}
	default:
		nodes.Unexpected(r, m)
	}
}

func (r *regional) pass(env *nodes.Env) {
	if env.N() == 1 {
		return
	}
	r.has = false
	env.Send(r.next[env.Self()], token{})
}

func (r *regional) HasToken() bool { return r.has }
