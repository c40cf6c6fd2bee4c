package explore

import (
	"fmt"
	"slices"
	"strings"

	"turnstile/internal/suggest"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/leading"
	"turnstile/nodes/replay"
)

// looksFor reports whether an exploration makes a check.
func (o *Space) looksFor(check string) bool {
	if o.Checks == nil {
		return check != replay.CheckFairness && check != replay.CheckMinority
	}
	return slices.Contains(o.Checks, check)
}

// mostPromised is the highest promised bypass whose fairness can be explored.
const mostPromised = passedOver/2 - 1

// validateChecks returns what is wrong with Space.Checks.
func (o *Space) validateChecks(stack *algorithm.Stack) error {
	for _, name := range o.Checks {
		if slices.Contains(replay.Checks(), name) {
			continue
		}
		near := suggest.Nearest(name, replay.Checks())
		if near != "" {
			near = fmt.Sprintf(" (did you mean %s?)", near)
		}
		return fmt.Errorf("there is no check %q%s; the checks are %s", name, near,
			strings.Join(replay.Checks(), ", "))
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
		return fmt.Errorf("%d resources: fairness can be checked for one only",
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

// up returns how many nodes are up, given some of the parts of a state.
func (w *worker) up(some []uint32) (n int) {
	for _, number := range some {
		if w.known[number].up {
			n++
		}
	}
	return n
}

// outside returns which assumptions among needs are broken in a state. They put a violation outside the
// model. With Space.Demand it returns 0.
func (w *worker) outside(state []uint32, needs nodes.Assumption) nodes.Assumption {
	if w.o.Demand {
		return 0
	}
	return w.broken(state) & needs
}

// needs returns the assumptions that the stack needs to pass a check.
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

// majority returns nodes.Majority as broken if the clients that are up are no majority, or else 0.
func (w *worker) majority(up int) nodes.Assumption {
	if 2*up > w.o.Config.N {
		return 0
	}
	return nodes.Majority
}

// campaign makes the move that tells a node to campaign.
func (w *worker) campaign(node uint8, p *part) {
	if !w.rules.Elects || int(p.campaigned) >= w.o.Entries {
		return
	}
	all := 0
	for _, number := range w.state[:w.o.Config.N] {
		all += int(w.known[number].campaigned)
	}
	if w.o.Campaigns == 0 || all < w.o.Campaigns {
		w.try(move{what: replay.StepCampaign, node: node})
	}
}

// electorate returns the beliefs of the clients in a state. It is valid until the next call.
func (w *worker) electorate(state []uint32) leading.Electorate {
	w.voters = w.voters[:0]
	for _, number := range state[:w.o.Config.N] {
		p := w.known[number]
		w.voters = append(w.voters, leading.Voter{Up: p.up, Belief: &p.Belief})
	}
	return w.voters
}

// together says what is wrong with several leaders in a state; empty if nothing is.
func (w *worker) together(state []uint32) string {
	if !w.rules.Elects || !w.o.looksFor(replay.CheckLeaders) {
		return ""
	}
	e := w.electorate(state)
	if e.Leading() < 2 {
		return ""
	}
	ticks := uint32(0)
	if w.ticks > 0 {
		ticks = state[w.ticks]
	}
	return w.rules.TooMany(e, w.silent(state), w.o.Timing, ticks)
}

// silent reports whether a state has no message on its way and no running timer.
func (w *worker) silent(state []uint32) bool {
	for _, number := range state[:w.total] {
		if len(w.known[number].timers) > 0 {
			return false
		}
	}
	return len(state) == w.head
}

// failsLeaders returns the check that the leaders of a state fail after a move; empty if none.
func (w *worker) failsLeaders(state []uint32, m move, out *outcome) (check string) {
	id := nodes.ID(m.node)
	if out != nil && w.rules.Terms && int(id) < w.o.Config.N && w.o.looksFor(replay.CheckTerms) {
		if _, _, shared := w.electorate(state).Shared(id); shared || out.back {
			return replay.CheckTerms
		}
	}
	if w.together(state) != "" {
		return replay.CheckLeaders
	}
	return ""
}

// undecided returns 1 if nodes do not agree yet in the expanded state; starvation then checks that they still
// can. It returns 0 if broken assumptions put the state outside the model, or if a move out of it failed a
// check. If no move makes progress, it adds a finding instead.
func (w *worker) undecided(state []uint32, findings int) uint8 {
	if !w.o.looksFor(replay.CheckAgreement) || !w.electorate(state).Disagree() {
		return 0
	}
	if w.steps == 0 {
		w.findings = append(w.findings, finding{check: replay.CheckAgreement})
		return 0
	}
	if len(w.findings) > findings || w.outside(state, w.live) != 0 {
		return 0
	}
	return 1
}

// checksOfLeaders are the checks of electors.
var checksOfLeaders = []string{replay.CheckLeaders, replay.CheckTerms, replay.CheckAgreement}

// refused has, by kind of algorithm, what an exploration refuses: checks that such algorithms cannot fail,
// and other options. The formats take the name of the algorithm and that of the check.
var refused = map[nodes.Kind]struct {
	checks    []string
	saysCheck string
	other     func(*Space, *algorithm.Stack) bool
	saysOther string
}{
	nodes.MutualExclusion: {
		checksOfLeaders, "%s elects no leaders: look for something else than %s",
		func(o *Space, _ *algorithm.Stack) bool { return o.Campaigns > 0 },
		"%s elects no leaders, so nobody campaigns: give no number of campaigns"},
	nodes.Election: {
		slices.DeleteFunc(replay.Checks(), func(name string) bool {
			return name == replay.CheckPanic || slices.Contains(checksOfLeaders, name)
		}),
		"%s elects leaders, and has no clients: look for " + strings.Join(checksOfLeaders, ", ") + " or " +
			replay.CheckPanic + ", and not for %s",
		func(_ *Space, stack *algorithm.Stack) bool { return len(stack.Mutexes()) > 0 },
		"%s elects leaders beside resources of clients: explore the two on their own"},
}

// validateElection returns what is wrong with the options about elections and timers.
func (o *Space) validateElection(stack *algorithm.Stack) error {
	refused := refused[o.Spec.Kind]
	switch {
	case o.Timeouts > 0 && !timed(stack):
		return fmt.Errorf("%s has no timers that could run out: give no number of timeouts", o.Spec.Name)
	case refused.other != nil && refused.other(o, stack):
		return fmt.Errorf(refused.saysOther, o.Spec.Name)
	}
	for _, check := range o.Checks {
		switch {
		case slices.Contains(refused.checks, check):
			return fmt.Errorf(refused.saysCheck, o.Spec.Name, check)
		case check == replay.CheckTerms && !o.Spec.Leadership().Terms:
			return fmt.Errorf("the leaders of %s have no terms: look for something else", o.Spec.Name)
		case check == replay.CheckLeaders && o.Spec.Leadership().Terms:
			return fmt.Errorf("leaders of %s have terms, so two may lead at once: look for %s", o.Spec.Name,
				replay.CheckTerms)
		}
	}
	return nil
}

// The check minority: an exploration cuts no links, so a node counts as one that reaches no majority if it
// suspects half of the clients, and in this life has heard from too few to make a majority with it. Such a
// node must not let its client in, except because of a message. With algorithm.Minority.Keeps it may also let
// the client in because of a request, since the request may find a token there.

// secludes reports whether the check minority is made.
func (o *Space) secludes() bool {
	return o.Spec.Exclusion().Minority != nil && o.looksFor(replay.CheckMinority)
}

// secluded reports whether an entry violates the check minority: the stimulus s let the client in, and next
// is the new state of the node.
func (ps *parts) secluded(next *part, s stimulus) bool {
	keeps := ps.o.Spec.Exclusion().Minority.Keeps && s >= onRequest && s < onRelease
	return s < onReceive && !keeps && ps.rules.InMinority(next.suspects, next.heard)
}

// If the resource demands fence numbers (Config.Fenced), two clients inside are no violation: the resource
// refuses writes under a lower number than the highest that has entered. It is a violation if a client enters
// under the same number as the highest, since the resource then accepts the writes of both, in any order: see
// judge/section/resource.go. An entry without a number is a violation too. A client that enters under a lower
// number was granted earlier, and its writes are refused.

// fenceWords is how many words of a state hold the highest fence number under which a client has entered a
// fenced resource.
const fenceWords = 2

// fenced returns the resources of a stack that demand fence numbers.
func fenced(stack *algorithm.Stack) (resources []int) {
	for r, instance := range stack.Mutexes() {
		if stack.Fenced(instance) {
			resources = append(resources, r)
		}
	}
	return resources
}

// highest returns, in a state, the highest fence number under which a client has entered the ith fenced
// resource.
func (w *worker) highest(state []uint32, i int) uint64 {
	at := w.fences + fenceWords*i
	return uint64(state[at])<<32 | uint64(state[at+1])
}

// raise updates the highest fence numbers in a state after an entry.
func (w *worker) raise(state []uint32, out *outcome) {
	for i, r := range w.fenced {
		if out.entered>>r&1 != 0 && out.fences[r] > w.highest(state, i) {
			at := w.fences + fenceWords*i
			state[at], state[at+1] = uint32(out.fences[r]>>32), uint32(out.fences[r])
		}
	}
}
