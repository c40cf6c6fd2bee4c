package election

import (
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

// severalBullies is the outcome for bully where some links are cut.
var severalBullies = algorithm.Partition{Cuts: algorithm.SomeLinks, Does: algorithm.SeveralLead,
	Why: "a node takes another for dead that it does not hear, even if others hear it"}

// fourPhasePartitions are the outcomes for the coordinators of bully-four-phase.
var fourPhasePartitions = []algorithm.Partition{{Does: algorithm.PerSide,
	Why: "two groups, each with a coordinator, until its poll finds the other"}, severalBullies}

// raftPartitions are the outcomes for a leader that is cut off, from all or from some: see Ongaro 2014, 9.6,
// and H. Howard and I. Abraham, Raft does not guarantee liveness in the face of network faults, 2020.
var raftPartitions = []algorithm.Partition{{Does: algorithm.MajorityLeads,
	Why: "a term takes a majority's votes, and a leader that hears from fewer steps down"},
	{Cuts: algorithm.SomeLinks, Does: algorithm.OneStays, In: raftIsSteady,
		Why: "a node that hears a leader votes for no other; a leader without a majority steps down"},
	{Cuts: algorithm.SomeLinks, Does: algorithm.Restless,
		In:  func(c nodes.Config) bool { return !raftIsSteady(c) },
		Why: "a node that does not hear the leader begins a term, and the others follow", Mend: "pre-vote on"}}

// raftIsSteady reports whether a leader is never deposed while a majority hears it, and steps down when no
// majority answers it.
func raftIsSteady(c nodes.Config) bool {
	return c.Value(preVoteOption) == "on" && c.Value(checkQuorumOption) == "on"
}
