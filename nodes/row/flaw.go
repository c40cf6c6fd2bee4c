package row

import (
	"fmt"
	"maps"
	"slices"

	"turnstile/nodes"
)

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
