package detector

import (
	"turnstile/nodes"
	"turnstile/nodes/row"
)

var heartbeatRow = row.Row{
	Spec: nodes.Spec{
		Name: "heartbeat", Kind: nodes.Detection,
		New:      func(c nodes.Config) nodes.Machine { return &heartbeat{pace: paceOf(c)} },
		Timers:   []nodes.TimerName{{Kind: tick.Kind, Name: "period"}},
		Messages: []nodes.MessageKind{{Zero: heartbeatBeat{}, Heartbeat: true, Broadcast: true}},
		Options:  []nodes.Option{periodOption, timeoutOption, adaptOption},
		Grace:    detects,
		Live:     nodes.NoLoss | nodes.NoPause | nodes.Timing,
	},
	Aliases: []string{"push"}, Family: "push",
	Source: "Aguilera, Chen and Toueg, Heartbeat: a timeout-free failure detector for quiescent reliable " +
		"communication, WDAG 1997; Chandra and Toueg, Unreliable failure detectors for reliable distributed " +
		"systems, JACM 43(2), 1996",
	Summary:  "Every node sends all others a heartbeat each period, and suspects who was silent too long.",
	Detector: &row.Detection{Tells: tells},
}

// heartbeat is the algorithm of figure 10 of T. D. Chandra and S. Toueg, "Unreliable failure detectors for
// reliable distributed systems", JACM 43(2), 1996, with the word of M. K. Aguilera, W. Chen and S. Toueg for
// its messages.
//
// Each period a node sends a heartbeat to every other node. It suspects a node of which it has heard nothing
// for the timeout, and trusts it again when it hears of it. If adapt is not zero, the timeout of a node that
// was suspected wrongly grows each time, so that from some time on no live node is suspected, however long
// messages take: the detector is eventually perfect.
//
// A crashed node is suspected by all within the timeout, a period and the latency of a message. No live node
// is suspected while messages take less than the timeout, and each as long as the others.
type heartbeat struct {
	pace
	now uint32 // how many periods have begun
	peers
}

// heartbeatBeat says that its sender is up in the incarnation Life.
type heartbeatBeat struct{ Life uint32 }

// tick is the timer of a detector, once a period.
var tick = nodes.Timer{}

// Start sends the first heartbeat at once, since all peers have the timeout from now on. The periods of
// different nodes begin at different times, so that not all heartbeats come together.
func (h *heartbeat) Start(env *nodes.Env) {
	h.all = make([]peer, env.Total())
	h.beat(env)
	env.SetTimer(tick, 0, h.period)
}

func (h *heartbeat) Timeout(env *nodes.Env, _ nodes.Timer) {
	h.beat(env)
	env.SetTimer(tick, h.period, h.period)
	h.now++
	h.suspect(env, h.now, h.timeout) // one period more than the timeout may have just begun when it was heard
}

func (h *heartbeat) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	switch m := m.(type) {
	case heartbeatBeat:
		h.hear(env, from, m.Life, h.now, h.adapt)
	default:
		nodes.Unexpected(h, m)
	}
}

// beat sends a heartbeat to all other nodes.
func (h *heartbeat) beat(env *nodes.Env) { toAll(env, heartbeatBeat{env.Incarnation()}) }

// toAll sends m to all other nodes: a broadcast reaches the clients alone.
func toAll(env *nodes.Env, m nodes.Message) {
	env.Broadcast(m)
	for id := nodes.ID(env.N()); int(id) < env.Total(); id++ {
		if id != env.Self() {
			env.Send(id, m)
		}
	}
}
