package mutex

import (
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

var singhalDynamicAlgorithm = algorithm.Algorithm{
	Spec: nodes.Spec{
		Name: "singhal-dynamic",
		New: func(c nodes.Config) nodes.Machine {
			return &singhalDynamic{carvalhoRoucairol{seen: make([]uint64, c.N)}}
		},
		Messages: carvalhoRoucairolAlgorithm.Messages,
		Safe:     nodes.NoAmnesia,
		Live:     nodes.NoLoss | nodes.NoCrash,
	},
	Aliases: []string{"singhal", "dynamic"}, Family: "permission",
	Source: "Singhal, A dynamic information-structure mutual exclusion algorithm for distributed systems, " +
		"IEEE TPDS 3(1), 1992, as Kshemkalyani and Singhal, Distributed Computing, ch. 9, give it",
	Summary: "A node asks its request set, initially all lower-numbered nodes; a peer leaves the set when it " +
		"replies, and joins it when the node replies to it.",
	Mutex: &algorithm.Exclusion{
		Cost:       keptPermissions,
		Exact:      func(c nodes.Config, alone bool) algorithm.EntryCost { return lacking(c, alone, staircase) },
		Identities: carvalhoRoucairolAlgorithm.Mutex.Identities,
	},
	Published: []algorithm.Claim{
		{Figure: algorithm.MessagesPerEntry, Source: textbook + ": N-1 at low load", Load: "sequential",
			Value: formula(func(n float64) float64 { return n - 1 }), Within: algorithm.Mean},
		{Figure: algorithm.MessagesPerEntry, Source: "derived: nobody else has asked", Load: "one",
			Value: exactly(0)},
		// The book assumes that half of the peers are in the request set of a node that asks, and that half of
		// the others come into it while the node waits. If all ask again at once, all are in it from the
		// beginning.
		{Figure: algorithm.MessagesPerEntry, Source: textbook + ": 3(N-1)/2 at high load", Hold: 2 * algorithm.Hop,
			Value: formula(func(n float64) float64 { return 3 * (n - 1) / 2 }), Within: algorithm.Beside},
		{Figure: algorithm.SynchronizationDelayHops, Source: textbook, Hold: 2 * algorithm.Hop, Sizes: nine,
			Value: exactly(1)},
	},
	Faults: withoutTimeouts(
		under(starves|blocks, "nodes that have the dead node in their request sets wait (P), and soon all that "+
			"need their replies (B)", "dead-idle"),
		under(blocks, answerLost, "lost-request", "lost-reply"),
		under(starves|blocks, keptOn, losses...),
		under(starves|blocks, keptOn, cuts...),
		under(recovers|starves|blocks|breaks, "a node that comes up begins with its first request set, and may "+
			"enter without the permission of a node inside (X); or all have left by then, and its requests are taken "+
			"for old ones (P, B), or it needs nobody (L)", comebacks...),
	),
}

// staircase reports which peers are in the request set of a node at first: those with lower IDs. So one of
// any two nodes is in the other's set.
func staircase(id, peer nodes.ID) bool { return peer < id }

// singhalDynamic is the algorithm of M. Singhal, "A dynamic information-structure mutual exclusion algorithm
// for distributed systems", IEEE TPDS 3(1), 1992, by the rules that A. D. Kshemkalyani and M. Singhal,
// "Distributed Computing", chapter 9, give.
//
// A node has a request set (R), whose nodes it asks, and an inform set (I), whose nodes it replies to when it
// leaves. At first the request sets are a staircase: node i asks nodes 0 to i-1. A node takes a peer that
// replies to it out of its request set, and puts a peer that it replies to into that set. A node that comes
// into the set of a waiting node is asked at once. One of any two nodes is in the request set of the other,
// and so one of them asks the other.
//
// These are the rules of Carvalho and Roucairol, expressed by sets: the request set holds peers whose
// permission is lacking, the inform set peers whose requests are put off. Only the beginning differs: some
// nodes have permissions. A node that comes up again has them once more, and that breaks exclusion.
//
// This fixes two things that the book leaves open. A node that asks once more does so with the stamp of its
// request: with its clock, which messages have moved, it would come after requests that it has put off. And
// copies of requests and replies are recognized, as in carvalho-roucairol.
type singhalDynamic struct{ carvalhoRoucairol }

func (s *singhalDynamic) Start(env *nodes.Env) {
	for id := range env.Self() {
		s.lacks.Add(id)
	}
}
