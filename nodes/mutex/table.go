// Package mutex holds the algorithms of mutual exclusion: a file for each, and the table of them all.
//
// To add one, write its file and give it a row here. The row states what is published about it: the
// paper, what its safety and its progress rest on, and what it costs. The tests hold it to that.
//
// No row uses timeouts. Hence a lost message, a crash, a partition or a pause may stop one of
// them, but cannot cost its safety; copies, reordering and forgetting can, where Safe says so.
package mutex

import "turnstile/nodes"

// Table has a row for each algorithm.
var Table = []nodes.Spec{
	{
		Info: nodes.Info{
			Name:    "central",
			Aliases: []string{"coordinator", "server"},
			Family:  "centralized",
			Source:  "folklore; Coulouris et al., Distributed Systems: Concepts and Design, 15.2",
		},
		New:       func(c nodes.Config) nodes.Machine { return &centralClient{server: nodes.ID(c.N)} },
		Servers:   func(nodes.Config) int { return 1 },
		NewServer: func(nodes.Config, nodes.ID) nodes.Machine { return &coordinator{} },
		Messages:  []nodes.Kind{{Zero: centralRequest{}}, {Zero: centralGrant{}}, {Zero: centralRelease{}}},
		Safe:      nodes.NoAmnesia,
		Live:      nodes.NoLoss | nodes.NoCrash,
		Cost: func(nodes.Config) nodes.Cost {
			return always("3", nodes.Exactly(3), nodes.Exactly(2))
		},
		Identities: []nodes.Identity{
			perEntry("request", "entries", func(nodes.Config) int { return 1 }),
			same("grant", "request"),
			same("release", "request"),
		},
	},
	{
		Info: nodes.Info{
			Name:    "central-inside",
			Aliases: []string{"inside"},
			Family:  "centralized",
			Source:  "folklore; Coulouris et al., Distributed Systems: Concepts and Design, 15.2",
		},
		New:      func(nodes.Config) nodes.Machine { return &centralInside{} },
		Messages: []nodes.Kind{{Zero: centralRequest{}}, {Zero: centralGrant{}}, {Zero: centralRelease{}}},
		Safe:     nodes.NoAmnesia,
		Live:     nodes.NoLoss | nodes.NoCrash,
		Cost: func(c nodes.Config) nodes.Cost {
			if c.N == 1 {
				return always("3, node 0: 0", nodes.Exactly(0), nodes.Exactly(0))
			}
			return always("3, node 0: 0", nodes.Between(0, 3), nodes.Between(1, 2))
		},
		Identities: []nodes.Identity{
			atMost("request", "entries", func(_ nodes.Config, t nodes.Tally) uint64 { return t.Entries }),
			same("grant", "request"),
			same("release", "request"),
		},
	},
	{
		Info: nodes.Info{
			Name:    "token-ring",
			Aliases: []string{"ring", "le-lann"},
			Family:  "token",
			Source:  "Le Lann, Distributed systems: towards a formal approach, IFIP Congress 1977",
		},
		New:      func(nodes.Config) nodes.Machine { return &tokenRing{} },
		Messages: []nodes.Kind{{Zero: ringToken{}, Token: true}},
		Live:     nodes.NoLoss | nodes.NoCrash,
		Cost: func(c nodes.Config) nodes.Cost {
			const formula = "1 saturated, N for one node, unbounded idle"
			if c.N == 1 {
				return always(formula, nodes.Exactly(0), nodes.Exactly(0))
			}
			return nodes.Cost{
				Formula:    formula,
				Sequential: nodes.Unbounded(1),
				One:        nodes.Exactly(float64(c.N)),
				Saturated:  nodes.Exactly(1),
				Any:        nodes.Unbounded(1),
				Delay:      nodes.Between(1, float64(c.N-1)),
			}
		},
		Circulates: true,
	},
	{
		Info: nodes.Info{
			Name:    "lamport",
			Aliases: []string{"lamport-1978", "la"},
			Family:  "permission",
			Source:  "Lamport, Time, clocks, and the ordering of events in a distributed system, CACM 21(7), 1978",
		},
		New:      func(c nodes.Config) nodes.Machine { return &lamport{seen: make([]uint64, c.N)} },
		Messages: []nodes.Kind{{Zero: lamportRequest{}}, {Zero: lamportAck{}}, {Zero: lamportRelease{}}},
		Safe:     nodes.FIFO | nodes.NoAmnesia,
		Live:     nodes.NoLoss | nodes.NoCrash,
		Cost: func(c nodes.Config) nodes.Cost {
			return always("3(N-1)", nodes.Exactly(float64(3*(c.N-1))), nodes.Exactly(1))
		},
		Identities: []nodes.Identity{
			perEntry("request", "(N-1) entries", peers),
			same("ack", "request"),
			same("release", "request"),
		},
	},
	{
		Info: nodes.Info{
			Name:    "ricart-agrawala",
			Aliases: []string{"ricart", "ra"},
			Family:  "permission",
			Source: "Ricart and Agrawala, An optimal algorithm for mutual exclusion in computer networks, " +
				"CACM 24(1), 1981",
		},
		New:      func(c nodes.Config) nodes.Machine { return &ricartAgrawala{deferred: make([]ricartReply, c.N)} },
		Messages: []nodes.Kind{{Zero: ricartRequest{}}, {Zero: ricartReply{}}},
		Safe:     nodes.NoAmnesia,
		Live:     nodes.NoLoss | nodes.NoCrash,
		Cost: func(c nodes.Config) nodes.Cost {
			return always("2(N-1)", nodes.Exactly(float64(2*(c.N-1))), nodes.Exactly(1))
		},
		Identities: []nodes.Identity{
			perEntry("request", "(N-1) entries", peers),
			same("reply", "request"),
		},
	},
	{
		Info: nodes.Info{
			Name:    "suzuki-kasami",
			Aliases: []string{"suzuki", "sk"},
			Family:  "token",
			Source:  "Suzuki and Kasami, A distributed mutual exclusion algorithm, ACM TOCS 3(4), 1985",
		},
		New:      func(c nodes.Config) nodes.Machine { return &suzukiKasami{rn: make([]uint64, c.N)} },
		Messages: []nodes.Kind{{Zero: suzukiRequest{}}, {Zero: suzukiToken{}, Token: true}},
		Live:     nodes.NoLoss | nodes.NoCrash,
		Cost: func(c nodes.Config) nodes.Cost {
			cost := always("N, or 0 with the token", nodes.Between(0, float64(c.N)), nodes.Between(0, 1))
			if c.N == 1 {
				cost = always(cost.Formula, nodes.Exactly(0), nodes.Exactly(0))
			}
			cost.One = nodes.Exactly(0) // it keeps the token
			return cost
		},
		Identities: []nodes.Identity{
			{
				Says: "request = (N-1) token",
				Holds: func(c nodes.Config, t nodes.Tally) bool {
					return t.Sent["request"] == uint64(peers(c))*t.Sent["token"]
				},
			},
			atMost("token", "entries", func(_ nodes.Config, t nodes.Tally) uint64 { return t.Entries }),
		},
	},
	{
		Info: nodes.Info{
			Name:    "raymond",
			Aliases: []string{"raymond-tree"},
			Family:  "token",
			Source:  "Raymond, A tree-based algorithm for distributed mutual exclusion, ACM TOCS 7(1), 1989",
		},
		New:      func(c nodes.Config) nodes.Machine { return &raymond{config: c, holder: nodes.None} },
		Messages: []nodes.Kind{{Zero: raymondRequest{}}, {Zero: raymondPrivilege{}, Token: true}},
		Options:  []string{"tree"},
		Check:    checkTree,
		Live:     nodes.NoLoss | nodes.NoCrash,
		Cost: func(c nodes.Config) nodes.Cost {
			// Twice the way to the privilege when it lies still; less when it passes by anyway.
			far := float64(diameter(c))
			cost := always("2D at most, about 4 saturated",
				nodes.Between(0, 2*far), nodes.Between(min(1, far), far))
			cost.One = nodes.Exactly(0) // it keeps the privilege
			return cost
		},
		Identities: []nodes.Identity{same("privilege", "request")},
	},
	{
		Info: nodes.Info{
			Name:    "naimi-trehel",
			Aliases: []string{"naimi", "nt"},
			Family:  "token",
			Source: "Naimi, Trehel and Arnold, A log(N) distributed mutual exclusion algorithm based on path " +
				"reversal, JPDC 34(1), 1996",
		},
		New: func(nodes.Config) nodes.Machine {
			return &naimiTrehel{father: nodes.None, next: nodes.None}
		},
		Messages: []nodes.Kind{{Zero: naimiRequest{}}, {Zero: naimiToken{}, Token: true}},
		Live:     nodes.NoLoss | nodes.NoDuplication | nodes.NoCrash,
		Cost: func(c nodes.Config) nodes.Cost {
			const formula = "1+1/2+...+1/(N-1) on average if sequential, N at most"
			if c.N == 1 {
				return always(formula, nodes.Exactly(0), nodes.Exactly(0))
			}
			cost := always(formula, nodes.Between(0, float64(c.N)), nodes.Exactly(1))
			cost.One = nodes.Exactly(0) // it keeps the token
			return cost
		},
		Identities: []nodes.Identity{
			atMost("token", "entries", func(_ nodes.Config, t nodes.Tally) uint64 { return t.Entries }),
			atMost("token", "request", func(_ nodes.Config, t nodes.Tally) uint64 { return t.Sent["request"] }),
			atMost("request", "(N-1) token", func(c nodes.Config, t nodes.Tally) uint64 {
				return uint64(peers(c)) * t.Sent["token"]
			}),
		},
	},
	{
		Info: nodes.Info{
			Name:    "maekawa",
			Aliases: []string{"sanders", "quorum"},
			Family:  "quorum",
			Source: "Maekawa, A √N algorithm for mutual exclusion in decentralized systems, ACM TOCS 3(2), 1985; " +
				"as corrected by Sanders, ACM TOCS 5(3), 1987",
		},
		New:        func(c nodes.Config) nodes.Machine { return &maekawa{config: c} },
		Messages:   maekawaMessages,
		Options:    []string{"quorums"},
		Check:      checkQuorums,
		Safe:       nodes.NoAmnesia,
		Live:       nodes.NoLoss | nodes.NoCrash,
		Cost:       maekawaCost,
		Identities: maekawaIdentities,
	},
	{
		Info: nodes.Info{
			Name:    "maekawa-textbook",
			Aliases: []string{"textbook"},
			Family:  "quorum",
			Source: "Maekawa's algorithm as it is widely taught (Kshemkalyani and Singhal, Distributed Computing, " +
				"chapter 9)",
		},
		New:        newMaekawaTextbook,
		Messages:   maekawaMessages,
		Options:    []string{"quorums"},
		Check:      checkQuorums,
		Safe:       nodes.NoAmnesia,
		Live:       nodes.NoLoss | nodes.NoCrash,
		Cost:       maekawaCost,
		Identities: maekawaIdentities,
		Broken:     "progress",
	},
	{
		Info: nodes.Info{
			Name:    "naive-broadcast",
			Aliases: []string{"naive"},
			Family:  "permission",
			Source:  "none: what one writes before reading the papers",
		},
		New:      func(nodes.Config) nodes.Machine { return &naiveBroadcast{} },
		Messages: []nodes.Kind{{Zero: naiveRequest{}}, {Zero: naiveReply{}}},
		Live:     nodes.NoLoss | nodes.NoCrash,
		Cost: func(c nodes.Config) nodes.Cost {
			return always("2(N-1)", nodes.Exactly(float64(2*(c.N-1))), nodes.Exactly(1))
		},
		Identities: []nodes.Identity{
			perEntry("request", "(N-1) entries", peers),
			same("reply", "request"),
		},
		Broken: "exclusion",
	},
}

