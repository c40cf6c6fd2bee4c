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

// A kind is what commands print of their own about rows of a kind.
type kind struct {
	describe func(io.Writer, *spec, nodes.Config) // one row, in list
	tallied  func(*study.Tally) uint64            // what chaos counts
	explored exploreWords
	story    storyKind
	matrix   matrixTable
}

// exploreWords are what is said of an exploration .
type exploreWords struct {
	one, many string // what nodes are told to do
	entries   string // which transitions are counted
	more      string // what else could be looked for
	can, ask  string // what is the case if there is progress, and asks whether it is
	waits     bool   // clients may wait for each other, and do if that is contended
}

// A storyKind is what a story has of its kind: the first steps where the last node is such a one, what they
// do, and the words for what goes wrong.
type storyKind struct {
	first                   func(last nodes.ID) (steps []replay.Step, says string)
	starves, blocks, breaks string
}

// A matrixTable is how the cells of the fault matrix are printed.
type matrixTable struct {
	plans  func() []*chaos.Plan
	head   []any
	line   func(r *results.MatrixRow) []any
	legend string
}

// kinds has them by the kind of the rows. A kind that is not listed is printed as mutual exclusion is.
func kinds() map[nodes.Kind]kind {
	return map[nodes.Kind]kind{
		nodes.MutualExclusion: {
			describe: writeSpec,
			tallied:  func(t *study.Tally) uint64 { return t.Entries },
			explored: exploreWords{"entry", "entries", "of them entries",
				" (--check fairness looks for who is passed over)", "whoever waits can still enter",
				"can whoever waits enter?", true},
			story: storyKind{func(last nodes.ID) ([]replay.Step, string) {
				return []replay.Step{{What: replay.StepRequest, Node: 0}, {What: replay.StepRequest, Node: last}},
					fmt.Sprintf("nodes 0 and %d request", last)
			}, "some wait for ever", "all wait for ever", "two are inside"},
			matrix: matrixTable{chaos.Scenarios, []any{"recovered", "next entry", "longest wait", "messages before",
				"during", "after", ""}, mutualLine,
				"L recovers, P starves some, B blocks all, X breaks exclusion, - is not hit, ? shows nothing, " +
					"! is wrong"},
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
				electionLine, "L all agree on a leader, P some never do, B nobody leads, X two lead, - is not hit, " +
					"? shows nothing, ! is wrong"},
		},
	}
}

// kindOf returns what is printed about rows of the kind of a row.
func kindOf(row *spec) kind { return nodes.OfKind(kinds(), check.ProblemOf(row).Kind) }
