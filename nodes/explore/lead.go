package explore

import (
	"fmt"
	"slices"
	"strings"

	"turnstile/nodes"
	"turnstile/nodes/leading"
	"turnstile/nodes/replay"
	"turnstile/nodes/row"
)

// campaign makes the moves by which a node is told to bring an election about.
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

// electorate returns what the clients believe in a state, until the next call.
func (w *worker) electorate(state []uint32) leading.Electorate {
	w.voters = w.voters[:0]
	for _, number := range state[:w.o.Config.N] {
		p := w.known[number]
		w.voters = append(w.voters, leading.Voter{Up: p.up, Belief: &p.Belief})
	}
	return w.voters
}

// together says what is wrong with several leaders in a state; empty: nothing.
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

// silent reports whether no message is on its way in a state and no timer runs.
func (w *worker) silent(state []uint32) bool {
	for _, number := range state[:w.total] {
		if len(w.known[number].timers) > 0 {
			return false
		}
	}
	return len(state) == w.head
}

// quarrel returns which check the leaders of a state fail, which has just come about by a move; empty: none.
func (w *worker) quarrel(state []uint32, m move, out *outcome) (check string) {
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

// undecided looks, in a state that was expanded, whether nodes agree that are to. If they do not, and nothing
// excuses that, they are still to: 1. Nothing is known of that if moves were findings, which lead nowhere.
func (w *worker) undecided(state []uint32, findings int) uint8 {
	if !w.o.looksFor(replay.CheckAgreement) || !w.electorate(state).Disagree() {
		return 0
	}
	if w.steps == 0 {
		w.findings = append(w.findings, finding{check: replay.CheckAgreement})
		return 0
	}
	if len(w.findings) > findings || w.excuse(state, w.live) != 0 {
		return 0
	}
	return 1
}

// checksOfLeaders are those that rows of electors alone can fail.
var checksOfLeaders = []string{replay.CheckLeaders, replay.CheckTerms, replay.CheckAgreement}

// refused are options that explorations of rows of a kind do not take: checks that these cannot fail, and
// others. What to say of them takes the name of the row and, of a check, its name.
var refused = map[nodes.Kind]struct {
	checks    []string
	saysCheck string
	other     func(*Options, *row.Stack) bool
	saysOther string
}{
	nodes.MutualExclusion: {
		checksOfLeaders, "%s elects no leaders: look for something else than %s",
		func(o *Options, _ *row.Stack) bool { return o.Campaigns > 0 },
		"%s elects no leaders, so nobody campaigns: give no number of campaigns"},
	nodes.Election: {
		slices.DeleteFunc(replay.Checks(), func(name string) bool {
			return name == replay.CheckPanic || slices.Contains(checksOfLeaders, name)
		}),
		"%s elects leaders, and has no clients: look for " + strings.Join(checksOfLeaders, ", ") + " or " +
			replay.CheckPanic + ", and not for %s",
		func(_ *Options, stack *row.Stack) bool { return len(stack.Mutexes()) > 0 },
		"%s elects leaders beside resources of clients: explore the two on their own"},
}

// validateElection says what is wrong with the options about elections and timers, if anything is.
func (o *Options) validateElection(stack *row.Stack) error {
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
