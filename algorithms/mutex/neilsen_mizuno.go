package mutex

import (
	"slices"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

var neilsenMizunoAlgorithm = algorithm.Algorithm{
	Spec: nodes.Spec{
		Name: "neilsen-mizuno",
		New: func(c nodes.Config) nodes.Machine {
			return &neilsenMizuno{tree: c.Value(treeOption), last: nodes.None, next: nodes.None}
		},
		Messages: []nodes.MessageKind{{Zero: neilsenRequest{}}, {Zero: neilsenPrivilege{}, Token: true}},
		Options:  []nodes.Option{treeOption},
		Live:     nodes.NoLoss | nodes.NoDuplication | nodes.NoCrash,
	},
	Aliases: []string{"neilsen", "nm", "dag"}, Family: "token",
	Source: "Neilsen and Mizuno, A DAG-based algorithm for distributed mutual exclusion, ICDCS 1991",
	Summary: "Requests follow the edges of a tree to the node that asked last, and turn them round; that node " +
		"sends the token straight to the new one.",
	Mutex: &algorithm.Exclusion{
		Cost: func(c nodes.Config) algorithm.Cost {
			return keepingToken(c, "D+1 at most, 3 on a star", diameter(c)+1)
		},
		Symbols: []algorithm.Symbol{{Name: "D", Says: "diameter of the tree, in edges", Value: diameter}},
		// A request ends at the node that asked just before, which enters before the sender of the request. Edges
		// only change their direction, so the request takes the path through the tree. The token takes one message.
		Exact: func(c nodes.Config, _ bool) algorithm.EntryCost {
			tree := c.Value(treeOption)
			return handovers(func(from, to nodes.ID) int { return distance(tree, from, to) + 1 })
		},
		// The waiting nodes ahead form a queue, in which each node is once.
		Bypass: peers,
		Identities: []algorithm.Identity{
			counts("privilege <= entries"),
			counts("privilege <= request"),
			counts("request <= (D) privilege", diameter),
		},
	},
	Published: slices.Concat([]algorithm.Claim{
		{Figure: algorithm.MessagesPerEntry,
			Source:  "Neilsen and Mizuno, ICDCS 1991: at most 3 on a star",
			Options: map[string]string{treeOption.Name: starTree},
			Value:   func(nodes.Config) algorithm.Range { return algorithm.Between(0, 3) }},
		{Figure: algorithm.SynchronizationDelayHops, Sizes: nine, Value: exactly(1),
			Source: "Neilsen and Mizuno, ICDCS 1991: minimal under heavy load"},
		{Figure: algorithm.MessagesPerEntry,
			Source: "3 - 5/N + 2/N^2 on a star", Load: "sequential",
			Options: map[string]string{treeOption.Name: starTree},
			Value:   formula(func(n float64) float64 { return 3 - 5/n + 2/(n*n) }), Within: algorithm.Mean},
	}, neilsenMeans("line", "binary")),
	Faults: withoutTimeouts(
		under(recovers|starves|blocks, "nodes whose requests pass the dead node wait (P); all do if it "+
			"had kept the token (B), and no node waits in other cases (L)", "dead-idle"),
		under(recovers|starves|blocks, "a copy of a request turns edges back, so that two lead to each other, and "+
			"requests that come there end (P), perhaps all (B); a copy dropped in time does no harm (L)",
			"copies"),
		behindToken,
	),
}

// neilsenMeans returns claims on the cost of single requests in several trees: a request for each edge on
// the way to the last node that entered, and the token. One of N draws is that node itself, which costs
// nothing.
func neilsenMeans(trees ...string) (claims []algorithm.Claim) {
	for _, tree := range trees {
		claims = append(claims, algorithm.Claim{
			Figure: algorithm.MessagesPerEntry,
			Source: "mean distance in the tree, and (N-1)/N tokens", Load: "sequential",
			Options: map[string]string{treeOption.Name: tree},
			Value: func(c nodes.Config) algorithm.Range {
				return algorithm.Exactly(meanDistance(c) + float64(c.N-1)/float64(c.N))
			},
			Within: algorithm.Mean,
		})
	}
	return claims
}

// neilsenMizuno is the algorithm of M. L. Neilsen and M. Mizuno, "A DAG-based algorithm for distributed
// mutual exclusion", ICDCS 1991, as M. Ben-Ari, Principles of Concurrent and Distributed Programming, 2006,
// chapter 10, gives it.
//
// The nodes form a tree. Each node has an edge to the neighbour on the way to the node that it believes to
// have asked last (LAST); a node that believes that of itself is a sink without an edge. To enter, a node
// without the token sends a request along its edge and becomes a sink. Each node on the way passes the
// request on along its own edge, which it then turns to the neighbour that the request came from. The sink
// at which the request ends remembers the node that asked (NEXT), and sends it the token when it leaves, or
// at once if it holds the token idle (HOLDING). The token goes straight to it, by no edge of the tree.
//
// Mutual exclusion holds because there is one token. A second one could only be a copy made by the network:
// the token counts how often it was sent, and a node drops one that was sent no more often than the last it
// had. Every request arrives: an edge of the tree either leads one way or has a request on it, so edges lead
// to a sink without a cycle. Each sink has at most one NEXT, so the waiting nodes form one queue behind the
// token. A copy of a request breaks that.
type neilsenMizuno struct {
	tree   string
	last   nodes.ID // the neighbour on the way to the node that asked last; None: we have
	next   nodes.ID // gets the token after us; None: nobody has asked for it yet
	has    bool     // the token is here
	wants  bool     // our client waits or is inside; HOLDING is: the token is here, and wants is false
	serial uint64   // of the token when it was last here, or was sent from here
}

type (
	neilsenRequest struct { // asks for the token
		Origin nodes.ID
		Hops   uint32 // how often it was passed on
	}
	neilsenPrivilege struct{ Serial uint64 } // is the token, sent for the Serial-th time
)

// Start puts the token at node 0, the root of the tree.
func (m *neilsenMizuno) Start(env *nodes.Env) {
	if env.Self() == 0 {
		m.has = true
	} else {
		m.last = parent(m.tree, env.Self())
	}
}

// Recover does nothing: if node 0 made a token again after a crash, there would be two.
func (m *neilsenMizuno) Recover(*nodes.Env, nodes.Message) {}

func (m *neilsenMizuno) Request(env *nodes.Env) {
	m.wants = true
	switch {
	case m.has:
		env.Grant()
	case m.last != nodes.None: // else we have restarted, and have no edge
		env.Send(m.last, neilsenRequest{Origin: env.Self()})
		m.last = nodes.None
	}
}

func (m *neilsenMizuno) Release(env *nodes.Env) {
	m.wants = false
	if m.next != nodes.None {
		m.send(env, m.next)
		m.next = nodes.None
	}
}

func (m *neilsenMizuno) Receive(env *nodes.Env, from nodes.ID, msg nodes.Message) {
	switch msg := msg.(type) {
	case neilsenRequest:
		switch {
		case msg.Origin == env.Self() || int(msg.Hops) >= env.N():
			return // it is in a cycle that a copy has made, and would circulate for ever
		case m.last != nodes.None:
			env.Send(m.last, neilsenRequest{msg.Origin, msg.Hops + 1})
		case m.has && !m.wants:
			m.send(env, msg.Origin)
		default:
			m.next = msg.Origin
		}
		m.last = from
	case neilsenPrivilege:
		if msg.Serial <= m.serial {
			return // a copy
		}
		m.serial = msg.Serial
		m.has = true
		if m.wants {
			env.Grant()
		}
	default:
		nodes.Unexpected(m, msg)
	}
}

// send sends the token to a node.
func (m *neilsenMizuno) send(env *nodes.Env, to nodes.ID) {
	m.has = false
	m.serial++
	env.Send(to, neilsenPrivilege{m.serial})
}

// HasToken reports whether the token is here.
func (m *neilsenMizuno) HasToken() bool { return m.has }
