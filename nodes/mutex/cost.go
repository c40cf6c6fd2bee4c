package mutex

import (
	"turnstile/nodes"
	"turnstile/nodes/row"
)

// always is the cost of an algorithm to which the load makes no difference.
func always(formula string, messages, delay row.Range) row.Cost {
	return row.Cost{
		Formula:    formula,
		Sequential: messages,
		One:        messages,
		Saturated:  messages,
		Any:        messages,
		Delay:      delay,
	}
}

// handovers is the cost of entries in an algorithm whose token, at first node 0's, takes so many messages to
// come from one node to another.
func handovers(messages func(from, to nodes.ID) int) row.EntryCost {
	holder := nodes.ID(0)
	return func(entrant nodes.ID) (count int) {
		if entrant != holder {
			count = messages(holder, entrant)
		}
		holder = entrant
		return count
	}
}

// peers is how many nodes a broadcast reaches.
func peers(c nodes.Config) int { return c.N - 1 }

// undisturbed is what a promised order rests on where the algorithm makes up for what goes wrong: a request
// that is lost is known late, and who is suspected is skipped.
const undisturbed = nodes.NoLoss | nodes.NoDuplication | nodes.FIFO | nodes.NoCrash | nodes.NoAmnesia |
	nodes.NoPause | nodes.PerfectDetector | nodes.EventualDetector | nodes.Timing | nodes.Majority |
	nodes.ServersUp

// perEntry is the identity of a kind that is sent so many times an entry.
func perEntry(kind, says string, times func(c nodes.Config) int) row.Identity {
	return row.Identity{
		Says:  kind + " = " + says,
		Holds: func(c nodes.Config, t row.Tally) bool { return t.Sent[kind] == uint64(times(c))*t.Entries },
	}
}

// same is the identity of two kinds that are sent equally often.
func same(kind, other string) row.Identity {
	return row.Identity{
		Says:  kind + " = " + other,
		Holds: func(_ nodes.Config, t row.Tally) bool { return t.Sent[kind] == t.Sent[other] },
	}
}

// atMost is the identity of a kind that is sent no more often than bound.
func atMost(kind, says string, bound func(c nodes.Config, t row.Tally) uint64) row.Identity {
	return row.Identity{
		Says:  kind + " <= " + says,
		Holds: func(c nodes.Config, t row.Tally) bool { return t.Sent[kind] <= bound(c, t) },
	}
}
