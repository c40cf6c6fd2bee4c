package election

import (
	"fmt"
	"time"

	"turnstile/nodes"
)

var changRobertsRow = nodes.Spec{
	Info: nodes.Info{
		Name: "chang-roberts", Family: "ring",
		Source: "E. Chang and R. Roberts, An improved algorithm for decentralized extrema-finding in circular " +
			"configurations of processes, CACM 22(5), 1979",
		Summary: "Each candidate sends its identity round the ring; a node passes on only what is higher than " +
			"its own, so the highest alone comes back to its owner, who leads.",
	},
	New: func(c nodes.Config) nodes.Machine {
		return &changRoberts{ids: c.Value(idsOption), leader: nodes.None}
	},
	Messages:  []nodes.Kind{{Zero: changElection{}}, {Zero: changElected{}}},
	Options:   []nodes.Option{idsOption},
	Safe:      nodes.NoDuplication | nodes.NoAmnesia,
	Live:      nodes.NoLoss | nodes.NoCrash | nodes.NoDuplication | nodes.NoAmnesia,
	Published: changRobertsClaims,
	Leads:     &nodes.Leadership{Wins: nodes.HighestWins, Rank: rankInRing},
}

// changRobertsClaims are those of the paper and of its textbooks; the announcement takes N more.
var changRobertsClaims = []nodes.Claim{
	changClaim("2N-1, identities increasing along the ring", "increasing", nodes.Exact, func(n int) float64 {
		return float64(2*n - 1)
	}),
	changClaim("N(N+1)/2, identities decreasing", "decreasing", nodes.Exact, func(n int) float64 {
		return float64(n*(n+1)) / 2
	}),
	changClaim("N*H(N) on average over all rings", "", nodes.Mean, func(n int) (sum float64) {
		for i := range n {
			sum += float64(n) / float64(i+1)
		}
		return sum
	}),
}

// changClaim is how many messages an election takes in which all are candidates, the announcement left out,
// by the order of identities; empty: drawn for each of many runs.
func changClaim(says, order string, within nodes.Tolerance, cost func(n int) float64) nodes.Claim {
	t := nodes.Trial{Kinds: []string{"election"}, Lasts: time.Second}
	if order == "" {
		t.Runs = 1000
		t.Vary = func(c *nodes.Config, run int) { *c = c.With("ids", fmt.Sprintf("random:%d", run)) }
	} else {
		t.Vary = func(c *nodes.Config, _ int) { *c = c.With("ids", order) }
	}
	return nodes.Claim{Figure: nodes.MessagesPerElection, Source: says, Within: within, Election: &t,
		Value: func(c nodes.Config) nodes.Range { return nodes.Exactly(cost(c.N)) }}
}

// changRoberts is the algorithm of Chang and Roberts, with the announcement that lets all know, and ends
// their part in the election, so that another can follow.
type changRoberts struct {
	ids         string // see idsOption
	ring        ring
	participant bool // an identity no lower than its own is on its way
	leader      nodes.ID
}

type (
	changElection struct{ Identity uint32 } // of the highest node that it has passed since a candidate sent it
	changElected  struct{ Leader nodes.ID } // has its own identity back
)

// Start implements nodes.Starter.
func (c *changRoberts) Start(env *nodes.Env) { c.ring = ringOf(env, c.ids) }

func (c *changRoberts) Campaign(env *nodes.Env) {
	if !c.participant {
		c.stand(env, c.ring.identity)
	}
}

// stand takes part in an election for an identity.
func (c *changRoberts) stand(env *nodes.Env, identity uint32) {
	c.participant = true
	c.follow(env, nodes.None)
	env.Send(c.ring.next, changElection{identity})
}

func (c *changRoberts) follow(env *nodes.Env, leader nodes.ID) {
	if leader != c.leader {
		c.leader = leader
		env.Elect(leader, 0)
	}
}

func (c *changRoberts) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	switch m := m.(type) {
	case changElection:
		switch own := c.ring.identity; {
		case m.Identity > own:
			c.stand(env, m.Identity)
		case m.Identity == own:
			c.participant = false
			c.follow(env, env.Self())
			env.Send(c.ring.next, changElected{env.Self()})
		case !c.participant:
			c.stand(env, own)
		}
	case changElected:
		if m.Leader != env.Self() {
			c.participant = false
			c.follow(env, m.Leader)
			env.Send(c.ring.next, m)
		}
	default:
		nodes.Unexpected(c, m)
	}
}
