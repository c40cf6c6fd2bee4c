package mutex

import (
	"slices"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

// scanOption is the order in which a node that leaves looks at the others. The paper leaves it open. In any
// order, a node that is known to wait is in the queue after the next exit; but a scan that begins at node 0
// always puts low numbers first among the nodes heard of since the last exit.
var scanOption = nodes.Option{
	Name:    "scan",
	Usage:   "in which order a node that leaves queues the nodes that have asked since the last exit",
	Values:  []string{scanCyclic, scanFixed, scanArrival},
	Default: scanCyclic,
	Shows: []nodes.Shown{
		{Value: scanCyclic, Figure: "order by next", Least: 0.7, Most: 0.8, For: 2 * time.Second},
		{Value: scanFixed, Figure: "wait of the last", Least: 1.2, Most: 1.5, For: 2 * time.Second},
		{Value: scanArrival, Figure: "order by next", Least: 0.4, Most: 0.53, For: 2 * time.Second},
		{Value: scanArrival, Figure: "order by request", Least: 0.99, Most: 1, For: 2 * time.Second},
	},
}

const (
	scanCyclic  = "cyclic"  // from the next node on
	scanFixed   = "fixed"   // from node 0 on
	scanArrival = "arrival" // in order of arrival
)

var suzukiKasamiAlgorithm = algorithm.Algorithm{
	Spec: nodes.Spec{
		Name: "suzuki-kasami",
		New: func(c nodes.Config) nodes.Machine {
			s := suzukiKasami{scan: c.Value(scanOption), rn: make([]uint64, c.N)}
			if modulus := modulusOf(c); modulus > 0 {
				return &suzukiModulo{s, modulus}
			}
			return &s
		},
		Messages: []nodes.MessageKind{{Zero: suzukiRequest{}, Broadcast: true}, {Zero: suzukiToken{}, Token: true}},
		Options:  []nodes.Option{scanOption, indexOption},
		Live:     nodes.NoLoss | nodes.NoCrash,
		Besides:  besidesOfIndex,
	},
	Aliases: []string{"suzuki", "sk"}, Family: "token",
	Source: "Suzuki and Kasami, A distributed mutual exclusion algorithm, ACM TOCS 3(4), 1985",
	Summary: "A node without the token asks all peers for it; the token carries the queue of the " +
		"nodes that it goes to next.",
	Mutex: &algorithm.Exclusion{
		Cost: func(c nodes.Config) algorithm.Cost {
			cost := always("N, or 0 with the token", algorithm.Between(0, float64(c.N)), algorithm.Between(0, 1))
			if c.N == 1 {
				cost = always(cost.Formula, algorithm.Exactly(0), algorithm.Exactly(0))
			}
			cost.One = algorithm.Exactly(0) // the only requester keeps the token
			return cost
		},
		Exact: func(c nodes.Config, _ bool) algorithm.EntryCost { // N-1 requests and the token
			if modulusOf(c) > 0 { // see ofUnbounded
				return nil
			}
			return handovers(func(_, _ nodes.ID) int { return c.N })
		},
		// The next node that leaves queues a request that it has heard, in any scan; the queue holds each node
		// once.
		Bypass: peers,
		Identities: []algorithm.Identity{
			ofUnbounded(counts("request = (N-1) token", peers)),
			ofUnbounded(counts("token <= entries")),
		},
	},
	Published: []algorithm.Claim{
		// With a short hold the holder would enter again, without messages, until the requests of the others
		// arrive.
		{Figure: algorithm.MessagesPerEntry, Source: textbook, Hold: 2 * algorithm.Hop,
			Value: formula(func(n float64) float64 { return n }), Within: algorithm.Steady},
		{Figure: algorithm.MessagesPerEntry, Source: textbook + ": N, or 0 in one of N", Load: "sequential",
			Value: formula(func(n float64) float64 { return n - 1 }), Within: algorithm.Mean},
		{Figure: algorithm.MessagesPerEntry, Source: textbook + ": the token is kept", Load: "one",
			Value: exactly(0)},
		{Figure: algorithm.SynchronizationDelayHops, Source: textbook, Sizes: nine, Value: exactly(1)},
	},
	Faults: withoutTimeouts(
		under(recovers|blocks, "nobody needs the dead node (L), unless it had kept the token, since nobody "+
			"asked (B)", "dead-idle"),
		under(blocks, tokenLost, "lost-token"),
		under(recovers|starves, "the request is lost to one peer, and the token goes on to others, "+
			"which know of it (L); if none knows, the requester waits (P)", "lost-request"),
		under(starves|blocks, "all wait if the token is lost (B), the requester waits if its request is (P)",
			losses...),
		under(starves|blocks, "the side of the token goes on, and the other waits (P); all do if the token is "+
			"lost as it crosses the cut (B)", "split-brain", "half-cut", "holder-in-minority",
			"holder-in-majority", "one-way", "bridge"),
		under(recovers|starves|blocks, "as split-brain (P, B); but nodes that missed a request are "+
			"not the only ones to pass the token on (L)", "majority-ring"),
		under(starves|blocks, "no token is made, so exclusion holds; all wait if the node had the token (B), "+
			"and otherwise the node, which numbers its requests from 1 again (P)", comebacks...),
	),
}

// suzukiKasami is the algorithm of I. Suzuki and T. Kasami, "A distributed mutual exclusion
// algorithm", ACM TOCS 3(4), 1985.
//
// A node that has the token may enter. A node without it numbers its request and sends it to every peer; all
// record the highest number they hear from each node (RN). The token carries the number of each node's
// latest request that was served (LN) and a queue of nodes. A node that leaves appends to that queue every
// node that has requested (RN > LN) and is not in it, and sends the token to the first. If the queue is
// empty it keeps the token, idle, and sends it to the first node that requests it.
//
// Mutual exclusion holds because there is one token. A second one could only be a copy made by the network:
// the token counts how often it was sent, and a node drops one that was sent no more often than the last it
// had.
type suzukiKasami struct {
	scan  string
	heard []nodes.ID  // nodes that have asked since we left, in order; only for scanArrival
	rn    []uint64    // RN: by node, the number of its latest known request
	has   bool        // the token is here
	token suzukiToken // the token; once it has gone only its serial is kept
	wants bool        // our client waits or is inside
}

type (
	suzukiRequest struct{ Number uint64 } // asks for the token, for the Number-th time
	suzukiToken   struct {                // is the token, the privilege to enter
		Serial uint64     // how often the token was sent
		LN     []uint64   // by node: its latest request that was served
		Queue  []nodes.ID // next receivers
	}
)

// Start puts the token at node 0.
func (s *suzukiKasami) Start(env *nodes.Env) {
	if env.Self() == 0 {
		s.has = true
		s.token.LN = make([]uint64, env.N())
	}
}

// Recover does nothing: if node 0 made a token again after a crash, there would be two.
func (s *suzukiKasami) Recover(*nodes.Env, nodes.Message) {}

func (s *suzukiKasami) Request(env *nodes.Env) {
	s.wants = true
	if s.has {
		env.Grant() // the token is here, so no request is needed
		return
	}
	s.rn[env.Self()]++
	env.Broadcast(suzukiRequest{s.rn[env.Self()]})
}

func (s *suzukiKasami) Release(env *nodes.Env) {
	s.wants = false
	s.leave(env)
}

func (s *suzukiKasami) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	switch m := m.(type) {
	case suzukiRequest:
		s.hear(from, m.Number)
		// The paper asks for RN = LN+1. If request n is lost and n+1 is heard, that is never true.
		if s.has && !s.wants && s.rn[from] > s.token.LN[from] {
			s.send(env, from)
		}
	case suzukiToken:
		if m.Serial <= s.token.Serial {
			return // the token is a copy
		}
		s.has = true
		s.token = suzukiToken{m.Serial, slices.Clone(m.LN), slices.Clone(m.Queue)}
		if s.wants {
			env.Grant()
		} else {
			s.leave(env) // we have restarted since we requested the token
		}
	default:
		nodes.Unexpected(s, m)
	}
}

