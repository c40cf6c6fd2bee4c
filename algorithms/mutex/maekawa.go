package mutex

import (
	"cmp"
	"slices"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

var maekawaAlgorithm = algorithm.Algorithm{
	Spec: nodes.Spec{
		Name: "maekawa",
		New:  func(c nodes.Config) nodes.Machine { return &maekawa{quorums: c.Value(quorumOption)} },
		Messages: []nodes.MessageKind{{Zero: maekawaRequest{}}, {Zero: maekawaLocked{}, Permit: true},
			{Zero: maekawaFailed{}}, {Zero: maekawaInquire{}}, {Zero: maekawaRelinquish{}}, {Zero: maekawaRelease{}}},
		Options: []nodes.Option{quorumOption},
		Edges:   quorumEdges,
		Safe:    nodes.NoAmnesia,
		Live:    nodes.NoLoss | nodes.NoCrash,
	},
	Aliases: []string{"sanders", "quorum"}, Family: "quorum",
	Source: "Maekawa, A √N algorithm for mutual exclusion in decentralized systems, ACM TOCS 3(2), 1985; " +
		"as corrected by Sanders, ACM TOCS 5(3), 1987",
	Summary: "A node asks a quorum for their votes, each node having one to lend; any two quorums meet, " +
		"and votes are given back to better requests.",
	Mutex: &algorithm.Exclusion{
		Cost: func(c nodes.Config) algorithm.Cost {
			others := float64(arbiters(c))
			// From RELEASE to LOCKED: two hops, or one if the node that leaves or the next to enter is the last
			// arbiter.
			cost := always("3(K-1) to 6(K-1)", algorithm.Between(3*others, 6*others), algorithm.Between(1, 2))
			cost.Sequential = algorithm.Exactly(3 * others)
			cost.One = cost.Sequential
			return cost
		},
		Symbols: []algorithm.Symbol{quorumSymbol},
		// There is no bound on how often others enter first: an arbiter serves the lowest stamp first, and a node
		// that few have asked has a low clock, which rises by one with each of its own requests.
		//
		// Messages of a node to itself are counted on neither side of an equation. That is consistent: its own
		// request comes after all that it has received, so as its own arbiter it answers with LOCKED or
		// FAILED, and never sends INQUIRE because of it.
		Identities: []algorithm.Identity{
			counts("request = (K-1) entries", arbiters),
			counts("release = request"),
			counts("locked = request + relinquish"),
			counts("relinquish <= inquire"),
			counts("inquire + failed <= request"),
		},
	},
	Published: []algorithm.Claim{
		{Figure: algorithm.MessagesPerEntry, Source: textbook + ": 3(K-1)", Load: "sequential",
			Value: func(c nodes.Config) algorithm.Range { return algorithm.Exactly(float64(3 * arbiters(c))) }},
		{Figure: algorithm.SynchronizationDelayHops, Source: textbook, Sizes: nine,
			Value: func(nodes.Config) algorithm.Range { return algorithm.Between(1, 2) }},
		{Figure: algorithm.ClientDelayHops, Source: textbook, Load: "sequential", Sizes: nine, Value: exactly(2)},
	},
	Faults: withoutTimeouts(
		under(blocks, "nodes that need the vote of the dead node wait, and hold the votes that the others need",
			"dead-idle"),
		under(blocks, "a lost request or vote is not sent again, and the node that waits for it holds votes "+
			"that the others need", "lost-request", "lost-reply"),
		under(blocks|breaks, "an arbiter that has forgotten its vote lends it again, and two quorums may "+
			"share no other arbiter (X); or its vote, or a message to it, is lost (B)", "empty-restarts"),
	),
}

// arbiters is how many other nodes are in a quorum.
func arbiters(c nodes.Config) int { return quorumSize(c) - 1 }

// maekawa is the algorithm of M. Maekawa, "A √N algorithm for mutual exclusion in decentralized
// systems", ACM TOCS 3(2), 1985, as corrected by B. A. Sanders, "The information structure of
// distributed mutual exclusion algorithms", ACM TOCS 5(3), 1987.
//
// Every node has one vote. To enter, a node asks the nodes of its quorum for their votes, and waits for all;
// to leave it gives them back. An arbiter that has lent its vote queues further requests by stamp. Two nodes
// must not wait for each other's votes for ever. So the arbiter asks for its vote back (INQUIRE) when a
// request arrives that is better than all it knows, and tells every other waiting node that its request is
// not the best (FAILED). A node that has received FAILED cannot enter soon, and gives back (RELINQUISH) a
// vote that is inquired about.
//
// Mutual exclusion holds because any two quorums meet, in an arbiter that lends its vote to one node at a
// time.
type maekawa struct {
	quorums string // the quorum system
	clock   uint64 // the highest stamp seen or used
	voter   arbiter

	// The node as a client of arbiters.
	ours   stamp         // our request; zero while we are neither waiting nor inside
	votes  []maekawaVote // of the arbiters that we ask
	enough int           // how many votes let us in
	inside bool
}

// An arbiter is a node in its other role: it lends its vote.
type arbiter struct {
	lent   stamp   // the request that has our vote; zero if we have it
	serial uint64  // of the last LOCKED
	queue  []stamp // the requests that wait for our vote, the best first
	seen   []stamp // the latest request of each node that ever asked, by ID

	textbook bool   // leaves out Sanders' correction
	keeps    bool   // its vote outlives a crash
	asked    uint64 // the clock of the node's own latest request, which is kept too
}

// A maekawaVote is what a client knows of the vote of one arbiter.
type maekawaVote struct {
	Arbiter  nodes.ID
	Held     bool   // we have it
	Failed   bool   // FAILED came, or we gave it back, and no LOCKED has come since
	Serial   uint64 // of the last LOCKED that came
	Inquired uint64 // the LOCKED that the last INQUIRE was about
}

// INQUIRE and RELINQUISH have the serial number of their LOCKED, since late ones would do harm otherwise.
// Take a RELINQUISH that was sent before the RELEASE of the same vote: the arbiter would believe that the
// next borrower has given it back, and lend it twice. The stamp of the request would not do: one request can
// be LOCKED, RELINQUISHed and LOCKED again, and an INQUIRE may arrive before its LOCKED. RELEASE has the
// stamp of the request, since it ends every loan to that request, even one that is still to come.
type (
	maekawaRequest    struct{ Clock uint64 }         // asks for a vote, stamped Clock
	maekawaLocked     struct{ Clock, Serial uint64 } // lends the vote to request Clock, as loan Serial of all
	maekawaFailed     struct{ Clock uint64 }         // the request stamped Clock is not the best
	maekawaInquire    struct{ Clock, Serial uint64 } // a better request than the one stamped Clock has come
	maekawaRelinquish struct{ Serial uint64 }        // gives the vote back for the better request
	maekawaRelease    struct{ Clock uint64 }         // the request stamped Clock is over
)

// Start computes the quorum.
func (m *maekawa) Start(env *nodes.Env) {
	quorum := quorumOf(m.quorums, env.N(), env.Self())
	for id := range quorum.All() {
		m.votes = append(m.votes, maekawaVote{Arbiter: id})
	}
	m.enough = len(m.votes)
}

func (m *maekawa) Request(env *nodes.Env) {
	m.clock++
	m.ours = stamp{m.clock, env.Self()}
	for _, v := range m.votes {
		env.Send(v.Arbiter, maekawaRequest{m.clock})
	}
}

func (m *maekawa) Release(env *nodes.Env) {
	for i := range m.votes {
		v := &m.votes[i]
		*v = maekawaVote{Arbiter: v.Arbiter}
		env.Send(v.Arbiter, maekawaRelease{m.ours.Clock})
	}
	m.ours, m.inside = stamp{}, false
}

func (m *maekawa) Receive(env *nodes.Env, from nodes.ID, msg nodes.Message) {
	switch msg := msg.(type) {
	case maekawaRequest:
		m.clock = max(m.clock, msg.Clock)
		m.voter.request(env, stamp{msg.Clock, from})
	case maekawaRelinquish:
		m.voter.relinquish(env, msg.Serial)
	case maekawaRelease:
		m.voter.release(env, stamp{msg.Clock, from})
	case maekawaLocked, maekawaFailed, maekawaInquire:
		m.hear(env, from, msg)
	default:
		nodes.Unexpected(m, msg)
	}
}

// hear takes an arbiter's answer to our request.
func (m *maekawa) hear(env *nodes.Env, from nodes.ID, msg nodes.Message) {
	at := slices.IndexFunc(m.votes, func(v maekawaVote) bool { return v.Arbiter == from })
	v := &m.votes[at]
	switch msg := msg.(type) {
	case maekawaLocked:
		if msg.Clock != m.ours.Clock || msg.Serial <= v.Serial {
			return // for an earlier request, or a copy
		}
		v.Serial, v.Held, v.Failed = msg.Serial, true, false
		if !m.inside && m.held() >= m.enough {
			m.inside = true
			env.Grant()
		}
	case maekawaFailed:
		// FAILED does not count if it is for an earlier request, or if a later LOCKED has come.
		if msg.Clock == m.ours.Clock && !v.Held {
			v.Failed = true
		}
	case maekawaInquire:
		v.Inquired = max(v.Inquired, msg.Serial) // INQUIRE waits here until its LOCKED has come
	}
	m.yield(env)
}

// held counts the votes that we have.
func (m *maekawa) held() (count int) {
	for i := range m.votes {
		if m.votes[i].Held {
			count++
		}
	}
	return count
}

// yield gives back the votes that are inquired about, once some vote has failed. While we are inside, it
// does nothing, and our RELEASE answers the INQUIRE.
func (m *maekawa) yield(env *nodes.Env) {
	if m.inside || !slices.ContainsFunc(m.votes, func(v maekawaVote) bool { return v.Failed }) {
		return
	}
	for i := range m.votes {
		v := &m.votes[i]
		if v.Held && v.Inquired == v.Serial {
			v.Held, v.Failed = false, true
			env.Send(v.Arbiter, maekawaRelinquish{v.Serial})
		}
	}
}

// request takes a request.
func (a *arbiter) request(env *nodes.Env, s stamp) {
	if a.latest(s) {
		a.admit(env, s)
	}
}

// admit lends the vote to s or lets s wait. Every waiting node but the best knows that it is not the best.
func (a *arbiter) admit(env *nodes.Env, s stamp) {
	if a.lent.isZero() {
		a.lend(env, s)
		return
	}
	best := a.lent
	if len(a.queue) > 0 && a.queue[0].before(best) {
		best = a.queue[0]
	}
	a.queue = insert(a.queue, s)
	switch {
	case best.before(s):
		env.Send(s.ID, maekawaFailed{s.Clock})
	case best != a.lent:
		// The vote was inquired about for the request that has now ceased to be the best. Its node has to be
		// told (this is Sanders' correction): it may hold another arbiter's vote, inquired about for a node
		// that the sender of s waits for, and would never give it back.
		if !a.textbook {
			env.Send(best.ID, maekawaFailed{best.Clock})
		}
	default:
		env.Send(a.lent.ID, maekawaInquire{a.lent.Clock, a.serial})
	}
}

// latest records s and reports whether it is later than all earlier requests of its node. If not, it is a
// copy, and a vote lent to it might never be given back.
func (a *arbiter) latest(s stamp) bool {
	byID := func(s, t stamp) int { return cmp.Compare(s.ID, t.ID) }
	at, known := slices.BinarySearchFunc(a.seen, s, byID)
	if !known {
		a.seen = slices.Insert(a.seen, at, s)
		return true
	}
	old := a.seen[at]
	a.seen[at].Clock = max(old.Clock, s.Clock)
	return old.before(s)
}

// relinquish lends the vote to the best waiting request. The one that gave it back waits too.
func (a *arbiter) relinquish(env *nodes.Env, serial uint64) {
	if serial != a.serial || a.lent.isZero() {
		return
	}
	a.queue = insert(a.queue, a.lent)
	a.lendNext(env)
}

// release forgets the request s, which may have entered without our vote. If s had the vote, the best
// waiting request gets it.
func (a *arbiter) release(env *nodes.Env, s stamp) {
	a.latest(s) // a request that is still on its way is a copy from now on
	a.drop(env, s)
}

func (a *arbiter) drop(env *nodes.Env, s stamp) {
	if s != a.lent {
		a.queue = slices.DeleteFunc(a.queue, func(q stamp) bool { return q == s })
		return
	}
	a.lent = stamp{}
	if len(a.queue) > 0 {
		a.lendNext(env)
	}
}

func (a *arbiter) lendNext(env *nodes.Env) {
	next := a.queue[0]
	a.queue = slices.Delete(a.queue, 0, 1)
	a.lend(env, next)
}

func (a *arbiter) lend(env *nodes.Env, s stamp) {
	a.lent = s
	a.serial++
	a.save(env)
	env.Send(s.ID, maekawaLocked{s.Clock, a.serial})
}

// WaitsFor names the arbiters whose votes we wait for.
func (m *maekawa) WaitsFor() nodes.Set {
	var s nodes.Set
	for _, v := range m.votes {
		if !m.ours.isZero() && !v.Held {
			s.Add(v.Arbiter)
		}
	}
	return s
}

// LentTo returns the node that has our vote.
func (m *maekawa) LentTo() nodes.ID {
	if m.voter.lent.isZero() {
		return nodes.None
	}
	return m.voter.lent.ID
}
