package election

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"turnstile/internal/chance"
	"turnstile/nodes"
)

// idsOption says in what order the identities of the nodes stand round a ring. Node i sits between nodes i-1
// and i+1 whatever its identity is.
var idsOption = nodes.Option{
	Name:    "ids",
	Usage:   "identities of nodes 0, 1... of the ring: increasing, decreasing, random:SEED, or a list as 2,0,1",
	Default: "increasing",
	Check: func(c nodes.Config, value string) error {
		_, err := identities(c.N, value)
		return err
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
			return nil, fmt.Errorf("%q is no seed: write a whole number, such as random:1", seed)
		}
		shuffle(ids, chance.Dice(x))
	default:
		words := strings.Split(value, ",")
		if len(words) != n {
			return nil, fmt.Errorf("%d identities for %d nodes: each node has one", len(words), n)
		}
		for i, word := range words {
			x, err := strconv.ParseUint(strings.TrimSpace(word), 10, 31)
			if err != nil {
				return nil, fmt.Errorf("%q is neither increasing, decreasing, random:SEED nor a list of whole "+
					"numbers, such as 2,0,1", value)
			}
			if before := slices.Index(ids[:i], uint32(x)); before >= 0 {
				return nil, fmt.Errorf("nodes %d and %d both have the identity %d: nothing would tell them apart, "+
					"so give each its own", before, i, x)
			}
			ids[i] = uint32(x)
		}
	}
	return ids, nil
}

// shuffle fills ids with a random order of the numbers from 0.
func shuffle(ids []uint32, d chance.Dice) {
	for i := range ids {
		with := d.Below(chance.Roll{Purpose: chance.ForNode, Count: uint64(i) + 1}, i+1)
		ids[i] = ids[with]
		ids[with] = uint32(i)
	}
}

// ring is what a node of a ring knows of the others: who is next to it, and nothing of their identities.
type ring struct {
	next, previous nodes.ID
	identity       uint32 // of this node
}

// ringOf returns what a node knows of a ring whose identities stand in the order that idsOption says.
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

// rankInRing ranks nodes by their identities: see nodes.Leadership.
func rankInRing(c nodes.Config, id nodes.ID) uint32 { return identity(c.N, c.Value(idsOption), id) }
