package mutex

import (
	"slices"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

var ricartTokenAlgorithm = algorithm.Algorithm{
	Spec: nodes.Spec{
		Name: "ricart-agrawala-token",
		New: func(c nodes.Config) nodes.Machine {
			return &ricartToken{requests: make([]uint64, c.N)}
		},
		Messages: []nodes.MessageKind{{Zero: rtRequest{}, Broadcast: true}, {Zero: rtToken{}, Token: true}},
		Live:     nodes.NoLoss | nodes.NoCrash,
	},
	Aliases: []string{"ricart-token", "ra-token"}, Family: "token",
	Source: "Ricart and Agrawala, Authors' response to \"On mutual exclusion in computer networks\", " +
		"CACM 26(2), 1983",
	Summary: "A node without the token asks all peers for it; a node that leaves sends it to the next one, " +
		"cyclically, that has asked since it was served.",
	Mutex: &algorithm.Exclusion{
		Cost:  suzukiKasamiAlgorithm.Mutex.Cost,
		Exact: suzukiKasamiAlgorithm.Mutex.Exact,
		// The token goes round in the order of the nodes, so it comes to each other node at most once before it
		// comes to a node that waits.
		Bypass:     peers,
		Identities: suzukiKasamiAlgorithm.Mutex.Identities,
	},
	Published: []algorithm.Claim{
		{Figure: algorithm.MessagesPerEntry, Source: lozes + ": N, as Suzuki and Kasami's", Hold: 2 * algorithm.Hop,
			Value: formula(func(n float64) float64 { return n }), Within: algorithm.Steady},
		{Figure: algorithm.MessagesPerEntry, Source: "N, or 0 in one of N", Load: "sequential",
			Value: formula(func(n float64) float64 { return n - 1 }), Within: algorithm.Mean},
		{Figure: algorithm.MessagesPerEntry, Source: "the token is kept", Load: "one", Value: exactly(0)},
		{Figure: algorithm.SynchronizationDelayHops, Source: "the token", Sizes: nine, Value: exactly(1)},
	},
	Faults: beside(under(recovers|starves|blocks, "as split-brain (P, B); but each node that gets the token "+
		"sends it to nodes that it has heard, over the bridge or not (L)", "bridge"), suzukiKasamiAlgorithm.Faults),
}

// ricartToken is the algorithm of G. Ricart and A. K. Agrawala with a token: "Authors' response to 'On
// mutual exclusion in computer networks' by Carvalho and Roucairol", CACM 26(2), 1983, in the form in
// which M. Raynal, Algorithms for mutual exclusion, 1986, and lectures after him give it.
//
// A node that has the token may enter. A node without it counts its requests (clock), and sends the number of
// the new one to every peer; all record the highest number they hear from each node (request). The token
// carries the number of each node's latest request that was served (token). A node that leaves looks at the
// nodes after it, cyclically, and sends the token to the first whose number is higher in request than in
// token. If it finds no such node it keeps the token, and looks again when a request comes.
//
// It differs from Suzuki and Kasami's in that the token carries no queue: the only order comes from the
// numbers of the nodes.
//
// Mutual exclusion holds because there is one token. A second one could only be a copy made by the network:
// the token counts how often it was sent, and a node drops one that was sent no more often than the last it
// had. Nobody waits for ever, since the token skips no node that is known to wait.
type ricartToken struct {
	requests []uint64 // by node: number of its latest known request (request in the source; ours: clock)
	has      bool     // the token is here (token_present in the source)
	held     bool     // our client waits or is inside (token_held in the source)
	token    rtToken  // the token; once it has gone only its serial is kept
}

type (
	rtRequest struct{ Clock uint64 } // asks for the token, for the Clock-th time
	rtToken   struct {               // is the token, the privilege to enter
		Serial uint64   // how often the token was sent
		Served []uint64 // by node: its latest request that was served
	}
)

// Start puts the token at node 0.
func (r *ricartToken) Start(env *nodes.Env) {
	if env.Self() == 0 {
		r.has = true
		r.token.Served = make([]uint64, env.N())
	}
}

// Recover does nothing: if node 0 made a token again after a crash, there would be two.
func (r *ricartToken) Recover(*nodes.Env, nodes.Message) {}

func (r *ricartToken) Request(env *nodes.Env) {
	r.held = true
	if r.has {
		env.Grant()
		return
	}
	r.requests[env.Self()]++
	env.Broadcast(rtRequest{r.requests[env.Self()]})
}

func (r *ricartToken) Release(env *nodes.Env) {
	r.held = false
	r.pass(env)
}

func (r *ricartToken) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	switch m := m.(type) {
	case rtRequest:
		r.requests[from] = max(r.requests[from], m.Clock)
		if r.has && !r.held {
			r.pass(env)
		}
	case rtToken:
		if m.Serial <= r.token.Serial {
			return // the token is a copy
		}
		r.has = true
		r.token = rtToken{m.Serial, slices.Clone(m.Served)}
		if r.held {
			env.Grant()
		} else {
			r.pass(env) // we have restarted since we requested the token
		}
	default:
		nodes.Unexpected(r, m)
	}
}

// pass notes that our latest request is served, and sends the token to the next waiting node, if any.
func (r *ricartToken) pass(env *nodes.Env) {
	self, n := env.Self(), nodes.ID(env.N())
	r.token.Served[self] = r.requests[self]
	for step := nodes.ID(1); step < n; step++ {
		id := (self + step) % n
		if r.requests[id] <= r.token.Served[id] {
			continue
		}
		r.token.Serial++
		env.Send(id, r.token)
		r.has, r.token = false, rtToken{Serial: r.token.Serial}
		return
	}
}

// HasToken reports whether the token is here.
func (r *ricartToken) HasToken() bool { return r.has }
