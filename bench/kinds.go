package bench

import "turnstile/nodes"

// A kind is what runs of a kind of rows have of their own.
type kind struct {
	demand  demand
	tooSoon string // what comes of timeouts of its rows that are too short
}

// kinds has them by the kind of the rows. A kind that is not listed has those of mutual exclusion. A failure
// detector runs beside an algorithm.
var kinds = map[nodes.Kind]kind{
	nodes.MutualExclusion: {requests{}, "what is slow will be taken for lost"},
	nodes.Election:        {campaigns{}, "several may come to lead, or none"},
	nodes.Detection:       {requests{}, "nodes that are up will be suspected"},
}

func kindOf(k nodes.Kind) kind { return nodes.OfKind(kinds, k) }
