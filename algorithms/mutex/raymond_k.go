package mutex

import (
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

var raymondKAlgorithm = algorithm.Algorithm{
	Spec: nodes.Spec{
		Name: "raymond-k",
		New: func(c nodes.Config) nodes.Machine {
			return &raymondK{ricartAgrawala: ricartAgrawala{deferred: make([]ricartReply, c.N)},
				without: c.Capacity() - 1}
		},
		Messages: []nodes.MessageKind{{Zero: ricartRequest{}, Broadcast: true},
			{Zero: ricartReply{}, Permit: true}},
		Units: nodes.Units{Most: nodes.AnyUnits, Usual: 2},
		Safe:  nodes.NoAmnesia,
		Live:  nodes.NoLoss | nodes.NoCrash,
	},
	Aliases: []string{"k-mutex", "l-exclusion"}, Family: "permission",
	Source: "Raymond, A distributed algorithm for multiple entries to a critical section, IPL 30(4), 1989",
	Summary: "Ricart and Agrawala's algorithm for a resource of k units: a node enters when all but k-1 peers " +
		"have replied.",
	// No Bypass: a peer whose reply is not needed may enter again and again while a node waits.
	Mutex: &algorithm.Exclusion{
		Symbols: []algorithm.Symbol{{Name: "k", Says: "units", Value: nodes.Config.Capacity}},
		Cost: func(c nodes.Config) algorithm.Cost {
			most := algorithm.Exactly(float64(2 * (c.N - 1)))
			late := algorithm.Between(float64(c.N-1+needed(c)), most.Max)
			return algorithm.Cost{Formula: "2(N-1) alone, at least 2N-k-1 if concurrent", Sequential: most, One: most,
				Saturated: late, Any: late, Delay: algorithm.Between(0, 1)}
		},
		Identities: []algorithm.Identity{
			counts("request = (N-1) entries", peers),
			counts("reply <= request"),
			counts("reply >= (N-k) entries", needed),
		},
	},
	Published: []algorithm.Claim{
		{Figure: algorithm.MessagesPerEntry, Source: paper + ": at most 2(N-1), occasionally fewer",
			Value: func(c nodes.Config) algorithm.Range {
				return algorithm.Between(float64(c.N-1+needed(c)), float64(2*(c.N-1)))
			}},
		{Figure: algorithm.MessagesPerEntry, Source: paper + ": one at a time", Load: "sequential",
			Value: formula(func(n float64) float64 { return 2 * (n - 1) })},
		{Figure: algorithm.MessagesPerEntry, Source: "with one unit, as Ricart and Agrawala", Units: 1,
			Value: formula(func(n float64) float64 { return 2 * (n - 1) })},
	},
	// With two units, the default number: each entry does without one reply.
	Faults: withoutTimeouts(
		under(recovers, "every entry does without the reply of the dead node (k-1 may be dead, and one is)",
			"dead-idle", "dead-waiter", "dead-holder"),
		under(recovers, "one reply is missing, and every entry does without one", "lost-request", "lost-reply"),
		under(starves|blocks, "a node that lacks two replies waits (P), and then no other node gets "+
			"its reply, so that all wait unless it is the only one (B)", losses...),
		under(starves|blocks, "nodes that lack two replies after the heal wait: one that was cut off alone "+
			"(P), as the others do without its reply; all, if sides of two or more were cut off (B)", cuts...),
		under(recovers, "one node at a time is down, and every entry does without its reply", "each-in-turn"),
		under(recovers|breaks, "every entry does without the reply of the dead node; one that comes up "+
			"with its clock at 0 may enter beside two others (X), since it has forgotten what it had put off",
			"restarts", "amnesia", "empty-restarts"),
	),
}

// needed returns how many replies a node needs to enter.
func needed(c nodes.Config) int { return max(0, c.N-c.Capacity()) }

// raymondK is the algorithm of K. Raymond, "A distributed algorithm for multiple entries to a critical
// section", Information Processing Letters 30(4), 1989, for a resource of k units. Each request takes one.
//
// It is Ricart and Agrawala's, but for the number of replies: a node enters when N-k peers have replied, so
// k-1 may have put it off. Their replies come later, when it is inside or has left.
//
// No more than k are inside. Take the request with the latest stamp inside. Each other node inside requested
// before it received that request, or its own would be the later one; so it has put its reply off until it
// leaves. But at most k-1 peers have not replied to a node inside.
//
// A peer that is inside for long may owe a node several replies, since that node enters and asks again
// without them. So a reply names its request: a late one permits no later request. A peer that owes one node
// several sends only the latest, since earlier requests are over; so there may be fewer than 2(N-1) messages.
type raymondK struct {
	ricartAgrawala
	without int  // how many replies may be missing at an entry
	waiting bool // we are not inside yet
}

func (r *raymondK) Request(env *nodes.Env) {
	r.clock++
	r.ours = stamp{r.clock, env.Self()}
	r.awaiting = env.Peers()
	r.waiting = true
	env.Broadcast(ricartRequest{r.clock})
	r.enter(env)
}

func (r *raymondK) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	reply, is := m.(ricartReply)
	if !is {
		r.ricartAgrawala.Receive(env, from, m)
		return
	}
	if reply.Clock == r.ours.Clock && r.awaiting.Remove(from) {
		r.enter(env)
	}
}

// enter enters if enough peers have replied.
func (r *raymondK) enter(env *nodes.Env) {
	if r.waiting && r.awaiting.Len() <= r.without {
		r.waiting = false
		env.Grant()
	}
}

// WaitsFor names the peers that have yet to reply while we wait.
func (r *raymondK) WaitsFor() nodes.Set {
	if !r.waiting {
		return nodes.Set{}
	}
	return r.awaiting.Clone()
}
