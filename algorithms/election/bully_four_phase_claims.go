package election

import (
	"time"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

// fourPhaseClaims are figures for elections after the highest node has died. The next in rank asks that node
// in vain, and each of three phases takes a question to each lower node and an answer. Each lower node that
// also notices asks one node above it, which answers.
var fourPhaseClaims = []algorithm.Claim{
	fourPhaseClaim("6(N-2)+1, only the next in rank finds the leader dead", "", nextInRank,
		func(n float64) float64 { return 6*(n-2) + 1 }),
	fourPhaseClaim("8(N-2)+1, all find it dead at once", "all", nil,
		func(n float64) float64 { return 8*(n-2) + 1 }),
}

// nextInRank is the node below the highest.
func nextInRank(c nodes.Config) []nodes.ID { return []nodes.ID{nodes.ID(c.N - 2)} }

func fourPhaseClaim(says, initiators string, campaigns func(nodes.Config) []nodes.ID,
	cost func(n float64) float64) algorithm.Claim {
	return algorithm.Claim{Figure: algorithm.MessagesPerElection, Source: says,
		Value: func(c nodes.Config) algorithm.Range { return algorithm.Exactly(cost(float64(c.N))) },
		Election: &algorithm.Trial{Initiators: initiators, Campaigns: campaigns,
			Down: func(c nodes.Config) []nodes.ID { return []nodes.ID{nodes.ID(c.N - 1)} }}}
}

var fourPhaseTimers = []nodes.TimerName{{Kind: fourDeadline.Kind, Name: "deadline"},
	{Kind: fourNext.Kind, Name: "next"}}

// fourPhaseFaults are the outcomes of bully-four-phase under faults.
var fourPhaseFaults = splitting("two groups by design, until the coordinator's poll finds the other, and "+
	"groups have no numbers",
	under(recovers|breaks|unhit, "two groups by design (X), unless the coordinator is the bridge and "+
		"finds no change (L), or nothing is sent across (-)", "parted-bridge"),
	under(recovers|breaks, "the paused leader is replaced, and leads beside its successor after it resumes "+
		"(X); a real run tolerates up to a second of that (L)", "stopped-leader"),
	under(unhit, "node 0 sends nothing to nodes 1 and 2, since it does not coordinate", "unheard-node",
		"one-link"),
	under(recovers|breaks, "cuts of 300 ms end before the coordinator is missed (L); but if an election "+
		"asks it in vain during one, another leads beside it for a moment (X)",
		"flapping-links"),
	under(recovers, "the broker is back before the coordinator is missed", "broker-restart"))

// fourPatience bounds the silence of a live coordinator: from one poll, or one phase of an election, to the
// next.
func fourPatience(c nodes.Config) time.Duration {
	return c.Duration(pollOption) + fourPhaseTime(c) + c.Duration(answerOption)
}
