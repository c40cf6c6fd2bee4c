package mutex

import (
	"slices"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

var lamportAlgorithm = algorithm.Algorithm{
	Spec: nodes.Spec{
		Name: "lamport",
		New:  func(c nodes.Config) nodes.Machine { return &lamport{seen: make([]uint64, c.N)} },
		Messages: []nodes.MessageKind{{Zero: lamportRequest{}, Broadcast: true}, {Zero: lamportAck{}, Permit: true},
			{Zero: lamportRelease{}, Broadcast: true}},
		Safe: nodes.FIFO | nodes.NoAmnesia,
		Live: nodes.NoLoss | nodes.NoCrash,
	},
	Aliases: []string{"lamport-1978", "la"}, Family: "permission",
	Source: "Lamport, Time, clocks, and the ordering of events in a distributed system, CACM 21(7), 1978",
	Summary: "Every node queues all requests by their stamps, and enters when its own comes first and " +
		"all peers have acknowledged it.",
	Mutex: &algorithm.Exclusion{
		Cost: func(c nodes.Config) algorithm.Cost {
			return always("3(N-1)", algorithm.Exactly(float64(3*(c.N-1))), algorithm.Exactly(1))
		},
		// A peer that has received a request stamps its own later ones higher, so the peer enters at most once
		// before that request.
		Bypass: peers,
		Identities: []algorithm.Identity{
			counts("request = (N-1) entries", peers),
			counts("ack = request"),
			counts("release = request"),
		},
	},
	Published: []algorithm.Claim{
		{Figure: algorithm.MessagesPerEntry, Source: paper,
			Value: formula(func(n float64) float64 { return 3 * (n - 1) })},
		{Figure: algorithm.SynchronizationDelayHops, Source: textbook, Sizes: nine, Value: exactly(1)},
		{Figure: algorithm.ClientDelayHops, Source: textbook, Load: "sequential", Sizes: nine, Value: exactly(2)},
	},
	Faults: withoutTimeouts(
		under(blocks, "every entry needs an acknowledgement of the dead node", "dead-idle"),
		under(blocks, answerLost, "lost-request", "lost-reply"),
		under(recovers|breaks, "an acknowledgement that overtakes a request lets two in (Lamport 1978 assumes "+
			"links that keep messages in order)", "overtaking"),
		under(blocks|breaks, "as lossy-links (B), or as overtaking (X)", "flaky-links"),
		under(starves|blocks, "nobody is inside when a node restarts with an empty queue, so exclusion "+
			"holds; the others wait for lost answers (B), while the restarted node may keep entering alone "+
			"(P, the others)", "each-in-turn", "restarts", "amnesia"),
		under(recovers|starves|blocks|breaks, "a node that comes up with an empty queue may enter "+
			"while another is inside (X); otherwise as restarts, or nothing was lost (L)", "empty-restarts"),
	),
}

// lamport is the algorithm of L. Lamport, "Time, clocks, and the ordering of events in a distributed
// system", CACM 21(7), 1978.
//
// Every node keeps a queue of all requests, in the order of their stamps. To enter, a node puts its
// own request into its queue and sends it to every peer; a peer queues it and acknowledges it. A
// node enters when its request is the first of its queue and every peer has acknowledged it. To
// leave, it takes its request out and makes every peer do so by a release.
//
// Mutual exclusion holds because links are FIFO: when a peer's acknowledgement arrives, so has all that the
// peer sent us before. A request of the peer with an earlier stamp than ours was sent before the peer
// received ours, since its clock was higher afterwards; so it is in our queue by then. Without FIFO links
// that fails: both request with clock 1, and node 1's acknowledgement arrives at node 0 before its request
// does. Each node then finds its own request first in its queue, and enters.
type lamport struct {
	clock    uint64    // the highest stamp seen or used
	ours     stamp     // our request; zero while we are neither waiting nor inside
	inside   bool      // our request was granted
	awaiting nodes.Set // the peers that have yet to acknowledge our request
	queue    []stamp   // all requests that are not released, in order
	seen     []uint64  // by peer: the clock of its latest request
}

// In the paper, acknowledgements and releases have stamps of their own. Here they have the stamp of their
// request, so that copies do no harm: an acknowledgement of an earlier request must not count for a later
// one, which its sender may not have received.
type (
	lamportRequest struct{ Clock uint64 } // asks to enter, stamped Clock
	lamportAck     struct{ Clock uint64 } // the sender has queued the request stamped Clock
	lamportRelease struct{ Clock uint64 } // the sender is done with its request stamped Clock
)

func (l *lamport) Request(env *nodes.Env) {
	l.clock++
	l.ours = stamp{l.clock, env.Self()}
	l.queue = insert(l.queue, l.ours)
	l.awaiting = env.Peers()
	env.Broadcast(lamportRequest{l.clock})
	l.enter(env)
}

func (l *lamport) Release(env *nodes.Env) {
	l.inside = false
	l.remove(l.ours)
	env.Broadcast(lamportRelease{l.ours.Clock})
	l.ours = stamp{}
}

func (l *lamport) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	switch m := m.(type) {
	case lamportRequest:
		l.hear(stamp{m.Clock, from})
		env.Send(from, lamportAck(m)) // an acknowledgement has the stamp of its request
	case lamportAck:
		if m.Clock == l.ours.Clock && l.awaiting.Remove(from) {
			l.enter(env)
		}
	case lamportRelease:
		l.remove(stamp{m.Clock, from})
		l.enter(env)
	default:
		nodes.Unexpected(l, m)
	}
}

// hear queues a peer's request.
func (l *lamport) hear(s stamp) {
	l.clock = max(l.clock, s.Clock)
	if s.Clock > l.seen[s.ID] { // else a copy, which might stay for ever: its release may have come
		l.seen[s.ID] = s.Clock
		l.queue = insert(l.queue, s)
	}
}

// enter grants once our request is acknowledged by all and the first in the queue.
func (l *lamport) enter(env *nodes.Env) {
	if l.ours.isZero() || l.inside || !l.awaiting.Empty() || l.queue[0] != l.ours {
		return
	}
	l.inside = true
	env.Grant()
}

// remove takes the request s out of the queue, if it is there.
func (l *lamport) remove(s stamp) {
	if at, found := slices.BinarySearchFunc(l.queue, s, stamp.compare); found {
		l.queue = slices.Delete(l.queue, at, at+1)
	}
}

// WaitsFor names the peers that have yet to acknowledge our request, and the peers whose request comes
// before it.
func (l *lamport) WaitsFor() nodes.Set {
	s := l.awaiting.Clone()
	for _, r := range l.queue {
		if r.before(l.ours) {
			s.Add(r.ID)
		}
	}
	return s
}
