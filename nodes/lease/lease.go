// Package lease is an algorithm for tests of fence numbers. A server grants the resource for some time only,
// under rising fence numbers, and the holder does not hear that its time is over: one that stands still
// inside for longer is there together with the next.
package lease

import (
	"time"

	"turnstile/nodes"
	"turnstile/nodes/row"
)

// Row returns the row of an algorithm whose leases last so long.
func Row(lasts time.Duration) *row.Row {
	return &row.Row{
		Spec: nodes.Spec{
			Name:      "lease",
			Fenced:    true,
			New:       func(nodes.Config) nodes.Machine { return &tenant{} },
			Servers:   func(nodes.Config) int { return 1 },
			NewServer: func(nodes.Config, nodes.ID) nodes.Machine { return &landlord{lasts: lasts} },
			Messages:  []nodes.MessageKind{{Zero: ask{}}, {Zero: grant{}}, {Zero: done{}}},
			Live:      nodes.NoLoss | nodes.NoCrash,
		},
	}
}

// A tenant asks the server.
type tenant struct{ asked, fence uint64 }

type (
	ask   struct{ Number uint64 }
	grant struct{ Number, Fence uint64 }
	done  struct{ Fence uint64 }
)

func (t *tenant) Request(env *nodes.Env) {
	t.asked++
	env.Send(nodes.ID(env.N()), ask{t.asked})
}

func (t *tenant) Release(env *nodes.Env) { env.Send(nodes.ID(env.N()), done{t.fence}) }

func (t *tenant) Receive(env *nodes.Env, _ nodes.ID, m nodes.Message) {
	if g := m.(grant); g.Number == t.asked {
		t.fence = g.Fence
		env.GrantFenced(g.Fence)
	}
}

// A landlord is the server.
type landlord struct {
	lasts time.Duration
	fence uint64
	let   bool
	queue []tenancy
}

type tenancy struct {
	By     nodes.ID
	Number uint64
}

func (l *landlord) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	switch m := m.(type) {
	case ask:
		l.queue = append(l.queue, tenancy{from, m.Number})
	case done:
		if m.Fence == l.fence {
			env.StopTimer(nodes.Timer{})
			l.let = false
		}
	}
	l.serve(env)
}

func (l *landlord) Timeout(env *nodes.Env, _ nodes.Timer) {
	l.let = false
	l.serve(env)
}

func (l *landlord) serve(env *nodes.Env) {
	if l.let || len(l.queue) == 0 {
		return
	}
	next := l.queue[0]
	l.queue = l.queue[1:]
	l.fence++
	l.let = true
	env.Send(next.By, grant{next.Number, l.fence})
	env.SetTimer(nodes.Timer{}, l.lasts, l.lasts)
}
