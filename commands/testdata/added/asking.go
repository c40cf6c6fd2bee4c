// Package asking has nodes that ask their neighbours, who answer at once: a kind of run for a test of how
// kinds of runs are added.
package asking

import (
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

// Table lists the algorithms.
var Table = []*algorithm.Algorithm{{
	Spec: nodes.Spec{
		Name: "asking", Kind: nodes.Asking,
		New:      func(c nodes.Config) nodes.Machine { return &asking{nodes: c.N} },
		Messages: []nodes.MessageKind{{Zero: askingQuestion{}}, {Zero: askingAnswer{}}},
		Live:     nodes.NoLoss | nodes.NoCrash,
	},
	Family: "neighbours", Source: "a test of how kinds of runs are added",
	Summary: "A node asks the next one, which answers at once.",
	Faults:  algorithm.Under(algorithm.Starves, "nobody asks again", "lost-request"),
}}

// asking is a node that asks the next one.
type asking struct{ nodes int }

type (
	askingQuestion struct{}
	askingAnswer   struct{}
)

func (a *asking) Request(env *nodes.Env) {
	env.Send((env.Self()+1)%nodes.ID(a.nodes), askingQuestion{})
}

func (*asking) Release(*nodes.Env) {}

func (a *asking) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	switch m.(type) {
	case askingQuestion:
		env.Send(from, askingAnswer{})
	case askingAnswer:
		env.Grant()
	default:
		nodes.Unexpected(a, m)
	}
}
