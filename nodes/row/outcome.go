package row

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"turnstile/nodes"
)

// An Outcome is what may become of a run under faults: one of the constants below, or several of them.
type Outcome uint8

// The outcomes. Of an algorithm that hands out fence numbers, exclusion is what the resource sees. Of an
// elector, exclusion says that no two lead in one term or, without terms, for longer than its row says that a
// take-over takes; and who enters is whoever takes the leader for the leader, itself included, if that is up.
const (
	// Recovers: exclusion holds, and once all is healed that is healed, every client that is up and waits
	// enters. Of an elector: all that are up agree at the end on one of them.
	Recovers Outcome = 1 << iota
	// Starves: exclusion holds; some clients that are up wait for ever, while others go on. Of an elector: one
	// leads at the end, and some that are up know of none, or of another, and never will of that one.
	Starves
	// Blocks: exclusion holds; all clients that are up wait for ever. Of an elector: nobody that is up leads at
	// the end, nor ever will.
	Blocks
	// Breaks: two are inside together. Of an elector: two lead where one may, or two still do at the end, and
	// for ever.
	Breaks
	Unhit // the fault hits nothing, since the algorithm has no such links, or nobody ever leads whom it is for
)

// outcomeLetters are the letters of the outcomes.
const outcomeLetters = "LPBX-"

// String writes the outcomes by their letters, as in L|B: L recovers, P starves some, B blocks all, X breaks
// exclusion; - says that the fault hits nothing. None of them is a question mark: an inconclusive run shows
// no outcome.
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

// A FaultCell says what may become of an algorithm under a fault: of five nodes that think and request, or
// that all campaign when the run begins, in the runs of the fault matrix.
type FaultCell struct {
	Fault string  // the plan, one of those that chaos.ScenariosOf lists
	May   Outcome // all that a run may show; X says that exclusion can break, and so comes with others
	// Why is the reason in its own words: who starves or blocks, and the paper that it rests on, if any.
	Why string
}

// FaultCell returns what may become of the algorithm under a fault. It reports whether the row says so.
func (r *Row) FaultCell(fault string) (FaultCell, bool) {
	for _, c := range r.Faults {
		if c.Fault == fault {
			return c, true
		}
	}
	return FaultCell{}, false
}

// Under returns the cells of several faults under which the same may become of an algorithm, for the same
// reason.
func Under(may Outcome, why string, faults ...string) []FaultCell {
	cells := make([]FaultCell, 0, len(faults)) // every program makes all of them as it starts
	for _, fault := range faults {
		cells = append(cells, FaultCell{Fault: fault, May: may, Why: why})
	}
	return cells
}

// Completed returns the cells of an algorithm, and those of others whose faults these leave out.
func Completed(own, others []FaultCell) []FaultCell {
	all := append(make([]FaultCell, 0, len(own)+len(others)), own...)
	for _, c := range others {
		if !slices.ContainsFunc(own, func(one FaultCell) bool { return one.Fault == c.Fault }) {
			all = append(all, c)
		}
	}
	return all
}

// A Flaw is what is wrong with an algorithm that is known to be broken.
type Flaw struct {
	Check string       // that it fails
	Also  string       // another check that it fails, in other runs; empty: none
	At    nodes.Config // where an exploration shows it
	// By is what has to be broken for it to show: the exploration allows one fault that breaks it. 0: it shows
	// without faults.
	By    nodes.Assumption
	Times int // how many such faults it takes; 0: one
	// Alone says that it shows even if requests come one at a time.
	Alone bool
}

// Broken returns what is wrong with the algorithm; the zero Flaw, if nothing is known to be.
func (r *Row) Broken() Flaw {
	if r.Flaw == nil {
		return Flaw{}
	}
	return *r.Flaw
}

// String names the checks that the algorithm is known to fail; empty: none.
func (f Flaw) String() string {
	if f.Also == "" {
		return f.Check
	}
	return f.Check + " and " + f.Also
}

// ShowFlaw returns the arguments with which the orchestrator shows how an algorithm fails that is known to.
func (r *Row) ShowFlaw() []string {
	args := []string{"explore", "--algo", r.Name, "-n", fmt.Sprint(r.Flaw.At.N)}
	for _, name := range slices.Sorted(maps.Keys(r.Flaw.At.Options)) {
		args = append(args, "--"+name, r.Flaw.At.Options[name])
	}
	for _, fault := range []struct {
		breaks nodes.Assumption
		flag   string
	}{{nodes.NoCrash, "--crashes"}, {nodes.NoLoss, "--losses"}, {nodes.NoDuplication, "--duplicates"},
		{nodes.PerfectDetector, "--suspicions"}} {
		if r.Flaw.By&fault.breaks != 0 {
			args = append(args, fault.flag, fmt.Sprint(max(1, r.Flaw.Times)))
		}
	}
	if r.Flaw.Also != "" { // it may take fewer steps
		args = append(args, "--check", r.Flaw.Check)
	}
	if more := showMore[r.Kind]; more != nil {
		args = append(args, more(r)...)
	}
	return args
}

// showMore are the arguments that show flaws of rows of a kind alone.
var showMore = map[nodes.Kind]func(*Row) []string{nodes.Election: (*Row).showElection}

// showElection returns the arguments that let a flaw of an elector show.
func (r *Row) showElection() []string {
	args := []string{"--campaigns", "1"} // what is looked for comes after it, and the space stays small
	if r.Flaw.By&nodes.NoCrash != 0 && r.Elector.Terms {
		args = append(args, "--restarts") // what a term needs must outlive a crash
	}
	switch _, timed := r.Machine(r.Flaw.At, 0).(nodes.Timed); {
	case timed && r.Live&nodes.Timing != 0:
		args = append(args, "--timing", "40ms", "--tick", "20ms") // or late messages would excuse it
	case timed:
		args = append(args, "--timeouts", fmt.Sprint(r.Flaw.At.N))
	}
	return args
}
