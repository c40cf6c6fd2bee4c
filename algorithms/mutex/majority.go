package mutex

import (
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

var majorityAlgorithm = algorithm.Algorithm{
	Spec: nodes.Spec{
		Name:     "majority",
		New:      func(c nodes.Config) nodes.Machine { return &majority{few: c.Value(askOption) == askMajority} },
		Messages: maekawaAlgorithm.Messages,
		Options:  []nodes.Option{askOption},
		Edges:    func(c nodes.Config, id nodes.ID) []nodes.ID { return askedBy(id, c.N, asked(c))[1:] },
		Safe:     nodes.NoAmnesia,
		// It goes on while at most (N-1)/2 votes are out of reach, rounded down: votes of crashed nodes, and
		// votes lent to a crashed node. So the crash of a few idle nodes does not stop it, unless only a
		// majority is asked; the crash of a node inside, with a majority of the votes, always does. A lost
		// RELEASE keeps a vote, too.
		Live: nodes.NoLoss | nodes.NoCrash,
	},
	Aliases: []string{"thomas", "majority-voting"}, Family: "quorum",
	Source: "Thomas, A majority consensus approach to concurrency control for multiple copy databases, " +
		"ACM TODS 4(2), 1979; split votes as Sanders, ACM TOCS 5(3), 1987",
	Summary: "A node asks all for their votes, each node having one to lend, and enters with the votes of " +
		"more than half; votes are given back to better requests.",
	Mutex: &algorithm.Exclusion{
		Cost: func(c nodes.Config) algorithm.Cost {
			// REQUEST and RELEASE to all that are asked, and LOCKED from at least a majority: from all, unless others
			// come before, or a RELEASE overtakes its REQUEST. The most is as in maekawa.
			others := float64(asked(c) - 1)
			least := 2*others + float64(c.N/2)
			alone, contended := algorithm.Between(least, 3*others), algorithm.Between(least, 6*others)
			return algorithm.Cost{
				Formula:    "2(K-1)+floor(N/2) to 6(K-1)",
				Sequential: alone,
				One:        alone,
				Saturated:  contended,
				Any:        contended,
				Delay:      algorithm.Between(1, 2), // as in maekawa
			}
		},
		Symbols: []algorithm.Symbol{{Name: "K", Says: "nodes that are asked, itself included", Value: asked}},
		// There is no bound on how often others enter first, for the same reason as in maekawa.
		Identities: []algorithm.Identity{
			counts("request = (K-1) entries", func(c nodes.Config) int { return asked(c) - 1 }),
			counts("release = request"),
			counts("locked <= request + relinquish"),
			counts("locked >= floor(N/2) entries + relinquish", func(c nodes.Config) int { return c.N / 2 }),
			maekawaAlgorithm.Mutex.Identities[3],
			maekawaAlgorithm.Mutex.Identities[4],
		},
	},
	Published: []algorithm.Claim{
		{Figure: algorithm.MessagesPerEntry, Source: "derived: 3 floor(N/2), if only a majority is asked",
			Load: "sequential", Options: map[string]string{askOption.Name: askMajority},
			Value: func(c nodes.Config) algorithm.Range { return algorithm.Exactly(float64(3 * (c.N / 2))) }},
		{Figure: algorithm.MessagesPerEntry, Source: "derived: 3(N-1), if all are asked", Load: "sequential",
			Value: formula(func(n float64) float64 { return 3 * (n - 1) })},
		{Figure: algorithm.SynchronizationDelayHops, Source: textbook + ": as Maekawa's", Sizes: nine,
			Value: func(nodes.Config) algorithm.Range { return algorithm.Between(1, 2) }},
		{Figure: algorithm.ClientDelayHops, Source: textbook + ": as Maekawa's", Load: "sequential", Sizes: nine,
			Value: exactly(2)},
	},
	Faults: withoutTimeouts(
		under(recovers, "the votes of a majority are enough (Thomas 1979), and four of five nodes are up",
			"dead-idle"),
		under(recovers, "one of five votes is lost, and three are enough", "lost-request", "lost-reply"),
		under(recovers|starves|blocks, "clients go on if the votes of a majority are not lost on their way "+
			"(L), and otherwise all wait (B); clients whose requests were lost wait (P)", cuts...),
		under(recovers|starves|blocks, "votes are lost one after the other: clients go on while three are "+
			"left (L), then all wait (B); clients whose requests were lost wait (P)", losses...),
		under(recovers|starves|blocks, "all wait if the holder or a waiting node is killed (B), and go on if "+
			"another is (L); a node that asks again under an old stamp waits (P)", "each-in-turn",
			"restarts", "amnesia"),
		under(recovers|blocks|breaks, "a voter that has forgotten its vote lends it again, and two "+
			"majorities may share no other voter (X); otherwise as restarts", "empty-restarts"),
	),
}

// The nodes that a node asks. A majority costs less and is enough to enter, but then each of them has to be
// up.
const (
	askAll      = "all"
	askMajority = "majority"
)

var askOption = nodes.Option{
	Name:    "ask",
	Usage:   "which nodes a node asks for votes",
	Values:  []string{askAll, askMajority},
	Default: askAll,
	Shows: []nodes.Shown{{Value: askMajority, Than: askAll, Figure: "messages per entry", Least: 0.3, Most: 0.7,
		Load: "sequential"}},
}

// asked is how many nodes a node asks, itself included.
func asked(c nodes.Config) int {
	if c.Value(askOption) == askMajority {
		return moreThanHalf(c.N)
	}
	return c.N
}

// moreThanHalf is the size of the smallest majorities of n nodes.
func moreThanHalf(n int) int { return n/2 + 1 }

// majority is mutual exclusion by the voting of R. H. Thomas, "A majority consensus approach to concurrency
// control for multiple copy databases", ACM TODS 4(2), 1979.
//
// Every node has one vote. To enter, a node asks all for their votes, and waits for the votes of more than
// half; to leave it gives them back, and withdraws its request from the others. If votes are split, so that
// no node has enough, they are given back to the request with the best stamp. Nodes do that as in Maekawa's
// algorithm; here all majorities are quorums. A node takes the first majority whose votes come, rather than
// one fixed beforehand, so it can do without a minority that does not answer.
//
// Mutual exclusion holds because any two majorities have a node in common, which lends its vote to one node
// at a time.
//
// Nor do nodes wait for each other for ever. Take the best waiting request. An arbiter whose vote it lacks
// has asked for the vote back. The borrower is inside; or has received FAILED and gives the vote back; or
// waits without FAILED. In the last case it waits for an arbiter that knows no better request, and has lent
// its vote to a worse one and asked for it back; and so on, to worse and worse requests, which come to an
// end. Votes out of reach change nothing as long as more than half are in reach: a waiting node lacks one of
// these.
type majority struct {
	maekawa
	few bool // asks no more nodes than needed
}

// Start lists the nodes to ask. All are asked equally often.
func (m *majority) Start(env *nodes.Env) {
	n := env.N()
	m.enough = moreThanHalf(n)
	count := n
	if m.few {
		count = m.enough
	}
	for _, arbiter := range askedBy(env.Self(), n, count) {
		m.votes = append(m.votes, maekawaVote{Arbiter: arbiter})
	}
}

// askedBy lists so many of n nodes for a node to ask: itself first, and then the next ones.
func askedBy(id nodes.ID, n, count int) (all []nodes.ID) {
	for i := range count {
		all = append(all, nodes.ID((int(id)+i)%n))
	}
	return all
}