// hear records the number of a request if it is higher than all earlier ones of its sender.
func (s *suzukiKasami) hear(from nodes.ID, number uint64) {
	if number > s.rn[from] {
		s.note(from, number)
	}
}

// note records the number of a request that is later than all known ones of its sender.
func (s *suzukiKasami) note(from nodes.ID, number uint64) {
	if s.rn[from] = number; s.scan == scanArrival {
		s.heard = slices.DeleteFunc(s.heard, func(id nodes.ID) bool { return id == from })
		s.heard = append(s.heard, from)
	}
}

// leave records that our latest request is served, queues the nodes that have asked, and sends the token on.
func (s *suzukiKasami) leave(env *nodes.Env) {
	s.token.Queue = suzukiServed(env.Self(), s.order(env.Self()), s.rn, s.token.LN, s.token.Queue)
	s.heard = nil // the waiting nodes are in the queue
	if len(s.token.Queue) > 0 {
		first := s.token.Queue[0]
		s.token.Queue = slices.Delete(s.token.Queue, 0, 1)
		s.send(env, first)
	}
}

// order returns the nodes in the order of the scan.
func (s *suzukiKasami) order(self nodes.ID) []nodes.ID {
	switch n := nodes.ID(len(s.rn)); s.scan {
	case scanArrival:
		return s.heard
	case scanFixed:
		return cyclicFrom(0, n)
	default:
		return cyclicFrom(self, n)
	}
}

// cyclicFrom returns all n nodes in cyclic order, beginning with the given one.
func cyclicFrom(first, n nodes.ID) (all []nodes.ID) {
	for step := range n {
		all = append(all, (first+step)%n)
	}
	return all
}

// suzukiServed records in LN that the latest request of a node is served. It returns the queue with all
// other nodes that have asked appended, in the given order.
func suzukiServed(self nodes.ID, order []nodes.ID, rn, ln []uint64, queue []nodes.ID) []nodes.ID {
	ln[self] = rn[self]
	queued := nodes.SetOf(queue...)
	for _, id := range order {
		if rn[id] > ln[id] && queued.Add(id) {
			queue = append(queue, id)
		}
	}
	return queue
}

// send sends the token to a node.
func (s *suzukiKasami) send(env *nodes.Env, to nodes.ID) {
	s.token.Serial++
	env.Send(to, s.token)
	s.has = false
	s.token = suzukiToken{Serial: s.token.Serial}
}

// HasToken reports whether the token is here.
func (s *suzukiKasami) HasToken() bool { return s.has }
