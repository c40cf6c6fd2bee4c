package explore

import (
	"fmt"
	"slices"
	"strings"

	"turnstile/internal/suggest"
	"turnstile/nodes"
)

// What an exploration looks for, as the names of its checks.
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
		CheckLeaders,
		CheckTerms, CheckAgreement}
}

// looksFor reports whether an exploration looks for what a check finds.
func (o *Options) looksFor(check string) bool {
	if o.Checks == nil {
		return check != CheckFairness && check != CheckMinority
	}
	return slices.Contains(o.Checks, check)
}

// mostPromised is the highest bypass of a row of which fairness can be explored.
const mostPromised = passedOver/2 - 1

// validateChecks says what is wrong with what is to be looked for.
func (o *Options) validateChecks(stack *nodes.Stack) error {
	for _, name := range o.Checks {
		if slices.Contains(Checks(), name) {
			continue
		}
		near := suggest.Nearest(name, Checks())
		if near != "" {
			near = fmt.Sprintf(": did you mean %s?", near)
		}
		return fmt.Errorf("there is no check %q%s It is one of %s", name, near, strings.Join(Checks(), ", "))
	}
	switch {
	case o.looksFor(CheckMinority) && o.Spec.Minority == nil:
		return fmt.Errorf("%s promises nothing of a minority: look for something else", o.Spec.Name)
	case !o.looksFor(CheckFairness):
		return nil
	case o.Spec.Bypass == nil:
		return fmt.Errorf("%s does not promise how often a request may be passed over: look for something else",
			o.Spec.Name)
	case len(stack.Mutexes()) != 1:
		return fmt.Errorf("%d resources: whether requests are passed over is looked at for one",
			len(stack.Mutexes()))
	case o.Spec.Bypass(o.Config) > mostPromised:
		return fmt.Errorf("%d entries may pass over a request: an exploration counts up to %d, so take fewer nodes",
			o.Spec.Bypass(o.Config), mostPromised)
	}
	return nil
}

// needsOf returns what keeping a check rests on, of what the instances of a stack rest on.
func needsOf(check string, stack *nodes.Stack) nodes.Assumption {
	switch check {
	case CheckFairness:
		return stack.Safe() | stack.Live() | stack.Fair()
	case CheckMinority:
		return 0
	case CheckDeadlock:
		return stack.Safe() | stack.Live()
	case CheckAgreement:
		return stack.Live()
	}
	return stack.Safe()
}

// broken returns the assumptions that are broken in a state.
func (w *worker) broken(state []uint32) nodes.Assumption {
	faults, broken := state[w.total], w.model
	for _, f := range [...]struct {
		mask uint32
		need nodes.Assumption
	}{
		{0xff, nodes.NoLoss}, {0xff << 8, nodes.NoDuplication}, {0xff << 16, nodes.NoCrash},
		{oneAmnesia, nodes.NoAmnesia}, {^uint32(oneSuspicion - 1), nodes.PerfectDetector},
	} {
		if faults&f.mask != 0 {
			broken |= f.need
		}
	}
	if w.countsUp {
		n := w.o.Config.N
		broken |= minority(w.up(state[:n]), n)
		if servers := state[n:w.total]; w.up(servers) < len(servers) {
			broken |= nodes.ServersUp
		}
	}
	return broken
}

// up returns how many of some nodes are up.
func (w *worker) up(some []uint32) (n int) {
	for _, number := range some {
		if w.known[number].up {
			n++
		}
	}
	return n
}

// minority returns what is broken while so many of the clients are up.
func minority(up, clients int) nodes.Assumption {
	if 2*up > clients {
		return 0
	}
	return nodes.Majority
}

// excuse returns the broken assumptions among the needs, unless faults excuse nothing.
func (w *worker) excuse(state []uint32, needs nodes.Assumption) nodes.Assumption {
	if w.o.Demand {
		return 0
	}
	return w.broken(state) & needs
}
