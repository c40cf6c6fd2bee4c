package election

import (
	"fmt"
	"math"
	"slices"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

// raftClaims are published figures of Raft's elections: their messages, and chapter 9 of Ongaro's thesis.
//
// The model of the thesis: s of n servers are up, timeouts are uniform over T to 2T, a message takes L, a
// heartbeat comes every T/2, and the leader crashes at a random moment. The first server times out after T +
// T/(s+1) on average. It asks all, and has enough votes 2L later unless too many others have timed out
// within L: then the vote is split, with probability p, and all begin anew. So an election takes (T +
// T/(s+1) + L)/(1-p) + L - T/4 on average, until a server has the votes that it needs.
//
// The runs differ from this model in two things. The last heartbeat travels for L before the timeouts begin,
// which is added here. And after a split vote not all begin anew at one time: voters do so L after the first
// server timed out, candidates before that. So the next term ends up to L sooner, and its vote is split less
// often, since the timeouts are more spread out. Where split votes are rare, that difference is less than the
// error of the runs. Elsewhere the formula stands beside the runs, without a verdict.
//
// The thesis also measured LogCabin on a LAN. Those figures depend on disk writes and on differing logs,
// which are missing here.
var raftClaims = slices.Concat([]algorithm.Claim{raftMessagesClaim},
	raftSplitVotes(10), raftSplitVotes(5), raftTimes(100), raftTimes(10), raftTimes(5),
	[]algorithm.Claim{raftWide(0, 429.9), raftWide(1, 468.6), raftWide(2, 631.6),
		raftWideLate(1, 1500*time.Millisecond), raftWideLate(2, 3*time.Second)},
	[]algorithm.Claim{
		quietClaim("N-1 heartbeats of the leader", []string{"heartbeat"}, func(n float64) float64 { return n - 1 }),
		quietClaim("2(N-1), answers included", []string{"heartbeat", "answer"},
			func(n float64) float64 { return 2 * (n - 1) })})

var raftMessagesClaim = algorithm.Claim{Figure: algorithm.MessagesPerElection,
	Source: "thesis: N-1 requests, N-2 votes and N-1 first heartbeats = 3N-4, one node being down",
	Election: &algorithm.Trial{Initiators: "lowest",
		Down: func(c nodes.Config) []nodes.ID { return []nodes.ID{nodes.ID(c.N - 1)} }},
	Value: func(c nodes.Config) algorithm.Range { return algorithm.Exactly(float64(3*c.N - 4)) }}

// raftClusters are the clusters of the thesis, by how many of their n servers are up: all but one, and as
// few as can elect.
var raftClusters = []struct {
	says  string
	up    func(n int) int
	sizes []int
}{
	{"s=N-1", func(n int) int { return n - 1 }, []int{3, 5, 9}},
	{"s=N/2+1", func(n int) int { return n/2 + 1 }, []int{5, 9}},
}

// raftSplitVotes returns claims on how often the first term ends in a split vote, where T is t times L.
func raftSplitVotes(t float64) (all []algorithm.Claim) {
	for _, cluster := range raftClusters {
		all = append(all, algorithm.Claim{Figure: algorithm.SplitVotes, Within: algorithm.Mean,
			Sizes:  cluster.sizes,
			Source: fmt.Sprintf("thesis 9.2: L=%vT, %s", 1/t, cluster.says), Options: raftTimeouts(t),
			Value: func(c nodes.Config) algorithm.Range {
				return algorithm.Exactly(splitVote(c.N, cluster.up(c.N), 1/t))
			},
			Election: &algorithm.Trial{Initiators: "none", Runs: 500, Lasts: hops(3 * t), Down: allBut(cluster.up)}})
	}
	return all
}

// raftTimes returns claims on how long an election takes after a crash of the leader. The election timeout is
// t times the latency of a message.
func raftTimes(t float64) (all []algorithm.Claim) {
	for _, cluster := range raftClusters {
		for _, n := range cluster.sizes {
			s := cluster.up(n)
			p, within := splitVote(n, s, 1/t), algorithm.Mean
			if p > 0.06 {
				within = algorithm.Beside
			}
			begins := hops(20 + 500/t) // the server that is to crash has been elected
			all = append(all, algorithm.Claim{Figure: algorithm.ElectionTime, Within: within, Sizes: []int{n},
				Source: fmt.Sprintf("thesis 9.3, and a heartbeat's way: L=%vT, %s", 1/t, cluster.says),
				Value: func(nodes.Config) algorithm.Range {
					return algorithm.Exactly((t+t/float64(s+1)+1)/(1-p) + 1 - t/4 + 1)
				},
				Options: raftTimeouts(t),
				Election: &algorithm.Trial{Initiators: "lowest", Runs: 500, Lasts: begins + hops(8*t),
					Crash: [2]time.Duration{begins, begins + hops(t)}, // two periods of heartbeats
					Down:  allBut(func(n int) int { return cluster.up(n) + 1 })}})
		}
	}
	return all
}

// raftTimeouts returns options: timeouts uniform from t to 2t hops, and a heartbeat every t/2.
func raftTimeouts(t float64) map[string]string {
	return map[string]string{electionTimeoutOption.Name: fmt.Sprintf("%v-%v", hops(t), hops(2*t)),
		heartbeatOption.Name: hops(t / 2).String()}
}

func hops(n float64) time.Duration { return time.Duration(n * float64(algorithm.Hop)) }

// allBut returns all nodes but the up(N) lowest.
func allBut(up func(n int) int) func(nodes.Config) []nodes.ID {
	return func(c nodes.Config) (down []nodes.ID) {
		for id := up(c.N); id < c.N; id++ {
			down = append(down, nodes.ID(id))
		}
		return down
	}
}

// splitVote returns the probability of a split vote if s of n servers are up and a message takes a share l
// of the range of timeouts. Servers that time out within l of the first stand too, and all others vote for
// the first. The first lacks a majority if at least s - n/2 others stand. That has the probability that at
// least so many of s uniform draws are below l.
func splitVote(n, s int, l float64) (p float64) {
	for j := s - n/2; j <= s; j++ {
		p += choose(s, j) * math.Pow(l, float64(j)) * math.Pow(1-l, float64(s-j))
	}
	return p
}

// choose returns the number of ways to choose k of n.
func choose(n, k int) float64 {
	ways := 1.0
	for i := range k {
		ways = ways * float64(n-i) / float64(i+1)
	}
	return ways
}

// raftWide is the mean time of an election across a continent while so many of five servers are down. It is
// from 10,000 runs of the simulator of the thesis, in which all begin to wait at one time. The text rounds
// it; this value is from the figure, a vector drawing. The two simulators need not be the same.
func raftWide(down int, mean float64) algorithm.Claim {
	c := raftWideClaim(algorithm.ElectionTime, down, algorithm.Exactly(mean), "figure 9.9: 30-40 ms a message")
	c.Within = algorithm.Beside
	return c
}

// raftWideLate is the share of those elections that take longer than late.
func raftWideLate(down int, late time.Duration) algorithm.Claim {
	c := raftWideClaim(algorithm.LateElections, down, algorithm.Between(0, 0.001),
		fmt.Sprintf("9.4: 30-40 ms a message, 99.9%% within %v", late))
	c.Election.Late, c.Election.Runs = late, 1000
	return c
}

func raftWideClaim(figure algorithm.Figure, down int, published algorithm.Range,
	says string) algorithm.Claim {
	return algorithm.Claim{Figure: figure, Within: algorithm.Mean, Sizes: []int{5},
		Source:  fmt.Sprintf("thesis, %s, %d down", says, down),
		Value:   func(nodes.Config) algorithm.Range { return published },
		Options: raftTimeouts(300),
		Election: &algorithm.Trial{Initiators: "none", Runs: 500, Lasts: 3 * time.Second,
			Latency: "uniform:30ms,40ms",
			Down:    allBut(func(n int) int { return n - down })}}
}

// quietClaim returns a claim on the messages of some kinds from one heartbeat to the next once all agree on
// a leader.
func quietClaim(says string, kinds []string, cost func(n float64) float64) algorithm.Claim {
	const from, periods, heartbeat = time.Second, 20, 50 * time.Millisecond
	return algorithm.Claim{Figure: algorithm.MessagesPerPeriod, Source: says,
		Value: func(c nodes.Config) algorithm.Range { return algorithm.Exactly(cost(float64(c.N))) },
		Election: &algorithm.Trial{Kinds: kinds, From: from, Lasts: from + periods*heartbeat,
			Per: func(nodes.Config) float64 { return periods }}}
}
