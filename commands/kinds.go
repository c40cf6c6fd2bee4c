package commands

import (
	"fmt"
	"io"

	"turnstile/bench/study"
	"turnstile/chaos"
	"turnstile/judge/check"
	"turnstile/nodes"
	"turnstile/nodes/replay"
	"turnstile/results"
)

// A kind has the functions and words by which commands print algorithms of one kind: mutual exclusion or
// election.
type kind struct {
	describe func(io.Writer, *spec, nodes.Config) // describes one algorithm, for list
	tallied  func(*study.Tally) uint64            // returns how many entries, or elected leaders, chaos counts
	explored exploreWords
	story    storyKind
	matrix   matrixTable
}

// exploreWords are the words for an exploration.
type exploreWords struct {
	one, many string // what nodes are told to do: one entry or campaign, or many
	entries   string // says which transitions are counted
	more      string // names a further check of the exploration
	can, ask  string // says that progress is possible, and asks whether it is
	waits     bool   // set if clients may wait for each other
}

// A storyKind has words for stories of one kind of algorithms. The function first takes the last node, and
// returns the first steps of a story with a description. The other fields are the words for failures.
type storyKind struct {
	first                   func(last nodes.ID) (steps []replay.Step, says string)
	starves, blocks, breaks string
}

// A matrixTable says how the cells of the fault matrix are printed.
type matrixTable struct {
	plans  func() []*chaos.Plan
	head   []any
	line   func(r *results.MatrixRow) []any
	legend string // meaning of the letters in cells, and in the reasons of pitfalls
}

// kinds returns how commands print each kind of algorithms. A kind that is not listed is printed like mutual
// exclusion.
func kinds() map[nodes.Kind]kind {
	return map[nodes.Kind]kind{
		nodes.MutualExclusion: {
			describe: writeSpec,
			tallied:  func(t *study.Tally) uint64 { return t.Entries },
			explored: exploreWords{"entry", "entries", "of them entries",
				" (--check fairness looks for requests that are passed over)", "every waiting client can still enter",
				"can every waiting client enter?", true},
			story: storyKind{func(last nodes.ID) ([]replay.Step, string) {
				return []replay.Step{{What: replay.StepRequest, Node: 0}, {What: replay.StepRequest, Node: last}},
					fmt.Sprintf("nodes 0 and %d request", last)
			}, "some wait for ever", "all wait for ever", "two are inside"},
			matrix: matrixTable{chaos.Scenarios, []any{"recovered", "next entry", "longest wait", "messages before",
				"during", "after", ""}, mutualLine,
				"L recovers, P starves some, B blocks all, X breaks exclusion, - not hit"},
		},
		nodes.Election: {
			describe: writeElector,
			tallied:  func(t *study.Tally) uint64 { return t.Elected },
			explored: exploreWords{"campaign", "campaigns", "by which a node comes to lead", "",
				"all that are to agree still can", "can all agree?", false},
			story: storyKind{func(nodes.ID) ([]replay.Step, string) {
				return []replay.Step{{What: replay.StepCampaign, Node: 0}}, "node 0 campaigns"
			}, "some never agree", "nobody leads", "two lead"},
			matrix: matrixTable{chaos.Elections, []any{"recovered", "agreed", "no leader", "two leaders", ""},
				electionLine, "L all agree on a leader, P some never do, B nobody leads, X two lead, - not hit"},
		},
	}
}

// kindOf returns how commands print algorithms of algo's kind.
func kindOf(algo *spec) kind { return nodes.OfKind(kinds(), check.ProblemOf(algo).Kind) }
