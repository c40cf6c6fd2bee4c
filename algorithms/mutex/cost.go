package mutex

import (
	"strings"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

// always is the cost of an algorithm whose cost does not depend on the load.
func always(formula string, messages, delay algorithm.Range) algorithm.Cost {
	return algorithm.Cost{
		Formula:    formula,
		Sequential: messages,
		One:        messages,
		Saturated:  messages,
		Any:        messages,
		Delay:      delay,
	}
}

// keepingToken is the cost of an algorithm whose node keeps the token until another wants it. An entry takes
// at most most messages, the last of them the token.
func keepingToken(c nodes.Config, formula string, most int) algorithm.Cost {
	if c.N == 1 {
		return always(formula, algorithm.Exactly(0), algorithm.Exactly(0))
	}
	cost := always(formula, algorithm.Between(0, float64(most)), algorithm.Exactly(1))
	cost.One = algorithm.Exactly(0)
	return cost
}

// handovers is the cost of entries if the token, at first node 0's, takes so many messages from one node to
// another.
func handovers(messages func(from, to nodes.ID) int) algorithm.EntryCost {
	holder := nodes.ID(0)
	return func(entrant nodes.ID) (count int) {
		if entrant != holder {
			count = messages(holder, entrant)
		}
		holder = entrant
		return count
	}
}

// peers is the number of a node's peers.
func peers(c nodes.Config) int { return c.N - 1 }

// undisturbed is what a promised order assumes if the algorithm makes up for faults: a lost request is known
// late, and a suspected node is skipped.
const undisturbed = nodes.NoLoss | nodes.NoDuplication | nodes.FIFO | nodes.NoCrash | nodes.NoAmnesia |
	nodes.NoPause | nodes.PerfectDetector | nodes.EventualDetector | nodes.Timing | nodes.Majority |
	nodes.ServersUp

// counts is an identity of message counts, made from its text: two sums of message kinds and entries, with =,
// <= or >= between them. The values of the factors in parentheses are in factors, in the same order.
func counts(says string, factors ...func(nodes.Config) int) algorithm.Identity {
	return algorithm.Identity{Says: says, Holds: func(c nodes.Config, t algorithm.Tally) bool {
		var sums [2]uint64
		side, relation, times, factors := 0, "", uint64(1), factors
		for word := range strings.FieldsSeq(says) {
			number := t.Sent[word]
			switch {
			case word == "+":
				continue
			case strings.ContainsAny(word, "=<>"):
				side, relation = 1, word
				continue
			case strings.Contains(word, "("):
				times, factors = uint64(factors[0](c)), factors[1:]
				continue
			case word == "entries":
				number = t.Entries
			}
			sums[side], times = sums[side]+times*number, 1
		}
		switch relation {
		case "<=":
			return sums[0] <= sums[1]
		case ">=":
			return sums[0] >= sums[1]
		}
		return sums[0] == sums[1]
	}}
}
