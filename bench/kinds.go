package bench

import "turnstile/nodes"

// A kind has what depends on the kind of a run's rows.
type kind struct {
	demand  demand
	tooSoon string // what happens if their timeouts are too short
}

// kinds maps the kind of rows to what depends on it. Kinds that are not listed use the entry of mutual
// exclusion.
var kinds = map[nodes.Kind]kind{
	nodes.MutualExclusion: {requests{}, "what is slow will be taken for lost"},
	nodes.Election:        {campaigns{}, "several may come to lead, or none"},
	nodes.Detection:       {requests{}, "nodes that are up will be suspected"},
}

func kindOf(k nodes.Kind) kind { return nodes.OfKind(kinds, k) }
