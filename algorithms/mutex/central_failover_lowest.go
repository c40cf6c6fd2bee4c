package mutex

import (
	"slices"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

// central-failover-lowest is a first attempt that does not think of clients inside: the new coordinator
// serves at once, and takes reports as they come. It is known to be broken, and here to show what the census
// of central-failover is for.
//
// It is not safe: the coordinator may crash while a client is inside, and the next one does not know it. Nor
// do clients that suspect different nodes agree on one coordinator.
var centralFailoverLowestAlgorithm = algorithm.Algorithm{
	Spec: nodes.Spec{
		Name: "central-failover-lowest",
		New: func(c nodes.Config) nodes.Machine {
			return &failover{census: newCensus[failoverReport](c), lowest: true}
		},
		Coordinator: centralFailoverAlgorithm.Coordinator,
		Edges:       centralFailoverAlgorithm.Edges,
		Timers:      centralFailoverAlgorithm.Timers,
		Messages:    centralFailoverAlgorithm.Messages,
		Options:     []nodes.Option{retryOfQueue},
		Detects:     centralFailoverAlgorithm.Detects,
		Safe:        nodes.PerfectDetector,
		Live:        nodes.Majority | nodes.NoAmnesia,
		Grace:       centralFailoverAlgorithm.Grace,
	},
	Aliases: []string{"lowest"}, Family: "centralized",
	Source: "no source: the lowest node takes over without asking whether a client is inside",
	Summary: "As central-failover, but the lowest client that is not suspected grants at once, without " +
		"a census.",
	Mutex: &algorithm.Exclusion{
		Bypass:     centralFailoverAlgorithm.Mutex.Bypass,
		Fair:       centralFailoverAlgorithm.Mutex.Fair,
		Cost:       centralFailoverAlgorithm.Mutex.Cost,
		Exact:      centralFailoverAlgorithm.Mutex.Exact,
		Identities: centralFailoverAlgorithm.Mutex.Identities,
	},
	Flaw: &algorithm.Flaw{
		Check: "exclusion",
		At:    nodes.Config{N: 3},
		By:    nodes.NoCrash,
	},
	Faults: beside(slices.Concat(
		under(recovers|breaks, "the client that takes over from a suspected coordinator does not know which "+
			"client is inside (X)",
			"dead-coordinator", "each-in-turn", "dead-holder", "dead-idle", "dead-waiter", "restarts",
			"amnesia", "empty-coordinator"),
		under(recovers|blocks|breaks, "as under the plan restarts (L, X); or all wait, as under "+
			"central-failover (B)", "empty-restarts"),
		under(recovers|breaks, "each side of a cut has a coordinator that asks nobody, and a wrong suspicion "+
			"makes one as well (X)", "split-brain", "half-cut", "holder-in-minority", "holder-in-majority",
			"one-way", "bridge", "majority-ring", "lossy-links", "flaky-links", "broker-restart", "split-brokers",
			"reset-connections", "stopped-holder", "stopped-idle", "slow-node", "slow-links", "slow-network",
			"stalled-connection", "skewed-clocks"),
	), slices.Clone(centralFailoverAlgorithm.Faults)),
}
