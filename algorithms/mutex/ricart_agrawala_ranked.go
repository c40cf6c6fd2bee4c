package mutex

import (
	"slices"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

// ricartRanked is the algorithm of Ricart and Agrawala with a priority other than stamps, as D. W. Jones,
// notes of 22C:116, University of Iowa, 2002, suggests: a waiting node replies at once to requests that come
// before its own, and puts off the others.
//
// With these rules alone two enter together. Stamps ensure that a node that has replied to a request does
// not ask under an earlier one; other priorities do not. Let j reply to i, and then ask under a number that
// comes first, while i still waits for k. Then i replies, and when k has replied to both, each has all
// replies. It is not enough that i puts off a peer that has replied to it: then i waits for k, k for j, and
// j for i.
//
// So there is one more rule here, like the rule by which Carvalho and Roucairol (1983) take a permission
// back. A waiting node that lets a request pass asks its sender again, under its old number. A peer's reply
// counts only if it answers the latest request to that peer. Let two nodes be inside, and let the first come
// before the second. The second replied to the first before it asked, or it asked again after it had replied.
// In either case the first had already asked when the second's request came, and puts it off until it leaves.
// The first of the waiting nodes gets all replies in the end; with IDs, high ones may wait for ever.
type ricartRanked struct {
	ranking
	ours  stamp      // our request; zero while we are neither waiting nor inside
	again uint64     // how often we have asked again for it
	lacks nodes.Set  // the peers that have yet to reply to our request
	asked []uint64   // by peer: the Clock of our latest request to it
	seen  []uint64   // by peer: the Clock of its latest request to us
	owed  []nodes.ID // the peers that we owe a reply, in the order of their requests
}

// rankedAgain is the number of low bits in the Clock of a request that count how often it was made; the
// other bits are its number.
const rankedAgain = 24

func newRicart(c nodes.Config) nodes.Machine {
	if by := priorityOf(c); by != byStamp {
		return &ricartRanked{ranking: ranking{by: by}, asked: make([]uint64, c.N), seen: make([]uint64, c.N)}
	}
	plain := ricartAgrawala{deferred: make([]ricartReply, c.N)}
	if repliesTogether(c) {
		return &ricartMulticast{plain}
	}
	return &plain
}

// ricartCost is the cost of an entry. A waiting node that lets a request pass asks once more. Multicast
// replies also go to peers that do not wait.
func ricartCost(c nodes.Config) algorithm.Cost {
	least := float64(2 * (c.N - 1))
	if repliesTogether(c) {
		cost := always("2(N-1), and up to N-1 more at an exit", algorithm.Between(least, 1.5*least),
			algorithm.Exactly(1))
		cost.Sequential, cost.One = algorithm.Exactly(least), algorithm.Exactly(least)
		return cost
	}
	if priorityOf(c) == byStamp {
		return always("2(N-1)", algorithm.Exactly(least), algorithm.Exactly(1))
	}
	cost := always("2(N-1), and up to 2(N-1) more if requests pass others", algorithm.Between(least, 2*least),
		algorithm.Exactly(1))
	cost.Sequential, cost.One = algorithm.Exactly(least), algorithm.Exactly(least)
	return cost
}

// unranked joins an identity for priority by stamps with a weaker one for other priorities.
func unranked(stamps, others algorithm.Identity) algorithm.Identity {
	return algorithm.Identity{Says: stamps.Says, Holds: func(c nodes.Config, t algorithm.Tally) bool {
		if priorityOf(c) == byStamp {
			return stamps.Holds(c, t)
		}
		return others.Holds(c, t)
	}}
}

func (r *ricartRanked) Request(env *nodes.Env) {
	r.ours, r.again = stamp{r.next(), env.Self()}, 0
	r.lacks = env.Peers()
	for peer := range r.asked {
		r.asked[peer] = r.clock()
	}
	env.Broadcast(ricartRequest{r.clock()})
	if r.lacks.Empty() {
		env.Grant() // there are no peers
	}
}

// clock returns the Clock of our request.
func (r *ricartRanked) clock() uint64 { return r.ours.Clock<<rankedAgain | r.again }

func (r *ricartRanked) Release(env *nodes.Env) {
	r.ours = stamp{}
	r.leave()
	for _, peer := range r.owed {
		env.Send(peer, ricartReply{r.seen[peer]})
	}
	r.owed = r.owed[:0]
}

func (r *ricartRanked) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	switch m := m.(type) {
	case ricartRequest:
		if m.Clock <= r.seen[from] {
			return // the request is a copy
		}
		number := m.Clock >> rankedAgain
		if number > r.seen[from]>>rankedAgain {
			r.hear(number)
		}
		r.seen[from] = m.Clock
		r.answer(env, stamp{number, from})
	case ricartReply:
		if !r.ours.isZero() && m.Clock == r.asked[from] && r.lacks.Remove(from) && r.lacks.Empty() {
			env.Grant()
		}
	default:
		nodes.Unexpected(r, m)
	}
}

// answer replies to a request, or puts it off.
func (r *ricartRanked) answer(env *nodes.Env, s stamp) {
	waiting := !r.ours.isZero() && !r.lacks.Empty()
	if !r.ours.isZero() && (!waiting || r.by.before(r.ours, s)) {
		if !slices.Contains(r.owed, s.ID) {
			r.owed = append(r.owed, s.ID)
		}
		return
	}
	env.Send(s.ID, ricartReply{r.seen[s.ID]})
	if waiting {
		r.again++
		r.asked[s.ID] = r.clock()
		r.lacks.Add(s.ID)
		env.Send(s.ID, ricartRequest{r.clock()})
	}
}

// WaitsFor names the peers that have yet to reply.
func (r *ricartRanked) WaitsFor() nodes.Set { return r.lacks.Clone() }
