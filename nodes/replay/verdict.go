package replay

import (
	"fmt"
	"math/bits"

	"turnstile/nodes"
	"turnstile/nodes/history"
)

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
