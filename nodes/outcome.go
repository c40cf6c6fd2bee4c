package nodes

import "strings"

// An Outcome is what may become of a run under faults: one of the constants below, or several of them.
type Outcome uint8

// The outcomes. Of an algorithm that hands out fence numbers, exclusion is what the resource sees.
const (
	// Recovers: exclusion holds, and once all is healed that is healed, every client that is up and waits
	// enters.
	Recovers Outcome = 1 << iota
	Starves          // exclusion holds; some clients that are up wait for ever, while others go on
	Blocks           // exclusion holds; all clients that are up wait for ever
	Breaks           // two are inside together
	Unhit            // the fault hits nothing, since the algorithm has no such links
)

// outcomeLetters are the letters of the outcomes.
const outcomeLetters = "LPBX-"

// Outcomes lists the single outcomes.
func Outcomes() []Outcome { return []Outcome{Recovers, Starves, Blocks, Breaks, Unhit} }

// String writes the outcomes by their letters, as in L|B: L recovers, P starves some, B blocks all, X breaks
// exclusion; - says that the fault hits nothing. None of them is a question mark.
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

// A FaultCell says what may become of an algorithm under a fault: of five nodes that think and request, in
// the runs of the fault matrix.
type FaultCell struct {
	Fault string  // the plan, one of those that chaos.Scenarios lists
	May   Outcome // all that a run may show; X says that exclusion can break, and so comes with others
	// Why is the reason: where it is published, and of those who starve or block, who they are.
	Why string
}

// FaultCell returns what may become of the algorithm under a fault. It reports whether the row says so.
func (s *Spec) FaultCell(fault string) (FaultCell, bool) {
	for _, c := range s.Faults {
		if c.Fault == fault {
			return c, true
		}
	}
	return FaultCell{}, false
}
