package election

import (
	"fmt"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

var changRobertsAlgorithm = algorithm.Algorithm{
	Spec: nodes.Spec{
		Name: "chang-roberts", Kind: nodes.Election,
		New:      func(c nodes.Config) nodes.Machine { return &changRoberts{newRingNode(c)} },
		Messages: []nodes.MessageKind{{Zero: changElection{}}, {Zero: ringElected{}}},
		Options:  []nodes.Option{idsOption},
		Edges:    nextOnly,
		Live:     nodes.NoLoss | nodes.NoCrash | nodes.NoAmnesia,
	},
	Family: "ring",
	Source: "E. Chang and R. Roberts, An improved algorithm for decentralized extrema-finding in " +
		"circular configurations of processes, CACM 22(5), 1979",
	Summary: "Each candidate sends its identity round the ring; a node passes on only what is higher " +
		"than its own, so the highest alone comes back to its owner, which leads.",
	Elector: &algorithm.Leadership{Wins: algorithm.HighestWins, Rank: rankInRing,
		Partitions: ringPartitions, Costs: changRobertsCosts},
	Published: changRobertsClaims,
	Faults:    silent(),
}

// changRobertsClaims are figures of the paper and of textbooks. The announcement takes N more messages.
var changRobertsClaims = []algorithm.Claim{
	changClaim("2N-1, identities increasing along the ring", "increasing", algorithm.Exact, func(n int) float64 {
		return float64(2*n - 1)
	}),
	changClaim("N(N+1)/2, identities decreasing", "decreasing", algorithm.Exact, func(n int) float64 {
		return float64(n*(n+1)) / 2
	}),
	changClaim("N*H(N) on average over all rings", "", algorithm.Mean, func(n int) (sum float64) {
		for i := range n {
			sum += float64(n) / float64(i+1)
		}
		return sum
	}),
}

// changClaim returns a claim on the messages of an election in which all are candidates, without the
// announcement. order is the order of identities; empty: a random one for each of many runs.
func changClaim(says, order string, within algorithm.Tolerance, cost func(n int) float64) algorithm.Claim {
	t := algorithm.Trial{Kinds: []string{"election"}, Lasts: time.Second}
	if order == "" {
		t.Runs = 1000
		t.Vary = func(c *nodes.Config, run int) { *c = c.With("ids", fmt.Sprintf("random:%d", run)) }
	} else {
		t.Vary = func(c *nodes.Config, _ int) { *c = c.With("ids", order) }
	}
	return algorithm.Claim{Figure: algorithm.MessagesPerElection, Source: says, Within: within, Election: &t,
		Value: func(c nodes.Config) algorithm.Range { return algorithm.Exactly(cost(c.N)) }}
}

// changRoberts is the algorithm of Chang and Roberts. It adds an announcement, and numbers of elections, so
// that another can follow.
//
// Only the node with the highest identity ever leads, even if messages are lost, copied or late, or nodes
// forget: it stops every other identity. It does lead in the end: nobody stops the highest identity that is
// sent in an election, so this identity passes all nodes, and all take part. The highest node is among them:
// it sends its own identity, which comes back to it.
//
// A node that comes up again and has forgotten that it took part may send its identity twice; the second to
// come back finds the election over. While the node with the highest identity is down, nobody leads.
type changRoberts struct{ ringNode }

// changElection carries the highest identity on its path since a candidate sent it.
type changElection struct{ Election, Identity uint32 }

func (c *changRoberts) Campaign(env *nodes.Env) {
	if c.begin(env) {
		c.send(env, c.identity)
	}
}

func (c *changRoberts) send(env *nodes.Env, identity uint32) {
	env.Send(c.next, changElection{c.election, identity})
}

func (c *changRoberts) Receive(env *nodes.Env, _ nodes.ID, m nodes.Message) {
	switch m := m.(type) {
	case changElection:
		current, fresh := c.takes(env, m.Election)
		switch {
		case !current:
		case m.Identity > c.identity:
			c.send(env, m.Identity)
		case m.Identity == c.identity:
			c.win(env)
		case fresh: // a node that took part before has sent its own or a higher identity
			c.send(env, c.identity)
		}
	case ringElected:
		c.hear(env, m)
	default:
		nodes.Unexpected(c, m)
	}
}
