package mutex

import (
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

var multiCopyAlgorithm = algorithm.Algorithm{
	Spec: nodes.Spec{
		Name: "multi-copy",
		New: func(c nodes.Config) nodes.Machine {
			return &multiCopy{copies: c.Capacity(), held: make([]int, c.N), owed: make([]uint64, c.N)}
		},
		Messages: []nodes.MessageKind{{Zero: copiesRequest{}, Broadcast: true},
			{Zero: copiesAnswer{}, Permit: true}, {Zero: copiesFreed{}, Permit: true}},
		Units: nodes.Units{Most: nodes.AnyUnits, Take: nodes.AnyUnits, Usual: 3},
		Safe:  nodes.NoAmnesia,
		Live:  nodes.NoLoss | nodes.NoCrash,
	},
	Aliases: []string{"m-of-n", "copies"}, Family: "permission",
	Source: "the problem: Raynal, A distributed solution to the k-out of-M resources allocation problem, " +
		"ICCI 1991; the rules are derived from Ricart and Agrawala's (CACM 24(1), 1981), with counts of copies",
	Summary: "A node asks every peer for m of M copies; each peer replies how many it takes first, and the " +
		"node enters when m remain; a leaving node tells its peers.",
	// No Bypass: while a node waits, peers that need fewer copies may enter again and again before it.
	Mutex: &algorithm.Exclusion{
		Cost: func(c nodes.Config) algorithm.Cost {
			least := algorithm.Exactly(float64(2 * (c.N - 1)))
			any := algorithm.Between(least.Min, float64(3*(c.N-1)))
			return algorithm.Cost{Formula: "2(N-1) alone, up to 3(N-1) if concurrent", Sequential: least, One: least,
				Saturated: any, Any: any, Delay: algorithm.Between(0, 1)}
		},
		Identities: []algorithm.Identity{
			counts("request = (N-1) entries", peers),
			counts("answer = request"),
			counts("freed <= answer"),
		},
	},
	Published: []algorithm.Claim{
		{Figure: algorithm.MessagesPerEntry, Source: "derived: a request, an answer, and copies freed later",
			Take: "1..3", Value: func(c nodes.Config) algorithm.Range {
				return algorithm.Between(float64(2*(c.N-1)), float64(3*(c.N-1)))
			}},
		{Figure: algorithm.MessagesPerEntry, Source: "derived: one at a time", Load: "sequential", Take: "1..3",
			Value: formula(func(n float64) float64 { return 2 * (n - 1) })},
		{Figure: algorithm.ClientDelayHops, Source: "derived: a request and its answers", Load: "sequential",
			Sizes: nine, Take: "1..3", Value: exactly(2)},
	},
	// With three copies, the default number. Each request takes one.
	Faults: withoutTimeouts(
		under(blocks, "a silent peer counts with all copies, so every entry needs an answer of "+
			"the dead node", "dead-idle"),
		under(starves|blocks, "a node whose request or answer is lost waits for ever (P); it leaves the others "+
			"two of three copies", "lost-request"),
		under(recovers|starves, "a node whose answer is lost waits (P), unless it can do without "+
			"that peer's copies (L)", "lost-reply"),
		under(recovers|starves|blocks|breaks, "a node that comes up with its clock at 0 has forgotten its "+
			"answers, and may take copies beside others (X); for lost answers their receivers wait (P), "+
			"or all (B), or none was lost (L)", comebacks...),
	),
}

// multiCopy serves a resource of M copies to requests for any number m of them, after Ricart and Agrawala.
// The problem is that of M. Raynal, "A distributed solution to the k-out of-M resources allocation problem",
// ICCI 1991, who generalizes their algorithm too; these rules are not copied from there.
//
// To enter, a node stamps a request with its logical clock and sends it to every peer. A peer answers at
// once: how many copies it takes if it is inside, or waits, under an earlier stamp; otherwise 0. When a node
// leaves, it tells the nodes that it has told of its copies that these are free. A node counts all M copies
// as taken by a peer that has not answered. It enters when M less what its peers take is as much as it wants.
//
// No more than M copies are taken. Take the request with the latest stamp inside. Each other node inside has
// answered this request, and made its own earlier: otherwise its own would be the later one. So it has
// answered how many copies it takes, and they count until it leaves.
//
// A large request does not starve: a node that asks after it has heard of the request leaves it the copies
// that it wants. So the request waits only for nodes that were before it when they answered, and these leave.
type multiCopy struct {
	copies  int      // M, the number of copies of the resource
	clock   uint64   // the highest stamp seen or used
	ours    stamp    // our request; zero while we are neither waiting nor inside
	units   int      // how many copies our request wants
	waiting bool     // we are not inside yet
	held    []int    // by peer: how many copies it may take before us
	owed    []uint64 // by peer: the stamp of its request that we answered with our copies; 0: no such request
}

type (
	copiesRequest struct{ Clock uint64 } // asks to enter, stamped Clock
	copiesAnswer  struct {               // says how many copies its sender takes before request Clock
		Clock uint64
		Takes int
	}
	copiesFreed struct{ Clock uint64 } // says that the copies taken before request Clock are free
)

func (c *multiCopy) Request(env *nodes.Env) {
	c.clock++
	c.ours, c.units, c.waiting = stamp{c.clock, env.Self()}, env.Units(), true
	for peer := range c.held {
		c.held[peer] = c.copies
	}
	c.held[env.Self()] = 0
	env.Broadcast(copiesRequest{c.clock})
	c.enter(env)
}

func (c *multiCopy) Release(env *nodes.Env) {
	c.ours, c.units = stamp{}, 0
	for peer, clock := range c.owed {
		if clock > 0 {
			env.Send(nodes.ID(peer), copiesFreed{clock})
			c.owed[peer] = 0
		}
	}
}

func (c *multiCopy) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	switch m := m.(type) {
	case copiesRequest:
		c.clock = max(c.clock, m.Clock)
		takes := 0
		if !c.ours.isZero() && c.ours.before(stamp{m.Clock, from}) {
			takes = c.units
			c.owed[from] = max(c.owed[from], m.Clock)
		}
		env.Send(from, copiesAnswer{m.Clock, takes})
	case copiesAnswer:
		c.count(env, from, m.Clock, m.Takes)
	case copiesFreed:
		c.count(env, from, m.Clock, 0)
	default:
		nodes.Unexpected(c, m)
	}
}

// count records how many copies a peer takes before the request stamped clock. The number never rises: an
// answer, or a copy of it, that comes after its copies were freed changes nothing.
func (c *multiCopy) count(env *nodes.Env, from nodes.ID, clock uint64, takes int) {
	if clock == c.ours.Clock {
		c.held[from] = min(c.held[from], takes)
		c.enter(env)
	}
}

// enter enters if enough copies are left.
func (c *multiCopy) enter(env *nodes.Env) {
	left := c.copies
	for _, takes := range c.held {
		left -= takes
	}
	if c.waiting && left >= c.units {
		c.waiting = false
		env.Grant()
	}
}

// WaitsFor names the peers that take copies before us, or have not answered.
func (c *multiCopy) WaitsFor() (all nodes.Set) {
	for peer, takes := range c.held {
		if c.waiting && takes > 0 {
			all.Add(nodes.ID(peer))
		}
	}
	return all
}
