package explore

import (
	"fmt"
	"slices"
	"strings"

	"turnstile/internal/suggest"
	"turnstile/nodes"
	"turnstile/nodes/replay"
	"turnstile/nodes/row"
)

// looksFor reports whether an exploration looks for what a check finds.
func (o *Options) looksFor(check string) bool {
	if o.Checks == nil {
		return check != replay.CheckFairness && check != replay.CheckMinority
	}
	return slices.Contains(o.Checks, check)
}

// mostPromised is the highest bypass of a row of which fairness can be explored.
const mostPromised = passedOver/2 - 1

// validateChecks says what is wrong with what is to be looked for.
func (o *Options) validateChecks(stack *row.Stack) error {
	for _, name := range o.Checks {
		if slices.Contains(replay.Checks(), name) {
			continue
		}
		near := suggest.Nearest(name, replay.Checks())
		if near != "" {
			near = fmt.Sprintf(": did you mean %s?", near)
		}
		return fmt.Errorf("there is no check %q%s It is one of %s", name, near, strings.Join(replay.Checks(), ", "))
	}
	bypass, promised := o.Spec.Exclusion().Promised(o.Config)
	switch {
	case o.looksFor(replay.CheckMinority) && o.Spec.Exclusion().Minority == nil:
		return fmt.Errorf("%s promises nothing of a minority: look for something else", o.Spec.Name)
	case !o.looksFor(replay.CheckFairness):
		return nil
	case !promised:
		return fmt.Errorf("%s does not promise how often a request may be passed over: look for something else",
			o.Spec.Name)
	case len(stack.Mutexes()) != 1:
		return fmt.Errorf("%d resources: whether requests are passed over is looked at for one",
			len(stack.Mutexes()))
	case bypass > mostPromised:
		return fmt.Errorf("%d entries may pass over a request: an exploration counts up to %d, so take fewer nodes",
			bypass, mostPromised)
	}
	return nil
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
		broken |= w.majority(w.up(state[:n]))
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

// excuse returns the broken assumptions among the needs, unless faults excuse nothing.
func (w *worker) excuse(state []uint32, needs nodes.Assumption) nodes.Assumption {
	if w.o.Demand {
		return 0
	}
	return w.broken(state) & needs
}

// needs returns what keeping a check rests on, of what the instances of a stack rest on.
func (w *worker) needs(check string) nodes.Assumption {
	stack := w.parts.stack
	switch check {
	case replay.CheckFairness:
		return stack.Safe() | stack.Live() | stack.Fair()
	case replay.CheckMinority:
		return 0
	case replay.CheckDeadlock:
		return stack.Safe() | stack.Live()
	case replay.CheckAgreement:
		return stack.Live()
	}
	return stack.Safe()
}

// majority returns what is broken while so many of the clients are up.
func (w *worker) majority(up int) nodes.Assumption {
	if 2*up > w.o.Config.N {
		return 0
	}
	return nodes.Majority
}
