package election

import (
	"fmt"
	"math/bits"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

// Published figures of ring electors: how many messages an election takes, without the announcement unless
// the claim includes it.

var (
	leLannClaims = []algorithm.Claim{
		ringClaim("N^2, all are candidates", "all", []string{"identity"}, func(n int) algorithm.Range {
			return algorithm.Exactly(float64(n * n))
		}),
		ringClaim("N, one is a candidate", "lowest", []string{"identity"}, func(n int) algorithm.Range {
			return algorithm.Exactly(float64(n))
		}),
	}
	hirschbergSinclairClaims = []algorithm.Claim{
		ringClaim("at most 8N + 8 ceil(N lg N)", "all", []string{"probe", "reply"}, func(n int) algorithm.Range {
			return algorithm.Between(0, float64(sinclairMost(n)))
		}),
		wholeRingClaim("by its phases on this ring, announcement included", hirschbergSinclairCosts),
	}
	franklinClaims = []algorithm.Claim{
		ringClaim("at most 2N floor(lg N) + 3N, announcement included", "all", nil, func(n int) algorithm.Range {
			return algorithm.Between(0, float64(franklinMost(n)+n))
		}),
		wholeRingClaim("by its rounds on this ring, announcement included", franklinCosts),
	}
	dolevKlaweRodehClaims = []algorithm.Claim{
		ringClaim("at most 2N floor(lg N) + N", "all", []string{"value"}, func(n int) algorithm.Range {
			return algorithm.Between(0, float64(dolevMost(n)))
		}),
		wholeRingClaim("by its rounds on this ring, announcement included", dolevKlaweRodehCosts),
	}
	ringListClaims = []algorithm.Claim{
		ringClaim("2N for N live nodes, one initiator", "lowest", nil, func(n int) algorithm.Range {
			return algorithm.Exactly(float64(2 * n))
		}),
		ringClaim("2N^2, all of N live nodes are initiators", "all", nil, func(n int) algorithm.Range {
			return algorithm.Exactly(float64(2 * n * n))
		}),
		deadLeaderClaim("2(N-1), the highest is dead, and all know it", "perfect:delay=0s",
			func(n int) int { return 2 * (n - 1) }),
		deadLeaderClaim("2(N-1)+1, the highest is dead, and a list sent to it reveals that",
			"heartbeat:period=50ms,timeout=250ms", func(n int) int { return 2*(n-1) + 1 }),
	}
	itaiRodehClaims = []algorithm.Claim{itaiClaim(2), itaiClaim(3), itaiClaim(4), itaiClaim(8)}
)

// floorLog returns the logarithm of n to base 2, rounded down.
func floorLog(n int) int { return bits.Len(uint(n)) - 1 }

// ringClaim returns a claim on the messages of some kinds (nil: of all) that an election takes on a random
// ring.
func ringClaim(says, initiators string, kinds []string, cost func(n int) algorithm.Range) algorithm.Claim {
	return algorithm.Claim{Figure: algorithm.MessagesPerElection, Source: says,
		Options:  map[string]string{"ids": "random:1"},
		Value:    func(c nodes.Config) algorithm.Range { return cost(c.N) },
		Election: &algorithm.Trial{Initiators: initiators, Kinds: kinds, Lasts: time.Second}}
}

// wholeRingClaim returns a claim on all messages on one random ring, if all nodes begin at once.
func wholeRingClaim(says string, cost func(nodes.Config) algorithm.ElectionCost) algorithm.Claim {
	return algorithm.Claim{Figure: algorithm.MessagesPerElection, Source: says,
		Options:  map[string]string{"ids": "random:1"},
		Value:    func(c nodes.Config) algorithm.Range { return algorithm.Exactly(float64(cost(c).AtOnce)) },
		Election: &algorithm.Trial{Initiators: "all", Lasts: time.Second}}
}

// deadLeaderClaim returns a claim on all messages if the highest node is dead and the lowest campaigns.
func deadLeaderClaim(says, detector string, cost func(n int) int) algorithm.Claim {
	return algorithm.Claim{Figure: algorithm.MessagesPerElection, Source: says,
		Value: func(c nodes.Config) algorithm.Range { return algorithm.Exactly(float64(cost(c.N))) },
		Election: &algorithm.Trial{Initiators: "lowest", Detector: detector, Lasts: time.Second,
			Down: func(c nodes.Config) []nodes.ID { return []nodes.ID{nodes.ID(c.N - 1)} }}}
}

// itaiClaim returns a claim on the mean number of rounds if nodes draw from k identities. The PRISM model
// checker's case study has N=3 to 6 and K=2 to 8; these are its figures, by the same formula.
func itaiClaim(k int) algorithm.Claim {
	return algorithm.Claim{Figure: algorithm.RoundsPerElection, Within: algorithm.Mean, Sizes: []int{3, 4, 5, 6},
		Source:  fmt.Sprintf("K^N over the number of draws with a unique identity, K=%d", k),
		Options: map[string]string{drawsOption.Name: fmt.Sprint(k)},
		Value:   func(c nodes.Config) algorithm.Range { return algorithm.Exactly(1 / uniqueShare(c.N, k)) },
		Election: &algorithm.Trial{Runs: 1000, Lasts: time.Second,
			Per: func(c nodes.Config) float64 { return float64(c.N * (c.N - 1)) }}}
}

// uniqueShare returns the probability that some value occurs once in n draws from 1 to k.
func uniqueShare(n, k int) float64 {
	draws, unique, all := make([]int, n), 0, 0
	for {
		all++
		times := make([]int, k)
		for _, d := range draws {
			times[d]++
		}
		for _, t := range times {
			if t == 1 {
				unique++
				break
			}
		}
		at := 0
		for ; at < n; at++ {
			if draws[at]++; draws[at] < k {
				break
			}
			draws[at] = 0
		}
		if at == n {
			return float64(unique) / float64(all)
		}
	}
}
