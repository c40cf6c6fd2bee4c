package election

import "turnstile/nodes"

// fourPhaseClaims are of elections after the highest has died: the next in rank asks it in vain, and each of
// three phases takes a question to each lower node and its answer. Each lower node that notices as well asks
// one above it, which answers.
var fourPhaseClaims = []nodes.Claim{
	fourPhaseClaim("6(N-2)+1, only the next in rank finds the leader dead", "", nextInRank,
		func(n float64) float64 { return 6*(n-2) + 1 }),
	fourPhaseClaim("8(N-2)+1, all find it dead at once", "all", nil,
		func(n float64) float64 { return 8*(n-2) + 1 }),
}

// nextInRank is the node below the highest.
func nextInRank(c nodes.Config) []nodes.ID { return []nodes.ID{nodes.ID(c.N - 2)} }

func fourPhaseClaim(says, initiators string, campaigns func(nodes.Config) []nodes.ID,
	cost func(n float64) float64) nodes.Claim {
	return nodes.Claim{Figure: nodes.MessagesPerElection, Source: says,
		Value: func(c nodes.Config) nodes.Range { return nodes.Exactly(cost(float64(c.N))) },
		Election: &nodes.Trial{Initiators: initiators, Campaigns: campaigns,
			Down: func(c nodes.Config) []nodes.ID { return []nodes.ID{nodes.ID(c.N - 1)} }}}
}
