package bench

import "turnstile/nodes"

// A kind says how runs of one kind of algorithm differ from others.
type kind struct {
	demand  demand
	tooSoon string // what happens if timeouts of such an algorithm are too short
}

// kinds has what depends on the kind of an algorithm. A kind without an entry uses the entry of mutual
// exclusion.
var kinds = map[nodes.Kind]kind{
	nodes.MutualExclusion: {requests{}, "slow messages will be taken for lost"},
	nodes.Election:        {campaigns{}, "several nodes may lead at once, or none"},
	nodes.Detection:       {requests{}, "nodes that are up will be suspected"},
}

func kindOf(k nodes.Kind) kind { return nodes.OfKind(kinds, k) }
