package election

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"turnstile/internal/chance"
	"turnstile/internal/suggest"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

// idsOption is the order of the nodes' identities round a ring. Node i sits between nodes i-1 and i+1
// for any identities.
var idsOption = nodes.Option{
	Name:    "ids",
	Usage:   "identities of nodes 0, 1... of the ring: increasing, decreasing, random:SEED, or a list as 2,0,1",
	Default: "increasing",
	Check: func(c nodes.Config, value string) error {
		_, err := identities(c.N, value)
		return err
	},
	Shows: []nodes.Shown{
		{Value: "increasing", Figure: "leader", Least: 4, Most: 4},
		{Value: "decreasing", Figure: "leader", Least: 0, Most: 0},
		{Value: "2,0,4,1,3", Figure: "leader", Least: 2, Most: 2},
	},
}

// identities returns the identity of each node of a ring of n: different whole numbers from 0.
func identities(n int, value string) ([]uint32, error) {
	ids := make([]uint32, n)
	seed, random := strings.CutPrefix(value, "random:")
	switch {
	case value == "increasing":
		for i := range ids {
			ids[i] = uint32(i)
		}
	case value == "decreasing":
		for i := range ids {
			ids[i] = uint32(n - 1 - i)
		}
	case random:
		x, err := strconv.ParseUint(seed, 10, 63)
		if err != nil {
			return nil, fmt.Errorf("%q is not a seed: write a whole number, such as random:1", seed)
		}
		shuffle(ids, chance.Dice(x))
	default:
		words := strings.Split(value, ",")
		for i, word := range words {
			x, err := strconv.ParseUint(strings.TrimSpace(word), 10, 31)
			if err != nil {
				return nil, noIdentities(value)
			}
			if i >= n {
				continue
			}
			if before := slices.Index(ids[:i], uint32(x)); before >= 0 {
				return nil, fmt.Errorf("nodes %d and %d both have the identity %d: nothing would tell them apart, "+
					"so give each its own", before, i, x)
			}
			ids[i] = uint32(x)
		}
		if len(words) != n {
			return nil, fmt.Errorf("%d identities for %d nodes: each node has one", len(words), n)
		}
	}
	return ids, nil
}

// noIdentities returns the error of a wrong value of the option ids, with what may have been meant.
func noIdentities(value string) error {
	word, seed, _ := strings.Cut(value, ":")
	near := suggest.Nearest(word, []string{"increasing", "decreasing", "random"})
	if near == "random" {
		near += ":" + cmp.Or(seed, "1")
	}
	if near != "" {
		return fmt.Errorf("%q gives nodes no identities: did you mean %s?", value, near)
	}
	return fmt.Errorf("%q is neither increasing, decreasing, random:SEED nor a list of whole numbers, such as "+
		"2,0,1", value)
}

// shuffle fills ids with a random order of the numbers from 0.
func shuffle(ids []uint32, d chance.Dice) {
	for i := range ids {
		with := d.Below(chance.Roll{Purpose: chance.ForNode, Count: uint64(i) + 1}, i+1)
		ids[i] = ids[with]
		ids[with] = uint32(i)
	}
}

// ring is what a node of a ring knows: its neighbours, and its own identity.
type ring struct {
	next, previous nodes.ID
	identity       uint32 // of this node
}

// ringOf returns what this node knows of a ring whose identities are in the order of idsOption.
func ringOf(env *nodes.Env, order string) ring {
	n, self := nodes.ID(env.N()), env.Self()
	return ring{next: (self + 1) % n, previous: (self + n - 1) % n, identity: identity(env.N(), order, self)}
}

// identity returns the identity of a node in a ring of n.
func identity(n int, order string, id nodes.ID) uint32 {
	switch order {
	case "increasing":
		return uint32(id)
	case "decreasing":
		return uint32(n-1) - uint32(id)
	}
	ids, _ := identities(n, order) // the option is valid
	return ids[id]
}

// rankInRing ranks nodes by their identities: see algorithm.Leadership.
func rankInRing(c nodes.Config, id nodes.ID) uint32 { return identity(c.N, c.Value(idsOption), id) }

// to returns the neighbour in a direction.
func (r *ring) to(forward bool) nodes.ID {
	if forward {
		return r.next
	}
	return r.previous
}

// side numbers the two directions, for arrays.
func side(forward bool) int {
	if forward {
		return 1
	}
	return 0
}

// A ringNode is the common part of the nodes of rings with identities.
//
// Elections are numbered, so that one can follow another: a node ignores messages of an election that it
// knows to be over. At any time only the number of the next election can be higher than all that a node has
// heard of. The node joins that election even if it is still in an earlier one.
type ringNode struct {
	ring
	ids      string   // see idsOption
	leader   nodes.ID // the leader, as far as this node knows
	election uint32   // the latest that it knows of, from 1
	open     bool     // that election goes on
}

// ringElected names the leader. It goes once round the ring, back to its sender.
type ringElected struct {
	Election uint32
	Leader   nodes.ID
}

// newRingNode returns a node that has not started.
func newRingNode(c nodes.Config) ringNode {
	return ringNode{ids: c.Value(idsOption), leader: nodes.None}
}

// Start implements nodes.Starter.
func (r *ringNode) Start(env *nodes.Env) { r.ring = ringOf(env, r.ids) }

// begin opens the next election and returns true, unless one goes on.
func (r *ringNode) begin(env *nodes.Env) bool {
	if r.open {
		return false
	}
	r.join(env, r.election+1)
	return true
}

// join opens an election.
func (r *ringNode) join(env *nodes.Env, election uint32) {
	r.election, r.open = election, true
	r.follow(env, nodes.None)
}

// takes reports whether a message of an election is to be handled, and whether it is the first that this node
// hears of that election, which is open from then on.
func (r *ringNode) takes(env *nodes.Env, election uint32) (current, fresh bool) {
	switch {
	case election > r.election:
		r.join(env, election)
		return true, true
	case election < r.election:
		return false, false
	}
	return r.open, false
}

// win makes this node the leader, and tells the others.
func (r *ringNode) win(env *nodes.Env) { r.announce(env, env.Self()) }

// announce ends the election, and tells all others the winner.
func (r *ringNode) announce(env *nodes.Env, leader nodes.ID) {
	r.open = false
	r.follow(env, leader)
	env.Send(r.next, ringElected{r.election, leader})
}

// hear records the winner, and passes the announcement on.
func (r *ringNode) hear(env *nodes.Env, m ringElected) {
	if m.Election < r.election || m.Election == r.election && !r.open {
		return // it has come back to its sender, or is a copy, or too late
	}
	r.election, r.open = m.Election, false
	r.follow(env, m.Leader)
	env.Send(r.next, m)
}

// follow records the leader.
func (r *ringNode) follow(env *nodes.Env, leader nodes.ID) {
	if leader != r.leader {
		r.leader = leader
		env.Elect(leader, 0)
	}
}

// ringPartitions are the outcomes for a ring without timeouts that is cut.
var ringPartitions = []algorithm.Partition{{Does: algorithm.Blocked,
	Why: "no node acts on silence, and the cut ring passes no election on"},
	{Cuts: algorithm.SomeLinks, Does: algorithm.Blocked, Why: "no node acts on silence"}}
