package mutex

import (
	"slices"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

var ricartAgrawalaAlgorithm = algorithm.Algorithm{
	Spec: nodes.Spec{
		Name: "ricart-agrawala",
		New:  newRicart,
		Messages: []nodes.MessageKind{{Zero: ricartRequest{}, Broadcast: true},
			{Zero: ricartReply{}, Permit: true},
			{Zero: ricartReplies{}, Permit: true, Broadcast: true, Only: repliesTogether}},
		Options: []nodes.Option{priorityOption, repliesOption},
		Safe:    nodes.NoAmnesia,
		Live:    nodes.NoLoss | nodes.NoCrash,
	},
	Aliases: []string{"ricart", "ra"}, Family: "permission",
	Source: "Ricart and Agrawala, An optimal algorithm for mutual exclusion in computer networks, " +
		"CACM 24(1), 1981",
	Summary: "A node asks every peer and enters when all have replied; a peer that is inside, or asked " +
		"earlier, replies when it leaves.",
	Mutex: &algorithm.Exclusion{
		Cost: ricartCost,
		// A peer that has received a request stamps its own later ones higher, so the peer enters at most once
		// before that request.
		Bypass: ofStamps,
		// A waiting peer that replies to a better request asks the sender again, and the sender puts the peer off.
		Fewest: func(c nodes.Config) bool { return priorityOf(c) == byFewest },
		Identities: []algorithm.Identity{
			unranked(counts("request = (N-1) entries", peers), counts("request >= (N-1) entries", peers)),
			where(repliesApart, unranked(counts("reply = request"), counts("reply <= request"))),
			where(repliesTogether, counts("replies <= (N-1) entries", peers)),
			where(repliesTogether, counts("reply + replies >= request")),
		},
	},
	Published: slices.Concat([]algorithm.Claim{
		{Figure: algorithm.MessagesPerEntry, Source: paper,
			Value: formula(func(n float64) float64 { return 2 * (n - 1) })},
		{Figure: algorithm.MessagesPerEntry, Source: paper + ": multicast or not", Multicast: true,
			Value: formula(func(n float64) float64 { return 2 * (n - 1) })},
		{Figure: algorithm.PublishesPerEntry, Source: paper + ": one request, N-1 replies", Multicast: true,
			Value: formula(func(n float64) float64 { return n })},
		{Figure: algorithm.SynchronizationDelayHops, Source: textbook, Sizes: nine, Value: exactly(1)},
		{Figure: algorithm.ClientDelayHops, Source: textbook, Load: "sequential", Sizes: nine, Value: exactly(2)},
	}, utilisation("W/(W+T)", 1)),
	Faults: withoutTimeouts(
		under(blocks, "every entry needs a reply of the dead node", "dead-idle"),
		under(blocks, answerLost, "lost-request", "lost-reply"),
		under(starves|blocks, "nobody is inside when a node restarts with its clock at 0, so exclusion "+
			"holds; the others wait for lost replies (B), while all reply to the restarted node, whose stamps "+
			"are lowest, and it may keep entering alone (P, the others)", "each-in-turn", "restarts",
			"amnesia"),
		under(recovers|starves|blocks|breaks, "a node that comes up with its clock at 0 may enter "+
			"while another is inside (X); otherwise as restarts, or nothing was lost (L)", "empty-restarts"),
	),
}

// ricartAgrawala is the algorithm of G. Ricart and A. K. Agrawala, "An optimal algorithm for mutual
// exclusion in computer networks", CACM 24(1), 1981.
//
// To enter, a node stamps a request with its logical clock, sends it to every peer and waits until
// all have replied. A node replies at once unless it is inside, or waiting under an earlier stamp;
// then it holds the reply back until it leaves.
//
// Mutual exclusion holds because one of any two waiting nodes defers to the other: the clock of a node that
// has received a request only rises, so that its later requests have later stamps. Hence a node inside has
// the permission of every peer, and no peer has its permission.
type ricartAgrawala struct {
	clock    uint64        // the highest stamp seen or used
	ours     stamp         // our request; zero while we are neither waiting nor inside
	awaiting nodes.Set     // the peers that have yet to reply to our request
	deferred []ricartReply // by peer: the reply we owe; zero: no reply
	owed     []nodes.ID    // the peers that we owe a reply, in the order of their requests
}

type (
	ricartRequest struct{ Clock uint64 } // asks to enter, stamped Clock
	ricartReply   struct{ Clock uint64 } // permits the request stamped Clock
)

func (r *ricartAgrawala) Request(env *nodes.Env) {
	r.clock++
	r.ours = stamp{r.clock, env.Self()}
	r.awaiting = env.Peers()
	env.Broadcast(ricartRequest{r.clock})
	if r.awaiting.Empty() {
		env.Grant() // there are no peers
	}
}

func (r *ricartAgrawala) Release(env *nodes.Env) {
	r.ours = stamp{}
	// The node that requested first usually enters first, so it gets its reply first.
	for _, peer := range r.owed {
		env.Send(peer, r.deferred[peer])
		r.deferred[peer] = ricartReply{}
	}
	r.owed = r.owed[:0]
}

func (r *ricartAgrawala) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	switch m := m.(type) {
	case ricartRequest:
		// With r.clock = m.Clock the clock could fall, and our next request undercut one that we have
		// permitted: both would be inside.
		r.clock = max(r.clock, m.Clock)
		if !r.ours.isZero() && r.ours.before(stamp{m.Clock, from}) {
			r.putOff(from, m)
			return
		}
		env.Send(from, ricartReply(m))
	case ricartReply:
		// A reply names the request it permits, so that a late or repeated one does not count towards a
		// request that its sender never saw.
		if m.Clock == r.ours.Clock && r.awaiting.Remove(from) && r.awaiting.Empty() {
			env.Grant()
		}
	default:
		nodes.Unexpected(r, m)
	}
}

// putOff keeps the reply to a request until we leave.
func (r *ricartAgrawala) putOff(from nodes.ID, m ricartRequest) {
	known := r.deferred[from]
	if m.Clock <= known.Clock { // a copy, or late
		return
	}
	if known == (ricartReply{}) {
		r.owed = append(r.owed, from)
	}
	r.deferred[from] = ricartReply(m) // a reply has the stamp of its request
}

// WaitsFor names the peers that have yet to reply.
func (r *ricartAgrawala) WaitsFor() nodes.Set { return r.awaiting.Clone() }
