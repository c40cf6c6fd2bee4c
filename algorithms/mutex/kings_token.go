package mutex

import (
	"slices"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

var kingsTokenAlgorithm = algorithm.Algorithm{
	Spec: nodes.Spec{
		Name:     "kings-token",
		New:      func(nodes.Config) nodes.Machine { return &kingsToken{} },
		Messages: []nodes.MessageKind{{Zero: kingRequest{}, Broadcast: true}, {Zero: kingToken{}, Token: true}},
		Live:     nodes.NoLoss | nodes.NoCrash,
	},
	Aliases: []string{"king"}, Family: "token",
	Source: lozes + ", the naive algorithm before Suzuki and Kasami's",
	Summary: "A node without the token asks all; only the node that has it then, the king, queues the " +
		"request, and the queue goes with the token.",
	Mutex: &algorithm.Exclusion{
		Cost: func(c nodes.Config) algorithm.Cost { // tokens that come unasked cost extra messages
			cost := always("N, or 0 with the token", algorithm.Between(0, float64(c.N)), algorithm.Between(0, 1))
			cost.One, cost.Saturated, cost.Any = algorithm.Exactly(0), algorithm.Unbounded(0), algorithm.Unbounded(0)
			return cost
		},
		Identities: []algorithm.Identity{counts("token <= request")},
	},
	Flaw: &algorithm.Flaw{
		Check: "progress",
		At:    nodes.Config{N: 3},
	},
	Faults: beside(slices.Concat(
		under(starves, "no fault is needed: a request while the token is on its way is queued by nobody",
			"lost-request", "stopped-holder", "stopped-idle", "slow-node", "slow-links", "slow-network",
			"overtaking", "copies", "stalled-connection", "skewed-clocks"),
		under(blocks, tokenLost, "lost-token", "dead-holder", "dead-waiter"),
		under(starves|blocks|unhit, "as under split-brain; not hit if all but one wait already, and that one "+
			"sends nothing", "one-way"),
	), under(starves|blocks, "no fault is needed for some to wait (P); all do if the token is lost (B)",
		slices.Concat(nodePlans, linkPlans)...)),
}

// kingsToken is an algorithm that a lecture asks its readers to break: E. Lozes and L. Henrio, Distributed
// Algorithms: Mutual exclusion. It is known to be broken, and here to show that the checks detect it, and
// what the numbers of Suzuki and Kasami's requests are for.
//
// A node that has the token, the king, may enter, and keeps a queue of requests. Any other node that wants
// to enter sends a request to all, since it does not know the king. A king adds each request to the queue;
// other nodes drop it. A king that leaves, or is idle, sends the token, with the rest of the queue, to the
// first of the queue.
//
// It is safe, since there is one token. But a request that reaches the old king after the token has left,
// and the new king before the token has come, is in no queue: its sender waits for ever. And a request that
// reaches a king after its sender was served by another is queued all the same: the token comes to a node
// that has not asked, which sends it on.
type kingsToken struct {
	has    bool       // the token is here: we are king
	wants  bool       // our client waits or is inside
	queue  []nodes.ID // next holders of the token, while it is here
	serial uint64     // of the token when it was last here, or was sent from here
}

type (
	kingRequest struct{} // asks for the token
	kingToken   struct { // is the token, the privilege to enter
		Serial uint64 // how often it was sent
		Queue  []nodes.ID
	}
)

// Start makes node 0 king.
func (k *kingsToken) Start(env *nodes.Env) { k.has = env.Self() == 0 }

// Recover does nothing: if node 0 made a token again after a crash, there would be two.
func (k *kingsToken) Recover(*nodes.Env, nodes.Message) {}

func (k *kingsToken) Request(env *nodes.Env) {
	if k.wants = true; k.has {
		env.Grant()
		return
	}
	env.Broadcast(kingRequest{})
}

func (k *kingsToken) Release(env *nodes.Env) {
	k.wants = false
	k.pass(env)
}

func (k *kingsToken) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	switch m := m.(type) {
	case kingRequest:
		if !k.has {
			return // only the king queues a request
		}
		if k.queue = append(k.queue, from); !k.wants {
			k.pass(env)
		}
	case kingToken:
		if m.Serial <= k.serial {
			return // a copy
		}
		k.has, k.serial, k.queue = true, m.Serial, slices.Clone(m.Queue)
		if k.wants {
			env.Grant()
		} else {
			k.pass(env) // the token comes unasked
		}
	default:
		nodes.Unexpected(k, m)
	}
}

// pass sends the token to the first of the queue, unless the queue is empty.
func (k *kingsToken) pass(env *nodes.Env) {
	for len(k.queue) > 0 && k.queue[0] == env.Self() { // a request of ours that was queued twice
		k.queue = slices.Delete(k.queue, 0, 1)
	}
	if len(k.queue) == 0 {
		return
	}
	k.serial++
	env.Send(k.queue[0], kingToken{k.serial, slices.Clone(k.queue[1:])})
	k.has, k.queue = false, nil
}

// HasToken reports whether the token is here.
func (k *kingsToken) HasToken() bool { return k.has }
