package replay

import (
	"fmt"
	"math/bits"
	"time"

	"turnstile/internal/english"
	"turnstile/nodes"
	"turnstile/nodes/history"
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

// What may be wrong in a schedule or an exploration, as the names of checks.
const (
	CheckExclusion  = "exclusion"  // two clients are inside, or a fence number that is demanded is wrong
	CheckPanic      = "panic"      // a machine gave up, or broke its contract
	CheckDeadlock   = "deadlock"   // somebody waits, and nothing is left to happen but new requests
	CheckStarvation = "starvation" // somebody waits, and whatever happens it is never let in
	CheckFairness   = "fairness"   // somebody is passed over more often than the algorithm promises
	CheckMinority   = "minority"   // who reaches no majority enters, though that is ruled out

	CheckLeaders   = "leaders"   // two nodes lead at once; if an overlap is allowed, for longer than that
	CheckTerms     = "terms"     // two nodes lead in one term, or a node goes back to a lower one
	CheckAgreement = "agreement" // nodes that are up do not agree on a leader, and never will
)

// Checks lists the names of all checks.
func Checks() []string {
	return []string{CheckExclusion, CheckPanic, CheckDeadlock, CheckStarvation, CheckFairness, CheckMinority,
		CheckLeaders, CheckTerms, CheckAgreement}
}

// A Violation is what ends a play, or what an exploration finds: a promise that is seen to be broken.
type Violation struct {
	Check string
	Says  string // in one sentence
	Stall string // who waits for whom, if somebody waits for ever
}

// InMinority reports whether a node that suspects some clients, and has heard from some, is sure to reach no
// majority of them.
func (r *Rules) InMinority(suspects, heard uint8) bool {
	clients := r.stack.N()
	all := uint8(1<<clients - 1)
	return 2*(clients-bits.OnesCount8(suspects&all)) <= clients && 2*(1+bits.OnesCount8(heard&all)) <= clients
}

// mostSecluded is of how many nodes it is looked whether they reach a majority: there is a bit for each.
const mostSecluded = 8

// seclude looks whether a node has entered that may not, on a stage, by an input.
func (g *Stage) seclude(id nodes.ID, in *nodes.Input) {
	spec := g.stack.Instances()[0].Row
	a := &g.Nodes[id]
	if in.Kind == nodes.Receive && int(in.From) < mostSecluded {
		a.heard |= 1 << in.From
	}
	if spec.Exclusion().Minority == nil || g.stack.N() > mostSecluded || len(g.entered) == 0 ||
		in.Kind == nodes.Receive || in.Kind == nodes.Request && spec.Exclusion().Minority.Keeps {
		return
	}
	var suspects uint8
	for peer := range a.Suspects.All() {
		suspects |= 1 << peer
	}
	if g.rules.InMinority(suspects, a.heard) {
		g.Lab.Observe(id, history.Secluded)
	}
}

// Stale says what is wrong with an entry under a fence number, if the highest so far is another; empty:
// nothing.
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