// Find returns the row of the algorithm that goes by name or has it as an alias.
func Find(name string) (*nodes.Spec, error) { return nodes.Find(Table, name) }

// always is the cost of an algorithm to which the load makes no difference.
func always(formula string, messages, delay nodes.Range) nodes.Cost {
	return nodes.Cost{
		Formula:    formula,
		Sequential: messages,
		One:        messages,
		Saturated:  messages,
		Any:        messages,
		Delay:      delay,
	}
}

// peers is how many nodes a broadcast reaches; arbiters, how many other nodes are in a quorum.
func peers(c nodes.Config) int    { return c.N - 1 }
func arbiters(c nodes.Config) int { return QuorumSize(c) - 1 }

// What the two forms of Maekawa's algorithm have in common.
var maekawaMessages = []nodes.Kind{{Zero: maekawaRequest{}}, {Zero: maekawaLocked{}}, {Zero: maekawaFailed{}},
	{Zero: maekawaInquire{}}, {Zero: maekawaRelinquish{}}, {Zero: maekawaRelease{}}}

func maekawaCost(c nodes.Config) nodes.Cost {
	others := float64(arbiters(c))
	// From RELEASE to LOCKED; one hop if no third node arbitrates between the two.
	cost := always("3(K-1) to 6(K-1)", nodes.Between(3*others, 6*others), nodes.Between(1, 2))
	cost.Sequential = nodes.Exactly(3 * others)
	cost.One = cost.Sequential
	return cost
}

