package mutex

import (
	"slices"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

var carvalhoRoucairolAlgorithm = algorithm.Algorithm{
	Spec: nodes.Spec{
		Name:     "carvalho-roucairol",
		New:      func(c nodes.Config) nodes.Machine { return &carvalhoRoucairol{seen: make([]uint64, c.N)} },
		Messages: []nodes.MessageKind{{Zero: carvalhoRequest{}}, {Zero: carvalhoReply{}, Permit: true}},
		Safe:     nodes.NoAmnesia,
		Live:     nodes.NoLoss | nodes.NoCrash,
	},
	Aliases: []string{"carvalho", "cr"}, Family: "permission",
	Source: "Carvalho and Roucairol, On mutual exclusion in computer networks, CACM 26(2), 1983",
	Summary: "As ricart-agrawala, but a permission is kept until its giver asks in turn: a node asks only " +
		"peers whose permission it lacks.",
	Mutex: &algorithm.Exclusion{
		Cost:       keptPermissions,
		Exact:      func(c nodes.Config, alone bool) algorithm.EntryCost { return lacking(c, alone, nobodyHolds) },
		Identities: []algorithm.Identity{counts("reply = request"), counts("request <= (N-1) entries", peers)},
	},
	Published: []algorithm.Claim{
		{Figure: algorithm.MessagesPerEntry, Source: paper +
			": none for a node that comes back; the first of 1,000 " +
			"takes 2(N-1)",
			Load: "one", Value: formula(func(n float64) float64 { return 2 * (n - 1) / 1000 })},
		{Figure: algorithm.MessagesPerEntry, Source: "derived: of two nodes, the last to enter has the permission",
			Load:  "sequential",
			Value: formula(func(n float64) float64 { return n - 1 }), Within: algorithm.Mean},
		// With a short hold a node would enter again, without messages, until the requests of the others arrive.
		{Figure: algorithm.MessagesPerEntry, Source: paper + ": 2(N-1) at most", Hold: 2 * algorithm.Hop,
			Value: formula(func(n float64) float64 { return 2 * (n - 1) }), Within: algorithm.Steady},
		{Figure: algorithm.SynchronizationDelayHops, Source: "derived: the reply of the node that leaves",
			Hold:  2 * algorithm.Hop,
			Sizes: nine, Value: exactly(1)},
	},
	Faults: withoutTimeouts(
		under(starves|blocks, "nodes that lack the dead node's permission wait (P), and soon all that need "+
			"theirs (B)", "dead-idle"),
		under(blocks, answerLost, "lost-request", "lost-reply"),
		under(starves|blocks, keptOn, losses...),
		under(starves|blocks, keptOn, cuts...),
		under(starves|blocks, "the node comes up with no permission and its clock at 0, and its requests are "+
			"taken for old ones: it waits (P), and so do all whose requests it puts off (B)", "each-in-turn",
			"restarts", "amnesia"),
		under(recovers|starves|blocks|breaks, "as under restarts; but the next request of a node may overtake the "+
			"permission that it has given before (X), or nothing was lost (L)", "empty-restarts"),
	),
}

// keptOn is the outcome of losses where permissions are kept.
const keptOn = "the receiver of a lost message waits for ever; a node with all permissions enters until a " +
	"peer asks for one (P), and then all wait (B)"

// keptPermissions is the cost of an algorithm whose nodes keep permissions.
func keptPermissions(c nodes.Config) algorithm.Cost {
	return always("0 to 2(N-1)", algorithm.Between(0, float64(2*(c.N-1))), algorithm.Between(0, 1))
}

// nobodyHolds: at first all nodes lack all permissions.
func nobodyHolds(_, _ nodes.ID) bool { return true }

// lacking is the cost of one request after another: a request and a reply of each peer whose permission the
// entrant lacks. lacks reports whether a node lacks a peer's permission at first.
func lacking(c nodes.Config, alone bool, lacks func(id, peer nodes.ID) bool) algorithm.EntryCost {
	if !alone {
		return nil // a waiting node may have to ask again for a permission that it had
	}
	entries, last := 0, make([]int, c.N) // by node: the number of its last entry; 0: it has not entered
	return func(entrant nodes.ID) (messages int) {
		entries++
		for peer := range nodes.ID(c.N) {
			never := last[entrant] == 0 && last[peer] == 0
			if peer != entrant && (last[peer] > last[entrant] || never && lacks(entrant, peer)) {
				messages += 2
			}
		}
		last[entrant] = entries
		return messages
	}
}

// carvalhoRoucairol is the algorithm of O. S. F. Carvalho and G. Roucairol, "On mutual exclusion in computer
// networks", CACM 26(2), 1983.
//
// It is the algorithm of Ricart and Agrawala, but a reply is a permission that lasts. The receiver may enter
// again and again without asking, until it replies to a request of the giver. If a waiting node replies to
// an earlier request, it gives back the peer's permission, and asks for it again at once: otherwise it would
// wait for a reply that nobody owes.
//
// Mutual exclusion: of two nodes, at most one has the permission of the other. A reply carries a permission,
// and its sender then lacks the receiver's. A node inside has the permission of every peer, and keeps it
// until it leaves. If neither has the other's, as at first, both ask, and the later request waits. That holds
// for any links if copies are recognized: an old request answered twice would give both a permission.
//
// At first nobody has a permission here, so that a node that comes up again without memory can begin in the
// same way. That is still not safe: its next request can overtake a reply of its earlier life.
type carvalhoRoucairol struct {
	clock uint64     // the highest stamp seen or used
	ours  stamp      // our request; zero while we are neither waiting nor inside
	lacks nodes.Set  // peers whose permission we lack; while we wait, all of them were asked for it
	seen  []uint64   // by peer: the clock of its latest request
	owed  []nodes.ID // peers whose latest request we have put off, in the order of arrival
}

type (
	carvalhoRequest struct{ Clock uint64 } // asks for the permission, stamped Clock
	carvalhoReply   struct{ Clock uint64 } // gives it, as asked by the request stamped Clock
)

func (r *carvalhoRoucairol) Start(env *nodes.Env) { r.lacks = env.Peers() }

func (r *carvalhoRoucairol) Request(env *nodes.Env) {
	r.clock++
	r.ours = stamp{r.clock, env.Self()}
	for peer := range r.lacks.All() {
		env.Send(peer, carvalhoRequest{r.clock})
	}
	if r.lacks.Empty() {
		env.Grant()
	}
}

func (r *carvalhoRoucairol) Release(env *nodes.Env) {
	r.ours = stamp{}
	for _, peer := range r.owed {
		r.permit(env, peer)
	}
	r.owed = r.owed[:0]
}

func (r *carvalhoRoucairol) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	switch m := m.(type) {
	case carvalhoRequest:
		if m.Clock > r.seen[from] { // else a copy: its sender has the permission, or had it
			r.seen[from] = m.Clock
			r.asked(env, stamp{m.Clock, from})
		}
	case carvalhoReply:
		// A copy of the reply to an earlier request would bring back a permission that we have given away.
		if m.Clock == r.ours.Clock && r.lacks.Remove(from) && r.lacks.Empty() {
			env.Grant()
		}
	default:
		nodes.Unexpected(r, m)
	}
}

// asked handles a request of a peer.
func (r *carvalhoRoucairol) asked(env *nodes.Env, s stamp) {
	r.clock = max(r.clock, s.Clock)
	waiting, inside := !r.ours.isZero() && !r.lacks.Empty(), !r.ours.isZero() && r.lacks.Empty()
	switch {
	case inside || waiting && r.ours.before(s): // while we are inside, even an earlier request waits
		if !slices.Contains(r.owed, s.ID) {
			r.owed = append(r.owed, s.ID)
		}
	case waiting && !r.lacks.Has(s.ID):
		r.permit(env, s.ID)
		env.Send(s.ID, carvalhoRequest{r.ours.Clock})
	default:
		r.permit(env, s.ID)
	}
}

// permit gives a peer our permission, for its latest request. With that, we lack the peer's.
func (r *carvalhoRoucairol) permit(env *nodes.Env, peer nodes.ID) {
	r.lacks.Add(peer)
	env.Send(peer, carvalhoReply{r.seen[peer]})
}

// WaitsFor names the peers whose permission we lack.
func (r *carvalhoRoucairol) WaitsFor() nodes.Set { return r.lacks.Clone() }
