package mutex

import (
	"turnstile/nodes"
	"turnstile/nodes/row"
)

var naiveBroadcastRow = row.Row{
	Spec: nodes.Spec{
		Name:     "naive-broadcast",
		New:      func(nodes.Config) nodes.Machine { return &naiveBroadcast{} },
		Messages: []nodes.MessageKind{{Zero: naiveRequest{}, Broadcast: true}, {Zero: naiveReply{}, Permit: true}},
		Live:     nodes.NoLoss | nodes.NoCrash,
	},
	Aliases: []string{"naive"}, Family: "permission",
	Source: "none: what one writes before reading the papers",
	Summary: "A node asks every peer and enters when all have replied; a peer that is inside replies " +
		"when it leaves.",
	Mutex: &row.Exclusion{
		Cost: func(c nodes.Config) row.Cost {
			return always("2(N-1)", row.Exactly(float64(2*(c.N-1))), row.Exactly(1))
		},
		Identities: []row.Identity{
			counts("request = (N-1) entries", peers),
			counts("reply = request"),
		},
	},
	Flaw: &row.Flaw{
		Check: "exclusion",
		At:    nodes.Config{N: 2},
	},
	Faults: under(breaks, "two clients that ask at the same time are both let in, whatever else goes wrong",
		"dead-idle", "dead-waiter", "dead-holder", "each-in-turn", "lost-request", "lost-reply", "lossy-links",
		"flaky-links", "split-brain", "half-cut", "holder-in-minority", "holder-in-majority", "one-way", "bridge",
		"majority-ring", "stopped-holder", "stopped-idle", "slow-node", "slow-links", "slow-network", "overtaking",
		"copies", "restarts", "amnesia", "empty-restarts", "broker-restart", "split-brokers",
		"stalled-connection", "reset-connections", "skewed-clocks"),
}

// naiveBroadcast is what one writes before reading the papers. It is known to be broken, and here to show
// that the checks detect it.
//
// To enter, a node asks every peer and waits until all have replied. A node replies at once unless
// it is inside; then it replies when it leaves.
//
// It is not safe: two nodes that ask at the same time permit each other.
type naiveBroadcast struct {
	inside   bool
	awaiting nodes.Set // the peers that have yet to reply to our request
	deferred nodes.Set // the peers that we owe a reply
}

type (
	naiveRequest struct{} // asks to enter
	naiveReply   struct{} // permits it
)

func (b *naiveBroadcast) Request(env *nodes.Env) {
	b.awaiting = env.Peers()
	env.Broadcast(naiveRequest{})
	b.enter(env)
}

func (b *naiveBroadcast) Release(env *nodes.Env) {
	b.inside = false
	for peer := range b.deferred.All() {
		env.Send(peer, naiveReply{})
	}
	b.deferred.Clear()
}

func (b *naiveBroadcast) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	switch m := m.(type) {
	case naiveRequest:
		if b.inside {
			b.deferred.Add(from)
		} else {
			env.Send(from, naiveReply{})
		}
	case naiveReply:
		if b.awaiting.Remove(from) {
			b.enter(env)
		}
	default:
		nodes.Unexpected(b, m)
	}
}

// enter grants once every peer has replied.
func (b *naiveBroadcast) enter(env *nodes.Env) {
	if b.awaiting.Empty() {
		b.inside = true
		env.Grant()
	}
}

// WaitsFor names those who have yet to reply.
func (b *naiveBroadcast) WaitsFor() nodes.Set { return b.awaiting.Clone() }
