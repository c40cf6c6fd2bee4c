package replay

import (
	"fmt"
	"math/bits"
	"time"

	"turnstile/internal/english"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/leading"
)

// saysShared says that two nodes have led in one term.
func saysShared(term uint64, one, other nodes.ID) string {
	return fmt.Sprintf("nodes %s have led in term %d", ids([]nodes.ID{min(one, other), max(one, other)}), term)
}

func saysBackwards(id nodes.ID, from, to uint64) string {
	return fmt.Sprintf("node %d goes back from term %d to term %d", id, from, to)
}

// saysBeliefs describes the beliefs of all nodes that are up.
func saysBeliefs(e leading.Electorate) string {
	var all []string
	for id, v := range e {
		if v.Up {
			all = append(all, fmt.Sprintf("node %d %s", id, saysBelief(nodes.ID(id), v.Leader)))
		}
	}
	return english.List(all)
}

// saysBelief describes the leader that the node self has declared.
func saysBelief(self, leader nodes.ID) string {
	switch leader {
	case self:
		return "leads"
	case nodes.None:
		return "knows of no leader"
	case nodes.Somebody:
		return "takes somebody else for the leader"
	}
	return fmt.Sprintf("takes node %d for the leader", leader)
}

// Rules are the promises of a stack that can be judged step by step.
type Rules struct {
	stack   *algorithm.Stack
	Elects  bool          // the first instance is an elector
	Terms   bool          // its leaders have terms
	overlap time.Duration // how long two nodes may lead at once, if leaders have no terms
}

// RulesOf returns the rules of a stack.
func RulesOf(stack *algorithm.Stack) Rules {
	in := stack.Instances()[0]
	r := Rules{stack: stack, Elects: stack.Elects()}
	if r.Elects {
		r.Terms = in.Elector.Terms
		if in.Elector.Overlap != nil {
			r.overlap = in.Elector.Overlap(in.Config)
		}
	}
	return r
}

// TooMany describes what is wrong with several leaders; empty if nothing is. silent: no message is on its way
// and no timer runs. ticks is how many ticks several nodes have led.
func (r *Rules) TooMany(e leading.Electorate, silent bool, t *Timing, ticks uint32) string {
	says := who(e.Leaders(), "leads", "lead") + " at the same time"
	switch {
	case r.Terms:
		return ""
	case r.overlap == 0:
		return says
	case silent:
		return says + ", and no message or timer is left that could change it"
	case r.Counts(t) && time.Duration(ticks)*t.Tick > r.overlap:
		return fmt.Sprintf("%s for longer than %v", says, r.overlap)
	}
	return ""
}

// Counts reports whether ticks with several leaders must be counted.
func (r *Rules) Counts(t *Timing) bool { return r.Elects && !r.Terms && r.overlap > 0 && t != nil }

// The checks of a schedule or an exploration. Each comment says what fails the check.
const (
	CheckExclusion  = "exclusion"  // two clients are inside, or a fence number that is demanded is wrong
	CheckPanic      = "panic"      // a machine panics, or breaks its contract
	CheckDeadlock   = "deadlock"   // a client waits, and only new requests can happen
	CheckStarvation = "starvation" // a client waits, and can never enter
	CheckFairness   = "fairness"   // a client is passed over more often than the algorithm promises
	CheckMinority   = "minority"   // a client that reaches no majority enters, against the promise

	// A node counts as leader when its handler is over. If an algorithm allows two leaders for some time, they
	// fail CheckLeaders only if no message is on its way and no timer runs, since then both would lead for ever
	// or, with a Timing, after too many ticks.
	CheckLeaders   = "leaders"   // two nodes lead at once; if an overlap is allowed, for longer than that
	CheckTerms     = "terms"     // two nodes lead in one term, or a node goes back to a lower one
	CheckAgreement = "agreement" // nodes that are up do not agree on a leader, and never will
)

// Checks lists the names of all checks.
func Checks() []string {
	return []string{CheckExclusion, CheckPanic, CheckDeadlock, CheckStarvation, CheckFairness, CheckMinority,
		CheckLeaders, CheckTerms, CheckAgreement}
}

// A Violation is a broken promise. It ends a play or an exploration.
type Violation struct {
	Check string
	Says  string // what is wrong, in one sentence
	Stall string // the wait-for graph, if a client waits for ever
}

// InMinority reports whether a node certainly reaches no majority of the clients: it suspects half of them,
// and has heard from too few to make a majority with it. suspects and heard have a bit for each node.
func (r *Rules) InMinority(suspects, heard uint8) bool {
	clients := r.stack.N()
	all := uint8(1<<clients - 1)
	return 2*(clients-bits.OnesCount8(suspects&all)) <= clients && 2*(1+bits.OnesCount8(heard&all)) <= clients
}

// mostSecluded is the largest cluster for the check minority, which has 8 bits for nodes.
const mostSecluded = 8

// Stale describes what is wrong with the fence number of an entry, given the highest so far; empty if nothing
// is.
func (r *Rules) Stale(fence, highest uint64) string {
	switch fence {
	case 0:
		return "without the fence number that the resource demands"
	case highest:
		return fmt.Sprintf("under the fence number %d, as somebody has before, so the resource would accept what "+
			"both write", fence)
	}
	return ""
}
