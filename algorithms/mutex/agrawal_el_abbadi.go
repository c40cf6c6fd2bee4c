package mutex

import (
	"math"
	"math/bits"
	"slices"
	"time"

	"turnstile/algorithms/quorum"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

var agrawalAlgorithm = algorithm.Algorithm{
	Spec: nodes.Spec{
		Name:     "agrawal-el-abbadi",
		New:      func(c nodes.Config) nodes.Machine { return newAgrawal(c) },
		Timers:   []nodes.TimerName{{Kind: waiting.Kind, Name: "retry"}},
		Messages: append(slices.Clone(maekawaAlgorithm.Messages), nodes.MessageKind{Zero: arbiterVote{}}),
		Options:  []nodes.Option{retryOfVotes},
		Edges: func(c nodes.Config, id nodes.ID) []nodes.ID {
			path, _ := quorum.Tree(c.N, id, nodes.Set{})
			return othersOf(path, id)
		},
		Detects: "heartbeat",
		// A suspected node loses the votes that it has, so it must be down: otherwise two may be inside. Fence
		// numbers would not help. An arbiter could number its loans, and a node could enter with a number above the
		// numbers of its quorum. But a node that has lost its vote tells nobody the number under which it is
		// inside. Another node, whose quorum shares only that arbiter, might take a lower number. If nodes told all
		// arbiters before they entered, that would cost two more messages for each.
		Safe: nodes.NoAmnesia | nodes.PerfectDetector,
		// The algorithm goes on while the live nodes contain a quorum. They do if fewer nodes are down than a path
		// has members; otherwise that depends on which nodes are down. Losses of messages cost only time.
		Live: nodes.NoCrash,
		// Two waits, of up to 5/4 of the retry, make up for losses, beside the time of the detector. After the
		// first wait, each waiting node has asked all its arbiters anew: it knows which votes it was lent, votes
		// given back have come back, and every arbiter knows its request. After the second, an arbiter knows
		// whether the request that has its vote is over. All nodes wait at once. From then on nothing is missing,
		// and entries follow each other as without faults. Six more waits are a margin. A node that was suspected
		// wrongly, and has lost a vote that it believes to have, keeps that belief until it has entered or given
		// the vote back, which no timer bounds.
		Grace: func(c nodes.Config) time.Duration { return 8 * (c.Duration(retryOption) * 5 / 4) },
	},
	Aliases: []string{"tree-quorum", "agrawal"}, Family: "quorum",
	Source: "Agrawal and El Abbadi, An efficient and fault-tolerant solution for distributed mutual " +
		"exclusion, ACM TOCS 9(1), 1991; votes as Sanders, ACM TOCS 5(3), 1987",
	Summary: "A node asks a path of a tree, from the root to a leaf, for their votes; a suspected node " +
		"is replaced by paths from both children, and loses the votes that it has.",
	Mutex: &algorithm.Exclusion{
		Cost: func(c nodes.Config) algorithm.Cost {
			least, most := remoteMembers(c.N)
			// For each member: REQUEST, LOCKED and RELEASE; at most one FAILED or INQUIRE, when the request
			// arrives; at most one RELINQUISH for an INQUIRE, and the LOCKED that follows it. Messages sent
			// again, and their answers, do not count.
			alone, contended := algorithm.Between(3*least, 3*most), algorithm.Between(3*least, 6*most)
			return algorithm.Cost{
				Formula:    "3(K-1) to 6(K-1)",
				Sequential: alone,
				One:        alone,
				Saturated:  contended,
				Any:        contended,
				Delay:      algorithm.Between(1, 2), // as in maekawa
			}
		},
		Symbols: []algorithm.Symbol{{Name: "K", Says: "nodes on the longest path from the root to a leaf",
			Value: func(c nodes.Config) int { return bits.Len(uint(c.N)) }}},
		// A node that waits long asks again and is answered again: so these are bounds.
		Identities: []algorithm.Identity{
			eachMember("request"), eachMember("release"), eachMember("locked"),
			counts("locked <= request + relinquish"),
			maekawaAlgorithm.Mutex.Identities[3],
		},
	},
	Faults: slices.Concat(
		under(recovers, "without any one of five nodes there is a quorum (Agrawal and El Abbadi 1991), and "+
			"the votes that the dead node had are taken back", "dead-idle", "dead-waiter", "dead-holder"),
		under(recovers, "votes are saved, and a node that is up again says that its earlier requests are over",
			"each-in-turn", "restarts"),
		under(recovers, "a node that waits asks again, and messages are numbered", "lost-request",
			"lost-reply", "overtaking", "copies"),
		under(recovers|breaks, "it goes on after the heal (L); but votes of a node that is suspected "+
			"wrongly are lent again, and there are no fence numbers (X)", "lossy-links", "flaky-links",
			"split-brain", "half-cut", "holder-in-minority", "holder-in-majority", "one-way", "bridge",
			"majority-ring", "stopped-holder", "stopped-idle", "slow-node", "slow-links", "slow-network",
			"broker-restart", "split-brokers", "stalled-connection", "reset-connections", "skewed-clocks"),
		under(recovers|starves|blocks|breaks, "a vote that was forgotten is lent again (X); "+
			"requests with clocks that were used before are taken for copies (P, B)", "amnesia", "empty-restarts"),
	),
	Published: []algorithm.Claim{
		{Figure: algorithm.MessagesPerEntry, Source: paper + ": 3 log2(N+1), 3 fewer as a node is on its own path",
			Load: "sequential", Sizes: []int{3, 7, 15, 31},
			Value: formula(func(n float64) float64 { return 3*math.Log2(n+1) - 3 })},
		{Figure: algorithm.ClientDelayHops, Source: textbook + ": as Maekawa's", Load: "sequential",
			Sizes: []int{7},
			Value: exactly(2)},
	},
}

// retryOfVotes allows for two entries of each other node that come first: nothing bounds their number, but
// more are rare.
var retryOfVotes = retryFor("2N(2T+hold)",
	func(c nodes.Config, d nodes.Delays) time.Duration { return 2 * queued(c, d) })

// eachMember is the identity of a kind of message that each member of a quorum sends or gets in each entry.
func eachMember(kind string) algorithm.Identity {
	return algorithm.Identity{
		Says: kind + " >= (k-1) entries, with k nodes on the shortest path",
		Holds: func(c nodes.Config, t algorithm.Tally) bool {
			least, _ := remoteMembers(c.N)
			return float64(t.Sent[kind]) >= least*float64(t.Entries)
		},
	}
}

// remoteMembers returns the least and most other nodes that a node asks while nobody is suspected.
func remoteMembers(n int) (least, most float64) {
	least = math.Inf(1)
	for id := range nodes.ID(n) {
		path, _ := quorum.Tree(n, id, nodes.Set{})
		path.Remove(id)
		others := float64(path.Len())
		least, most = min(least, others), max(most, others)
	}
	return least, most
}

// agrawal is the algorithm of D. Agrawal and A. El Abbadi, "An efficient and fault-tolerant solution for
// distributed mutual exclusion", ACM TOCS 9(1), 1991.
//
// The nodes form a binary tree, a heap. A quorum is the nodes of a path from the root to a leaf; a node that
// is not a leaf may be replaced by two paths to leaves, one from each of its children. (Quorums leave out a
// node with one child.) Each node asks the nodes of its own path, and replaces the nodes that its failure
// detector suspects. A leaf has no substitute: the node waits, or takes another path. Votes are lent,
// inquired about and given back as in Maekawa's algorithm.
//
// Any two quorums meet, whatever nodes are suspected, as quorum.Tree explains. Hence mutual exclusion: an
// arbiter lends its vote to one node at a time, and remembers the borrower over a crash.
//
// The paper leaves open what becomes of a vote that was lent to a node that crashed. Here the arbiter takes
// it back when it suspects the node, and takes no request of that node until it trusts the node again. If
// nobody noticed the crash, the vote is still lent to a request that is over; the same holds after the loss
// of a RELEASE. A waiting node asks again from time to time, which makes up for losses: an arbiter answers as
// before, and asks its borrower, whose request may be over. A node that gets LOCKED or INQUIRE for a request
// that is over sends RELEASE again.
type agrawal struct {
	maekawa
	retry     time.Duration
	suspected nodes.Set
	over      []uint64 // by node: its requests up to this clock are over
}

func newAgrawal(c nodes.Config) *agrawal {
	return &agrawal{retry: c.Duration(retryOption), over: make([]uint64, c.N),
		maekawa: maekawa{voter: arbiter{keeps: true}}}
}

// waiting runs while a node waits.
var waiting = nodes.Timer{}

// Start does nothing: the quorum depends on suspicions.
func (m *agrawal) Start(*nodes.Env) {}

// Recover restores the borrower of the vote, and stamps the next request higher than the last.
func (m *agrawal) Recover(env *nodes.Env, saved nodes.Message) {
	vote, _ := saved.(arbiterVote)
	m.clock, m.voter.asked = vote.Asked, vote.Asked
	if m.voter.serial = vote.Serial; vote.Lent.ID != env.Self() {
		m.voter.lent = vote.Lent
	}
}

func (m *agrawal) Request(env *nodes.Env) {
	m.clock++
	m.ours = stamp{m.clock, env.Self()}
	m.voter.asked = m.clock
	m.voter.save(env)
	m.ask(env, env.Send)
}

func (m *agrawal) Release(env *nodes.Env) {
	m.maekawa.Release(env)
	m.votes = m.votes[:0]
}

// ask asks the members of a quorum that were not asked yet. If every quorum has a suspected node, it waits
// until one is trusted again.
func (m *agrawal) ask(env *nodes.Env, send func(nodes.ID, nodes.Message)) {
	members, ok := quorum.Tree(env.N(), env.Self(), m.suspected)
	if !ok {
		env.StopTimer(waiting)
		return
	}
	for id := range members.All() {
		if !slices.ContainsFunc(m.votes, func(v maekawaVote) bool { return v.Arbiter == id }) {
			m.votes = append(m.votes, maekawaVote{Arbiter: id})
			send(id, maekawaRequest{m.ours.Clock})
		}
	}
	env.SetTimer(waiting, m.retry, m.retry+m.retry/4)
}

// Timeout asks all nodes again whose votes are missing, even substitutes for a node that is back: a
// substitute may have lent us its vote in a LOCKED that was lost, and others would wait for that vote.
func (m *agrawal) Timeout(env *nodes.Env, _ nodes.Timer) {
	for _, v := range m.votes {
		if !v.Held && !m.suspected.Has(v.Arbiter) {
			env.Resend(v.Arbiter, maekawaRequest{m.ours.Clock})
		}
	}
	env.SetTimer(waiting, m.retry, m.retry+m.retry/4)
}

// Suspect takes the vote back from the peer, forgets its requests, and asks others in its place.
func (m *agrawal) Suspect(env *nodes.Env, peer nodes.ID) {
	m.suspected.Add(peer)
	m.voter.end(env, stamp{math.MaxUint64, peer})
	m.askOthers(env)
}

// Trust asks the peer again.
func (m *agrawal) Trust(env *nodes.Env, peer nodes.ID) {
	m.suspected.Remove(peer)
	m.askOthers(env)
}

func (m *agrawal) askOthers(env *nodes.Env) {
	if !m.ours.isZero() && !m.inside {
		m.ask(env, env.Resend)
	}
}

func (m *agrawal) Receive(env *nodes.Env, from nodes.ID, msg nodes.Message) {
	switch msg := msg.(type) {
	case maekawaRequest:
		m.clock = max(m.clock, msg.Clock)
		m.requested(env, stamp{msg.Clock, from})
	case maekawaRelease:
		m.over[from] = max(m.over[from], msg.Clock)
		m.voter.drop(env, stamp{msg.Clock, from})
	case maekawaLocked:
		m.locked(env, from, msg)
	case maekawaFailed:
		if msg.Clock == m.ours.Clock {
			m.hear(env, from, msg)
		}
	case maekawaInquire:
		if msg.Clock != m.ours.Clock {
			if msg.Serial == 0 {
				env.Resend(from, maekawaRelease{msg.Clock})
			}
			return // our RELEASE is on its way
		}
		m.hear(env, from, msg)
	default:
		m.maekawa.Receive(env, from, msg)
	}
}

// requested takes a request, perhaps not for the first time.
func (m *agrawal) requested(env *nodes.Env, s stamp) {
	if s.Clock <= m.over[s.ID] || m.suspected.Has(s.ID) {
		return
	}
	m.over[s.ID] = s.Clock - 1
	a := &m.voter
	a.end(env, s) // earlier requests of the node are over
	waits := slices.Contains(a.queue, s)
	switch {
	case a.lent == s:
		env.Resend(s.ID, maekawaLocked{s.Clock, a.serial})
	case !waits:
		a.admit(env, s)
	case a.queue[0] == s && s.before(a.lent):
		env.Resend(a.lent.ID, maekawaInquire{a.lent.Clock, a.serial})
		env.Resend(a.lent.ID, maekawaInquire{a.lent.Clock, 0}) // asks whether the request that has the vote is over
	default:
		env.Resend(s.ID, maekawaFailed{s.Clock})
		env.Resend(a.lent.ID, maekawaInquire{a.lent.Clock, 0}) // asks whether the request that has the vote is over
	}
}

// locked takes a vote. The client enters once our votes contain a quorum.
func (m *agrawal) locked(env *nodes.Env, from nodes.ID, msg maekawaLocked) {
	if msg.Clock != m.ours.Clock {
		env.Resend(from, maekawaRelease{msg.Clock})
		return
	}
	v := &m.votes[slices.IndexFunc(m.votes, func(v maekawaVote) bool { return v.Arbiter == from })]
	switch {
	case msg.Serial == v.Serial && !v.Held:
		env.Resend(from, maekawaRelinquish{v.Serial}) // our RELINQUISH was lost
		return
	case msg.Serial <= v.Serial:
		return // a copy
	}
	v.Serial, v.Held, v.Failed = msg.Serial, true, false
	if !m.inside && m.contain(env.N()) {
		m.inside = true
		env.StopTimer(waiting)
		env.Grant()
	}
	m.yield(env)
}

// contain reports whether our votes contain a quorum of the tree of n nodes.
func (m *agrawal) contain(n int) bool {
	return quorum.HasTree(n, func(id nodes.ID) bool {
		return slices.ContainsFunc(m.votes, func(v maekawaVote) bool { return v.Arbiter == id && v.Held })
	})
}

// arbiterVote is what an arbiter saves: the borrower of its vote, how often it has been lent, and the clock
// of its own latest request.
type arbiterVote struct {
	Lent          stamp
	Serial, Asked uint64
}

// save saves the vote, if it is to outlive a crash. A vote that has come back need not be saved: if its
// borrower is asked, the borrower says that the request is over.
func (a *arbiter) save(env *nodes.Env) {
	if a.keeps {
		env.Save(arbiterVote{a.lent, a.serial, a.asked})
	}
}

// end forgets the requests of a node that are earlier than s.
func (a *arbiter) end(env *nodes.Env, s stamp) {
	earlier := func(q stamp) bool { return q.ID == s.ID && q.Clock < s.Clock }
	a.queue = slices.DeleteFunc(a.queue, earlier)
	if !a.lent.isZero() && earlier(a.lent) {
		a.drop(env, a.lent)
	}
}
