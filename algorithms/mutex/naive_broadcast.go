package mutex

import (
	"slices"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

// The values of deferOption: when a node keeps a reply until it leaves.
const (
	deferInside  = "inside" // while it is inside
	deferNever   = "never"
	deferWaiting = "waiting" // while it is inside or waits: naive-broadcast-deferring
)

var deferOption = nodes.Option{
	Name:    "defer",
	Usage:   "when a node keeps its reply until it leaves",
	Values:  []string{deferInside, deferNever},
	Default: deferInside,
	Shows:   []nodes.Shown{{Value: deferNever, Than: deferInside, Figure: "overlaps", Least: 1.1, Most: 10}},
}

var naiveBroadcastAlgorithm = algorithm.Algorithm{
	Spec: nodes.Spec{
		Name:     "naive-broadcast",
		New:      func(c nodes.Config) nodes.Machine { return &naiveBroadcast{defers: c.Value(deferOption)} },
		Messages: []nodes.MessageKind{{Zero: naiveRequest{}, Broadcast: true}, {Zero: naiveReply{}, Permit: true}},
		Options:  []nodes.Option{deferOption},
		Live:     nodes.NoLoss | nodes.NoCrash,
	},
	Aliases: []string{"naive"}, Family: "permission",
	Source: "no source: a first attempt",
	Summary: "A node asks every peer and enters when all have replied; a peer that is inside replies " +
		"when it leaves, or (defer never) at once.",
	Mutex: naiveExclusion(),
	Flaw: &algorithm.Flaw{
		Check: "exclusion",
		At:    nodes.Config{N: 2},
	},
	Faults: slices.Concat(
		under(breaks, naiveBoth, nodePlans...),
		under(breaks, naiveBoth, naiveLinks...)),
}

var naiveDeferringAlgorithm = algorithm.Algorithm{
	Spec: nodes.Spec{
		Name:     "naive-broadcast-deferring",
		New:      func(nodes.Config) nodes.Machine { return &naiveBroadcast{defers: deferWaiting} },
		Messages: naiveBroadcastAlgorithm.Messages,
		Live:     naiveBroadcastAlgorithm.Live,
	},
	Aliases: []string{"naive-deferring"}, Family: "permission",
	Source: "no source: naive-broadcast, but waiting nodes defer replies, too",
	Summary: "As naive-broadcast, but a waiting peer, too, replies only when it leaves: two that ask at the " +
		"same time wait for each other.",
	Mutex: naiveExclusion(),
	Flaw: &algorithm.Flaw{
		Check: "progress",
		At:    nodes.Config{N: 2},
	},
	Faults: slices.Concat(
		under(blocks, naiveNeither, nodePlans...),
		under(blocks|unhit, naiveNeither+naiveLate, naiveLinks...)),
}

func naiveExclusion() *algorithm.Exclusion {
	return &algorithm.Exclusion{
		Cost: func(c nodes.Config) algorithm.Cost {
			return always("2(N-1)", algorithm.Exactly(float64(2*(c.N-1))), algorithm.Exactly(1))
		},
		Identities: []algorithm.Identity{
			counts("request = (N-1) entries", peers),
			counts("reply = request"),
		},
	}
}

const (
	naiveBoth    = "two clients that ask at the same time are both let in, even without the fault"
	naiveNeither = "two clients that ask at the same time wait for each other, even without the fault"
	naiveLate    = " (B); mostly before the fault comes, which then finds no message (-)"
)

// naiveLinks are the plans about links, and about lost replies.
var naiveLinks = append(slices.Clip(linkPlans), "lost-reply")

// naiveBroadcast is a first attempt, without a source. It is known to be broken, and here to show that
// the checks detect it.
//
// To enter, a node asks every peer and waits until all have replied. Requests have no order, so every rule
// on when to reply is wrong:
//
//   - A node always replies at once: two that ask permit each other, and a third one permits both.
//   - A node that is inside replies when it leaves: two that ask at the same time permit each other, while
//     neither is inside.
//   - A node that waits or is inside replies when it leaves: two that ask at the same time wait for each
//     other.
type naiveBroadcast struct {
	defers   string // when we keep a reply until we leave
	inside   bool
	awaiting nodes.Set // the peers that have yet to reply to our request
	deferred nodes.Set // the peers that we owe a reply
}

type (
	naiveRequest struct{} // asks to enter
	naiveReply   struct{} // permits the request
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
		if b.busy() {
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

// busy reports whether we keep replies until we leave.
func (b *naiveBroadcast) busy() bool {
	switch b.defers {
	case deferNever:
		return false
	case deferInside:
		return b.inside
	}
	return b.inside || !b.awaiting.Empty()
}

// enter grants once every peer has replied.
func (b *naiveBroadcast) enter(env *nodes.Env) {
	if b.awaiting.Empty() {
		b.inside = true
		env.Grant()
	}
}

// WaitsFor names the peers that have yet to reply.
func (b *naiveBroadcast) WaitsFor() nodes.Set { return b.awaiting.Clone() }