// Votes of oneself are not counted, on either side of an equation: what they cause stays at the node too.
// For a node's own request comes after all that it has seen, so as its own arbiter it answers itself, with
// LOCKED or FAILED, and never sends INQUIRE on its account.
var maekawaIdentities = []nodes.Identity{
	perEntry("request", "(K-1) entries", arbiters),
	same("release", "request"),
	{
		Says: "locked = request + relinquish",
		Holds: func(_ nodes.Config, t nodes.Tally) bool {
			return t.Sent["locked"] == t.Sent["request"]+t.Sent["relinquish"]
		},
	},
	atMost("relinquish", "inquire", func(_ nodes.Config, t nodes.Tally) uint64 {
		return t.Sent["inquire"]
	}),
	{
		Says: "inquire + failed <= request",
		Holds: func(_ nodes.Config, t nodes.Tally) bool {
			return t.Sent["inquire"]+t.Sent["failed"] <= t.Sent["request"]
		},
	},
}

// perEntry is the identity of a kind that is sent so many times an entry.
func perEntry(kind, says string, times func(c nodes.Config) int) nodes.Identity {
	return nodes.Identity{
		Says:  kind + " = " + says,
		Holds: func(c nodes.Config, t nodes.Tally) bool { return t.Sent[kind] == uint64(times(c))*t.Entries },
	}
}

// same is the identity of two kinds that are sent equally often.
func same(kind, other string) nodes.Identity {
	return nodes.Identity{
		Says:  kind + " = " + other,
		Holds: func(_ nodes.Config, t nodes.Tally) bool { return t.Sent[kind] == t.Sent[other] },
	}
}

// atMost is the identity of a kind that is sent no more often than bound.
func atMost(kind, says string, bound func(c nodes.Config, t nodes.Tally) uint64) nodes.Identity {
	return nodes.Identity{
		Says:  kind + " <= " + says,
		Holds: func(c nodes.Config, t nodes.Tally) bool { return t.Sent[kind] <= bound(c, t) },
	}
}
