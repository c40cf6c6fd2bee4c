package mutex

import (
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

var centralInsideAlgorithm = algorithm.Algorithm{
	Spec: nodes.Spec{
		Name:        "central-inside",
		New:         func(nodes.Config) nodes.Machine { return &centralInside{} },
		Messages:    centralAlgorithm.Messages,
		Coordinator: func(nodes.Config) nodes.ID { return 0 },
		Edges:       func(c nodes.Config, id nodes.ID) []nodes.ID { return neighbours(starTree, c.N, id) },
		Safe:        nodes.NoAmnesia,
		Live:        nodes.NoLoss | nodes.NoCrash,
	},
	Aliases: []string{"inside"}, Family: "centralized",
	Source:  centralAlgorithm.Source,
	Summary: "As central, but node 0 is the server and a client as well.",
	Mutex: &algorithm.Exclusion{
		Cost: func(c nodes.Config) algorithm.Cost {
			if c.N == 1 {
				return always("3, or 0 for the coordinator", algorithm.Exactly(0), algorithm.Exactly(0))
			}
			return always("3, or 0 for the coordinator", algorithm.Between(0, 3), algorithm.Between(1, 2))
		},
		Exact: func(nodes.Config, bool) algorithm.EntryCost {
			return func(entrant nodes.ID) int { return 3 * int(min(1, entrant)) } // node 0 is the coordinator
		},
		Bypass: centralAlgorithm.Mutex.Bypass,
		Identities: []algorithm.Identity{
			counts("request <= entries"),
			counts("grant = request"),
			counts("release = request"),
		},
	},
	Published: []algorithm.Claim{
		{Figure: algorithm.MessagesPerEntry, Source: "one request in N is the coordinator's own",
			Load:  "sequential",
			Value: formula(func(n float64) float64 { return 3 * (n - 1) / n }), Within: algorithm.Mean},
	},
	Faults: withoutTimeouts(
		askingOne,
		under(starves|blocks, "clients whose requests were lost wait, and the coordinator's side goes on "+
			"(P); all wait if a grant or a release was lost (B)", "split-brain", "half-cut",
			"holder-in-minority", "holder-in-majority", "majority-ring"),
		under(starves|blocks|unhit, "as under split-brain; not hit if the bridge is the coordinator", "bridge"),
		under(starves, "all have left when node 0, the coordinator, forgets, so exclusion holds; all others "+
			"wait, since it has missed or forgotten their requests",
			"amnesia"),
		under(recovers, "the coordinator, node 0, has forgotten the waiting clients; each client is "+
			"restarted after it, and asks again", "each-in-turn"),
		under(starves|blocks, "as amnesia if node 0 is hit; otherwise a grant or a release is lost (B, "+
			"all)", "restarts"),
		under(recovers|starves|blocks|breaks, "a coordinator that has forgotten grants again while "+
			"a client is inside (X); otherwise as restarts", "empty-restarts"),
		under(recovers|starves|breaks, "a coordinator that has forgotten grants again while a client is "+
			"inside (X); clients whose requests it has forgotten wait (P)", "empty-coordinator"),
	),
}

// centralInside is the central algorithm without a server: node 0 is a client and the coordinator as well.
// Its own entries take no messages, since what it sends to itself needs no network. Mutual exclusion holds
// as in central.
type centralInside struct {
	centralClient
	coordinator // used at node 0 only
}

func (c *centralInside) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	switch m.(type) {
	case centralGrant:
		c.centralClient.Receive(env, from, m)
	default:
		c.coordinator.Receive(env, from, m)
	}
}
