package detector

import (
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

var probeAlgorithm = algorithm.Algorithm{
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
	Summary:  "Every node asks all others each period, and suspects nodes that do not answer in time.",
	Detector: &algorithm.Detection{Tells: tells, Shows: inTime},
}

// probe asks for signs of life, as the nodes of H. Garcia-Molina, "Elections in a distributed computing
// system", IEEE TC C-31(1), 1982, ask their coordinator.
//
// Each period a node asks every other node. It suspects a node when a question is as old as the timeout, and
// neither that question nor a later one was answered. It trusts the node again when the node answers. The
// option adapt works as for heartbeat.
//
// All suspect a crashed node within the timeout and a period. Nobody suspects a live node while all messages
// take the same time, less than half the timeout.
type probe struct {
	pace
	round uint32 // how often it has asked
	peers        // peer.heard is the latest round that the peer has answered
}

type (
	// probePing is question number Round of its sender in the incarnation Life.
	probePing struct{ Life, Round uint32 }
	// probePong answers a probePing. From is the incarnation of the node that answers.
	probePong struct{ Life, Round, From uint32 }
)

// Start asks first at a random moment of the first period: otherwise all questions would come together.
func (p *probe) Start(env *nodes.Env) {
	p.all = make([]peer, env.Total())
	env.SetTimer(tick, 0, p.period)
}

func (p *probe) Timeout(env *nodes.Env, _ nodes.Timer) {
	env.SetTimer(tick, p.period, p.period)
	p.round++
	p.suspect(env, p.round, p.timeout) // a suspect's first unanswered question is as old as the timeout
	toAll(env, probePing{env.Incarnation(), p.round})
}

func (p *probe) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	switch m := m.(type) {
	case probePing:
		env.Send(from, probePong{m.Life, m.Round, env.Incarnation()})
	case probePong:
		// Ignored: an answer to a question from before this node crashed, a copy, and an overtaken answer.
		if m.Life == env.Incarnation() && m.Round > p.all[from].heard {
			p.hear(env, from, m.From, m.Round, p.adapt)
		}
	default:
		nodes.Unexpected(p, m)
	}
}
