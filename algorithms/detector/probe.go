package detector

import (
	"turnstile/nodes"
	"turnstile/nodes/row"
)

var probeRow = row.Row{
	Spec: nodes.Spec{
		Name: "probe", Kind: nodes.Detection,
		New:    func(c nodes.Config) nodes.Machine { return &probe{pace: paceOf(c)} },
		Timers: []nodes.TimerName{{Kind: tick.Kind, Name: "period"}},
		Messages: []nodes.MessageKind{
			{Zero: probePing{}, Heartbeat: true, Broadcast: true},
			{Zero: probePong{}, Heartbeat: true},
		},
		Options: []nodes.Option{periodOption, answerOption, adaptOption},
		Grace:   detects,
		Live:    nodes.NoLoss | nodes.NoPause | nodes.Timing,
	},
	Aliases: []string{"pull", "ping"}, Family: "pull",
	Source: "folklore; as in Garcia-Molina, Elections in a distributed computing system, IEEE TC C-31(1), " +
		"1982, and Chandra and Toueg, JACM 43(2), 1996",
	Summary:  "Every node asks all others each period, and suspects who has not answered in time.",
	Detector: &row.Detection{Tells: tells},
}

// probe asks instead of waiting to be told, as the nodes of H. Garcia-Molina, "Elections in a distributed
// computing system", IEEE TC C-31(1), 1982, ask their coordinator.
//
// Each period a node asks every other one. It suspects a node when the earliest question that this has left
// open is as old as the timeout, and trusts it again when it answers. Adapt is as for heartbeat.
//
// A crashed node is suspected by all within the timeout and a period. No live node is suspected while a
// question and its answer together take less than the timeout, and each as long as the others.
type probe struct {
	pace
	round uint32 // how often it has asked
	peers        // heard counts rounds: the latest whose question was answered
}

type (
	// probePing asks for the Round-th time since its sender came up in the incarnation Life.
	probePing struct{ Life, Round uint32 }
	// probePong answers it, from a sender in the incarnation From.
	probePong struct{ Life, Round, From uint32 }
)

// Start begins to ask within a period, at a time of its own: otherwise all questions would come together.
func (p *probe) Start(env *nodes.Env) {
	p.all = make([]peer, env.Total())
	env.SetTimer(tick, 0, p.period)
}

func (p *probe) Timeout(env *nodes.Env, _ nodes.Timer) {
	env.SetTimer(tick, p.period, p.period)
	p.round++
	p.suspect(env, p.round, p.timeout) // the question after the latest that was answered is that old
	toAll(env, probePing{env.Incarnation(), p.round})
}

func (p *probe) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	switch m := m.(type) {
	case probePing:
		env.Send(from, probePong{m.Life, m.Round, env.Incarnation()})
	case probePong:
		// An answer to what this node asked before it crashed has a round of that time. An older one than was
		// answered is a copy, or was overtaken.
		if m.Life == env.Incarnation() && m.Round > p.all[from].heard {
			p.hear(env, from, m.From, m.Round, p.adapt)
		}
	default:
		nodes.Unexpected(p, m)
	}
}
