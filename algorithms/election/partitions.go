package election

import (
	"turnstile/nodes"
	"turnstile/nodes/row"
)

// severalBullies is what becomes of the leaders of bully where some links are cut.
var severalBullies = row.Partition{Cuts: row.SomeLinks, Does: row.SeveralLead,
	Why: "a node takes for dead whom it does not hear, whatever others hear of it"}

// fourPhasePartitions say what becomes of the coordinators of bully-four-phase.
var fourPhasePartitions = []row.Partition{{Does: row.PerSide,
	Why: "two groups, each with a coordinator, until its poll finds the other"}, severalBullies}

// raftPartitions say what becomes of a leader that is cut off, from all or from some: see Ongaro 2014, 9.6,
// and H. Howard and I. Abraham, Raft does not guarantee liveness in the face of network faults, 2020.
var raftPartitions = []row.Partition{{Does: row.MajorityLeads,
	Why: "a term takes a majority's votes, and a leader that hears from fewer steps down"},
	{Cuts: row.SomeLinks, Does: row.OneStays, In: raftIsSteady,
		Why: "who hears a leader votes for no other, and one that hears from no majority steps down"},
	{Cuts: row.SomeLinks, Does: row.Restless, In: func(c nodes.Config) bool { return !raftIsSteady(c) },
		Why: "who does not hear the leader begins a term, and those who hear it follow", Mend: "pre-vote on"}}

// raftIsSteady reports whether nobody deposes a leader that a majority hears, and whom no majority answers
// steps down.
func raftIsSteady(c nodes.Config) bool {
	return c.Value(preVoteOption) == "on" && c.Value(checkQuorumOption) == "on"
}
