package election

import (
	"slices"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

var omegaEfficientAlgorithm = algorithm.Algorithm{
	Spec: nodes.Spec{
		Name: "omega-efficient", Kind: nodes.Election,
		New: func(c nodes.Config) nodes.Machine {
			return &omegaEfficient{patience: patienceOf(c), leader: nodes.None}
		},
		Timers:   []nodes.TimerName{{Kind: omegaBeat, Name: "beat"}, {Kind: omegaSilence, Name: "silence"}},
		Messages: []nodes.MessageKind{{Zero: frugalHeartbeat{}, Heartbeat: true}},
		Options:  omegaAlgorithm.Options,
		// It promises only that one node leads in the end: until then several may lead.
		Safe: omegaAlgorithm.Safe,
		Live: omegaAlgorithm.Live,
		// A node tries all lower nodes, one after the other, each for a silence that may have grown to twice its
		// length.
		Grace: func(c nodes.Config) time.Duration {
			return 2*time.Duration(c.N)*c.Duration(silenceOption) + 2*c.Duration(heartbeatOption)
		},
		Circulates: true,
	},
	Aliases: []string{"communication-efficient-omega"}, Family: "eventual leader",
	Source: "M. Larrea, A. Fernandez and S. Arevalo, Optimal implementation of the weakest failure detector " +
		"for solving consensus, SRDS 2000; the term: Aguilera, Delporte-Gallet, Fauconnier and " +
		"Toueg, PODC 2003",
	Summary: "A node that believes itself leader sends heartbeats to all higher nodes; a node whose leader " +
		"is silent too long tries the next higher one, up to itself, and returns to a lower one that it hears.",
	Elector: efficientLeads(),
	Published: []algorithm.Claim{quietClaim("N-1 once all agree: the leader alone sends", []string{"heartbeat"},
		func(n float64) float64 { return n - 1 })},
	Faults: beside(slices.Concat(
		under(breaks|unhit, "one leader per component (X); not hit if the bridge is node 0, which alone sends (-)",
			"parted-bridge"),
		under(breaks, "a node that hears no lower one leads, beside the one that others follow", "one-link",
			"chain")),
		omegaAlgorithm.Faults),
}

// efficientLeads returns the Leadership of omega, with the further promise that only the leader sends.
func efficientLeads() *algorithm.Leadership {
	leads := *omegaAlgorithm.Elector
	leads.LeaderAlone = true
	return &leads
}

// omegaEfficient elects, in the end, the lowest node that is up, and then only that one sends: N-1
// heartbeats a period if node 0 leads, and one less for each dead node below the leader.
//
// Each node tries one node at a time, node 0 at first. If the tried node is silent for as long as the
// patience with it, the node tries the next higher one. A node that reaches itself in this order leads, and
// sends heartbeats to all higher nodes. A heartbeat from a sender below the tried node shows that the sender
// was given up wrongly: the patience with the sender grows, and the node tries it again. Heartbeats of higher
// nodes are ignored.
//
// Why one leads in the end: let L be the lowest node that stays up. The dead below it fall silent, so L gives
// them up one after the other, reaches itself, and sends heartbeats for ever. A higher node tries a dead
// node, and goes on to the next in time; or a node above L, and returns to L when it hears of it; or L. If
// from some time on messages take no longer than some bound, however long, it gives up L only until its
// patience has grown enough. Then it follows L, and does not reach itself, so it does not send. Until then
// any number may lead: this is not a lock.
//
// There are no elections, so Campaign does nothing.
type omegaEfficient struct {
	patience
	tried  nodes.ID // the node that should lead: all lower nodes are given up
	leader nodes.ID // the tried node, once it was heard of; None before
}

// frugalHeartbeat says that its sender leads, in the incarnation Life.
type frugalHeartbeat struct{ Life uint32 }

// Start implements nodes.Starter.
func (o *omegaEfficient) Start(env *nodes.Env) { o.try(env, 0) }

// Recover implements nodes.Recoverer: the node finds out again which one leads.
func (o *omegaEfficient) Recover(env *nodes.Env, _ nodes.Message) { o.Start(env) }

// Campaign implements nodes.Elector.
func (*omegaEfficient) Campaign(*nodes.Env) {}

// try waits for a node to lead, or leads if it is this one.
func (o *omegaEfficient) try(env *nodes.Env, id nodes.ID) {
	o.tried = id
	if id != env.Self() {
		o.await(env)
		return
	}
	o.follow(env, id)
	env.StopTimer(nodes.Timer{Kind: omegaSilence})
	o.beat(env)
}

// await waits for a heartbeat of the node that is being tried.
func (o *omegaEfficient) await(env *nodes.Env) {
	env.StopTimer(nodes.Timer{Kind: omegaBeat})
	o.wait(env, nodes.Timer{Kind: omegaSilence}, o.tried)
}

func (o *omegaEfficient) beat(env *nodes.Env) {
	for id := env.Self() + 1; int(id) < env.N(); id++ {
		env.Send(id, frugalHeartbeat{env.Incarnation()})
	}
	env.SetTimer(nodes.Timer{Kind: omegaBeat}, o.heartbeat, o.heartbeat)
}

func (o *omegaEfficient) follow(env *nodes.Env, leader nodes.ID) {
	if leader != o.leader {
		o.leader = leader
		env.Elect(leader, 0)
	}
}

func (o *omegaEfficient) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	switch m := m.(type) {
	case frugalHeartbeat:
		if from <= o.tried && o.hear(from, m.Life, from < o.tried) {
			o.try(env, from)
			o.follow(env, from)
		}
	default:
		nodes.Unexpected(o, m)
	}
}

// Timeout implements nodes.Timed.
func (o *omegaEfficient) Timeout(env *nodes.Env, t nodes.Timer) {
	if t.Kind == omegaBeat {
		o.beat(env)
		return
	}
	o.follow(env, nodes.None)
	o.try(env, o.tried+1)
}
