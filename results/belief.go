package results

import (
	"turnstile/internal/figure"
	"turnstile/judge/leadership"
)

// A BeliefRow is what beliefs.csv says of one node in one stretch of a run about leaders, in which neither
// what it believed nor the faults in force changed. docs/measures.md explains each column.
type BeliefRow struct {
	Run    string           `csv:"run,outside"`
	Trial  int              `csv:"trial"`
	Node   int              `csv:"node"`
	State  leadership.State `csv:"state"`
	Leader figure.Figure    `csv:"leader"`
	Term   figure.Figure    `csv:"term"`
	FromS  figure.Figure    `csv:"from_s"` // from the beginning of the window
	ToS    figure.Figure    `csv:"to_s"`
	TwoS   figure.Figure    `csv:"two_leaders_s"` // of this stretch, with two nodes that lead
	Side   string           `csv:"side"`          // nodes that it could exchange messages with; empty: all
	Faults string           `csv:"faults"`        // numbers of those in force, with spaces between
}

// Beliefs reads beliefs.csv. It is empty if the run has none.
func (f *Folder) Beliefs() ([]BeliefRow, error) {
	if !exists(f.File(BeliefsFile)) {
		return nil, nil
	}
	return readRows[BeliefRow](f.File(BeliefsFile))
}
