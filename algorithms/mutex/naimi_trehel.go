package mutex

import (
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

var naimiTrehelAlgorithm = algorithm.Algorithm{
	Spec: nodes.Spec{
		Name: "naimi-trehel",
		New: func(nodes.Config) nodes.Machine {
			return &naimiTrehel{father: nodes.None, next: nodes.None}
		},
		Messages: []nodes.MessageKind{{Zero: naimiRequest{}}, {Zero: naimiToken{}, Token: true}},
		Live:     nodes.NoLoss | nodes.NoDuplication | nodes.NoCrash,
	},
	Aliases: []string{"naimi", "nt"}, Family: "token",
	Source: "Naimi, Trehel and Arnold, A log(N) distributed mutual exclusion algorithm based on path " +
		"reversal, JPDC 34(1), 1996",
	Summary: "Requests follow a chain of fathers to the node that asked last, which sends the token on; " +
		"on the way they turn the chain towards the new one.",
	Mutex: &algorithm.Exclusion{
		Cost: func(c nodes.Config) algorithm.Cost {
			return keepingToken(c, "1+1/2+...+1/(N-1) on average if sequential, N at most", c.N)
		},
		Exact: func(c nodes.Config, alone bool) algorithm.EntryCost {
			if !alone {
				return nil // concurrent requests take other ways
			}
			return reversals(c.N)
		},
		// The waiting nodes ahead form a queue, in which each node is once.
		Bypass: peers,
		Identities: []algorithm.Identity{
			counts("token <= entries"),
			counts("token <= request"),
			counts("request <= (N-1) token", peers),
		},
	},
	Published: []algorithm.Claim{
		{Figure: algorithm.MessagesPerEntry, Source: "Naimi, Trehel and Arnold, JPDC 34(1), 1996: H(N-1)",
			Load: "sequential", Value: formula(harmonic), Within: algorithm.Mean},
		{Figure: algorithm.MessagesPerEntry, Source: "fit to simulations: 4 - 6/(N+1)", Hold: 2 * algorithm.Hop,
			Value: formula(func(n float64) float64 { return 4 - 6/(n+1) }), Within: algorithm.Fitted},
		{Figure: algorithm.SynchronizationDelayHops, Source: textbook, Sizes: nine, Value: exactly(1)},
	},
	Faults: withoutTimeouts(
		under(recovers|starves|blocks, "nodes whose requests pass the dead node wait (P); all do if it "+
			"had kept the token (B), and no node waits in other cases (L)", "dead-idle"),
		behindToken,
	),
}

// harmonic is 1 + 1/2 + ... + 1/(n-1).
func harmonic(n float64) (sum float64) {
	for i := 1.0; i < n; i++ {
		sum += 1 / i
	}
	return sum
}

// reversals is the cost of one request after another. A request goes from father to father up to the root,
// which sends the token; all on the way take the new root as their father.
func reversals(n int) algorithm.EntryCost {
	father, root := make([]nodes.ID, n), nodes.ID(0)
	return func(entrant nodes.ID) (messages int) {
		for at := entrant; at != root; messages++ {
			at, father[at] = father[at], entrant
		}
		if messages > 0 {
			messages++ // the token
		}
		father[root], root = entrant, entrant
		return messages
	}
}

// naimiTrehel is the algorithm of M. Naimi, M. Trehel and A. Arnold, "A log(N) distributed mutual
// exclusion algorithm based on path reversal", JPDC 34(1), 1996.
//
// A node that has the token may enter. Each node has a father (FATHER), the node that it believes to have
// requested last; a node that believes that of itself is a root without a father. To enter, a node sends a
// request to its father and becomes a root. Each node on the way passes the request on to its own father,
// and takes the requesting node as its new father. The root at which the request ends remembers it as its
// successor (NEXT), and sends it the token when it leaves, or at once if it holds the token idle.
//
// Mutual exclusion holds because there is one token. A second one could only be a copy made by the network:
// the token counts how often it was sent, and a node drops one that was sent no more often than the last it
// had. Every request arrives since fathers lead to a root without a cycle, and each root has at most one
// successor, so the waiting nodes form one queue behind the token. A copy of a request breaks that: it can
// split the queue in two, and close a cycle of fathers, in which requests never end.
type naimiTrehel struct {
	father nodes.ID // believed to have requested last; None: we have
	next   nodes.ID // gets the token after us; None: nobody has asked for it yet
	has    bool     // the token is here
	wants  bool     // our client waits or is inside
	serial uint64   // of the token when it was last here
}

type (
	naimiRequest struct { // asks for the token
		Origin nodes.ID
		Hops   uint32 // how often it was passed on
	}
	naimiToken struct{ Serial uint64 } // is the token, sent for the Serial-th time
)

// Start puts the token at node 0, everyone's father.
func (t *naimiTrehel) Start(env *nodes.Env) {
	if env.Self() == 0 {
		t.has = true
	} else {
		t.father = 0
	}
}

// Recover does nothing: if node 0 made a token again after a crash, there would be two.
func (t *naimiTrehel) Recover(*nodes.Env, nodes.Message) {}

func (t *naimiTrehel) Request(env *nodes.Env) {
	t.wants = true
	switch {
	case t.has:
		env.Grant()
	case t.father != nodes.None: // else we have restarted, and have no father
		env.Send(t.father, naimiRequest{Origin: env.Self()})
		t.father = nodes.None
	}
}

func (t *naimiTrehel) Release(env *nodes.Env) {
	t.wants = false
	if t.next != nodes.None {
		t.send(env, t.next)
		t.next = nodes.None
	}
}

func (t *naimiTrehel) Receive(env *nodes.Env, _ nodes.ID, m nodes.Message) {
	switch m := m.(type) {
	case naimiRequest:
		switch {
		case m.Origin == env.Self() || int(m.Hops) >= env.N():
			return // it is in a cycle that a copy has made, and would circulate for ever
		case t.father != nodes.None:
			env.Send(t.father, naimiRequest{m.Origin, m.Hops + 1})
		case t.has && !t.wants:
			t.send(env, m.Origin)
		default:
			t.next = m.Origin
		}
		t.father = m.Origin
	case naimiToken:
		if m.Serial <= t.serial {
			return // a copy
		}
		t.serial = m.Serial
		t.has = true
		if t.wants {
			env.Grant()
		}
	default:
		nodes.Unexpected(t, m)
	}
}

// send sends the token to a node.
func (t *naimiTrehel) send(env *nodes.Env, to nodes.ID) {
	t.has = false
	t.serial++
	env.Send(to, naimiToken{t.serial})
}

// HasToken reports whether the token is here.
func (t *naimiTrehel) HasToken() bool { return t.has }
