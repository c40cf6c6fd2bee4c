package mutex

import (
	"slices"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

var lamportDeferredAlgorithm = algorithm.Algorithm{
	Spec: nodes.Spec{
		Name: "lamport-deferred",
		New: func(c nodes.Config) nodes.Machine {
			return &lamportDeferred{lamport: lamport{seen: make([]uint64, c.N)}}
		},
		Messages: lamportAlgorithm.Messages,
		Safe:     nodes.NoAmnesia,
		Live:     nodes.NoLoss | nodes.NoCrash,
	},
	Aliases: []string{"lamport-withheld", "ld"}, Family: "permission",
	Source: "Lamport, CACM 21(7), 1978, in the form of Lozes and Henrio, Distributed algorithms: mutual " +
		"exclusion (lecture slides, Nice), LA1 to LA5",
	Summary: "Every node queues all requests by their stamps, as in lamport, but a node inside " +
		"acknowledges new ones when it has left.",
	Mutex: &algorithm.Exclusion{
		Cost:       lamportAlgorithm.Mutex.Cost,
		Bypass:     peers, // as in lamport
		Identities: lamportAlgorithm.Mutex.Identities,
	},
	Published: []algorithm.Claim{
		{Figure: algorithm.MessagesPerEntry, Source: "Lozes and Henrio, LA1 to LA5",
			Value: formula(func(n float64) float64 { return 3 * (n - 1) })},
		{Figure: algorithm.SynchronizationDelayHops, Source: textbook, Sizes: nine, Value: exactly(1)},
		{Figure: algorithm.ClientDelayHops, Source: textbook, Load: "sequential", Sizes: nine, Value: exactly(2)},
	},
	Faults: withoutTimeouts(
		under(blocks, "every entry needs an acknowledgement of the dead node", "dead-idle"),
		under(blocks, answerLost, "lost-request", "lost-reply"),
		under(starves|blocks, "nobody is inside when a node restarts with an empty queue, so exclusion "+
			"holds; the others wait for lost answers (B), while the restarted node may keep entering alone "+
			"(P, the others)", "each-in-turn", "restarts", "amnesia"),
		under(recovers|starves|blocks|breaks, "a node that comes up with an empty queue may enter "+
			"while another is inside (X); otherwise as restarts, or nothing was lost (L)", "empty-restarts"),
	),
}

// lamportDeferred is Lamport's algorithm as E. Lozes and L. Henrio teach it: by their rule LA2, a node puts a
// request into its queue at once, and acknowledges it "once out of CS".
//
// Mutual exclusion then needs no FIFO links. Let P be inside, and Q have all acknowledgements. P gave its
// own before it entered, or Q would lack it. So P had Q's request in its queue, and P's own came first. Q
// has acknowledged P's request, so Q's queue has it too until P releases it, and Q's own is not first. This
// needs releases that name their request: otherwise a late one would remove the next request of its sender.
type lamportDeferred struct {
	lamport
	withheld []stamp // requests that came while we are inside, not acknowledged yet
}

func (l *lamportDeferred) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	q, asks := m.(lamportRequest)
	if !asks || !l.inside {
		l.lamport.Receive(env, from, m)
		return
	}
	s := stamp{q.Clock, from}
	l.hear(s)
	if !slices.Contains(l.withheld, s) { // else a copy
		l.withheld = append(l.withheld, s)
	}
}

func (l *lamportDeferred) Release(env *nodes.Env) {
	l.lamport.Release(env)
	for _, s := range l.withheld {
		env.Send(s.ID, lamportAck{s.Clock})
	}
	l.withheld = l.withheld[:0]
}
