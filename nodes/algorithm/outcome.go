package algorithm

import (
	"slices"
	"strings"

	"turnstile/nodes"
)

// An Outcome is how a run under faults may end: one or several of the constants below.
type Outcome uint8

// The outcomes. For an algorithm that hands out fence numbers, exclusion means effective exclusion, at the
// resource. For an elector, exclusion means that no two nodes lead in one term or, without terms, that no two
// nodes lead for longer than Leadership.Overlap.
const (
	// Recovers: exclusion holds, and after the last heal every client that is up and waits enters. For an
	// elector: at the end all nodes that are up follow one node among them.
	Recovers Outcome = 1 << iota
	// Starves: exclusion holds; some clients that are up wait for ever, while others go on. For an elector: one
	// node leads at the end, but some nodes that are up never follow it.
	Starves
	// Blocks: exclusion holds; all clients that are up wait for ever. For an elector: no node that is up leads
	// at the end, and none would lead later.
	Blocks
	// Breaks: two clients are inside together. For an elector: two nodes lead where only one may, or two nodes
	// lead at the end and would do so for ever.
	Breaks
	Unhit // the fault hits nothing: the algorithm has no such links, or there is never a leader to hit
)

// outcomeLetters are the letters of the outcomes.
const outcomeLetters = "LPBX-"

// String writes the outcomes by their letters, as in L|B: L recovers, P starves some clients, B blocks all, X
// breaks exclusion, - the fault hits nothing, ? no outcome, such as the outcome of an inconclusive run.
func (o Outcome) String() string {
	var letters []string
	for i, letter := range outcomeLetters {
		if o&(1<<i) != 0 {
			letters = append(letters, string(letter))
		}
	}
	if len(letters) == 0 {
		return "?"
	}
	return strings.Join(letters, "|")
}

// A FaultCell has the expected outcomes of an algorithm under a fault, in the runs of the fault matrix. In
// these runs five nodes think and request or, for electors, all nodes campaign when the run begins.
type FaultCell struct {
	Fault string  // a plan that chaos.ScenariosOf lists
	May   Outcome // all outcomes that a run may show; X among others: exclusion can break, but need not
	// Why is the reason: the clients that starve or block, and the paper, if any.
	Why string
}

// FaultCell returns the cell of a fault, and whether the algorithm has one.
func (a *Algorithm) FaultCell(fault string) (FaultCell, bool) {
	for _, c := range a.Faults {
		if c.Fault == fault {
			return c, true
		}
	}
	return FaultCell{}, false
}

// Under returns cells of several faults with the same outcomes, for the same reason.
func Under(may Outcome, why string, faults ...string) []FaultCell {
	cells := make([]FaultCell, 0, len(faults)) // allocated once: every program makes all cells at its start
	for _, fault := range faults {
		cells = append(cells, FaultCell{Fault: fault, May: may, Why: why})
	}
	return cells
}

// Completed returns the cells in own, and the cells in others whose faults own lacks.
func Completed(own, others []FaultCell) []FaultCell {
	all := append(make([]FaultCell, 0, len(own)+len(others)), own...)
	for _, c := range others {
		if !slices.ContainsFunc(own, func(one FaultCell) bool { return one.Fault == c.Fault }) {
			all = append(all, c)
		}
	}
	return all
}

// A Flaw says how a known broken algorithm fails.
type Flaw struct {
	Check string       // the check that the algorithm fails
	Also  string       // another check that the algorithm fails, in other runs; empty: no other
	At    nodes.Config // the configuration in which an exploration shows the flaw
	// By are the assumptions that must be broken for the flaw to show: the exploration allows faults that break
	// them. 0: the flaw shows without faults.
	By    nodes.Assumption
	Times int // how many such faults the flaw takes; 0: one
	// Alone says that the flaw shows even if requests come one at a time.
	Alone bool
	Rare  bool // fewer than a third of random plans show the flaw; plans of campaigns for it have more entries
}

// Broken returns the flaw of the algorithm; the zero Flaw if none is known.
func (a *Algorithm) Broken() Flaw {
	if a.Flaw == nil {
		return Flaw{}
	}
	return *a.Flaw
}

// String names the checks that the algorithm fails; empty if it has no flaw.
func (f Flaw) String() string {
	if f.Also == "" {
		return f.Check
	}
	return f.Check + " and " + f.Also
}
