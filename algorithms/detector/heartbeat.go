package detector

import (
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

var heartbeatAlgorithm = algorithm.Algorithm{
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
	Summary: "Every node sends all others a heartbeat each period, and suspects nodes that were silent too " +
		"long.",
	Detector: &algorithm.Detection{Tells: tells, Shows: inTime},
}

// heartbeat is the algorithm of figure 10 of T. D. Chandra and S. Toueg, "Unreliable failure detectors for
// reliable distributed systems", JACM 43(2), 1996. M. K. Aguilera, W. Chen and S. Toueg gave its messages
// their name.
//
// Each period a node sends a heartbeat to every other node. It suspects a node that was silent for the
// timeout, and trusts it again at its next heartbeat. If adapt is not zero, each wrong suspicion of a node
// adds to its timeout. From some time on no live node is then suspected, however long messages take: the
// detector is eventually perfect.
//
// All suspect a crashed node within the timeout, a period and the latency of a message. Nobody suspects a
// live node while all messages take the same time, less than the timeout.
type heartbeat struct {
	pace
	now uint32 // how many periods have begun
	peers
}

// heartbeatBeat says that its sender is up in the incarnation Life.
type heartbeatBeat struct{ Life uint32 }

// tick is the periodic timer of every detector.
var tick = nodes.Timer{}

// Start sends the first heartbeat at once, since peers count the silence of this node from their own start.
// The periods of different nodes begin at random times, so that heartbeats do not come all together.
func (h *heartbeat) Start(env *nodes.Env) {
	h.all = make([]peer, env.Total())
	h.beat(env)
	env.SetTimer(tick, 0, h.period)
}

func (h *heartbeat) Timeout(env *nodes.Env, _ nodes.Timer) {
	h.beat(env)
	env.SetTimer(tick, h.period, h.period)
	h.now++
	h.suspect(env, h.now, h.timeout) // suspect uses >: the latest heartbeat may have come late in its period
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

// toAll sends m to all other nodes, servers included: a broadcast reaches only clients.
func toAll(env *nodes.Env, m nodes.Message) {
	env.Broadcast(m)
	for id := nodes.ID(env.N()); int(id) < env.Total(); id++ {
		if id != env.Self() {
			env.Send(id, m)
		}
	}
}
