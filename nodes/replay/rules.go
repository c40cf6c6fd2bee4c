package replay

import (
	"fmt"
	"time"

	"turnstile/internal/english"
	"turnstile/nodes"
	"turnstile/nodes/leading"
	"turnstile/nodes/row"
)

// What can be wrong in an election without time: see [CheckLeaders], [CheckTerms] and [CheckAgreement]. If a
// row allows two leaders for some time, they are wrong if no message is on its way and no timer runs: then
// they lead until something happens of which no algorithm knows when. With a Timing, ticks count as well.
// That a node leads counts when its handler is over.

// saysShared says that two have led in one term.
func saysShared(term uint64, one, other nodes.ID) string {
	return fmt.Sprintf("nodes %s have led in term %d", ids([]nodes.ID{min(one, other), max(one, other)}), term)
}

func saysBackwards(id nodes.ID, from, to uint64) string {
	return fmt.Sprintf("node %d goes back from term %d to term %d", id, from, to)
}

// saysBeliefs says what each node that is up believes.
func saysBeliefs(e leading.Electorate) string {
	var all []string
	for id, v := range e {
		if v.Up {
			all = append(all, fmt.Sprintf("node %d %s", id, saysBelief(nodes.ID(id), v.Leader)))
		}
	}
	return english.List(all)
}

// saysBelief says what a node believes: that it leads.
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

// Rules are what a stack promises of what can be judged step by step, and what an election does.
type Rules struct {
	stack   *row.Stack
	Elects  bool          // the first instance is an elector
	Terms   bool          // its leaders have terms
	overlap time.Duration // for how long two may lead at once, without terms
}

// RulesOf returns what a stack promises.
func RulesOf(stack *row.Stack) Rules {
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

// TooMany says what is wrong with several leaders, in words; empty: nothing. Silent is whether no message is
// on its way and no timer runs, ticks how many have passed since several lead.
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

// Counts reports whether ticks in which several lead are counted.
func (r *Rules) Counts(t *Timing) bool { return r.Elects && !r.Terms && r.overlap > 0 && t != nil }
