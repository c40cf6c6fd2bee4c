package explore

import (
	"fmt"

	"turnstile/nodes"
)

// campaign makes the moves by which a node is told to bring an election about.
func (w *worker) campaign(node uint8, p *part) {
	if !w.rules.elects || int(p.campaigned) >= w.o.Entries {
		return
	}
	all := 0
	for _, number := range w.state[:w.o.Config.N] {
		all += int(w.known[number].campaigned)
	}
	if w.o.Campaigns == 0 || all < w.o.Campaigns {
		w.try(move{what: StepCampaign, node: node})
	}
}

// electorate returns what the clients believe in a state, until the next call.
func (w *worker) electorate(state []uint32) electorate {
	w.voters = w.voters[:0]
	for _, number := range state[:w.o.Config.N] {
		p := w.known[number]
		w.voters = append(w.voters, voter{p.up, &p.belief})
	}
	return w.voters
}

// together says what is wrong with several leaders in a state; empty: nothing.
func (w *worker) together(state []uint32) string {
	if !w.rules.elects || !w.o.looksFor(CheckLeaders) {
		return ""
	}
	e := w.electorate(state)
	if e.leading() < 2 {
		return ""
	}
	ticks := uint32(0)
	if w.ticks > 0 {
		ticks = state[w.ticks]
	}
	return w.rules.tooMany(e, w.silent(state), w.o.Timing, ticks)
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

// quarrel returns which check the leaders of a state fail, which has just come about by a move, and what it
// says; empty: none.
func (w *worker) quarrel(state []uint32, m move, out *outcome) (check, says string) {
	id := nodes.ID(m.node)
	if out != nil && w.rules.terms && int(id) < w.o.Config.N && w.o.looksFor(CheckTerms) {
		if out.back {
			return CheckTerms, fmt.Sprintf("node %d goes back to a lower term", id)
		}
		if term, other, is := w.electorate(state).shared(id); is {
			return CheckTerms, saysShared(term, id, other)
		}
	}
	return CheckLeaders, w.together(state)
}

// undecided looks, in a state that was expanded, whether nodes agree that are to. If they do not, and nothing
// excuses that, they are still to: 1. Nothing is known of that if moves were findings, which lead nowhere.
func (w *worker) undecided(state []uint32, findings int) uint8 {
	if !w.o.looksFor(CheckAgreement) || !w.electorate(state).disagree() {
		return 0
	}
	if w.steps == 0 {
		w.findings = append(w.findings, finding{check: CheckAgreement})
		return 0
	}
	if len(w.findings) > findings || w.excuse(state, w.live) != 0 {
		return 0
	}
	return 1
}

// validateElection says what is wrong with the options about elections and timers, if anything is.
func (o *Options) validateElection(stack *nodes.Stack) error {
	switch {
	case o.Timeouts > 0 && !timed(stack):
		return fmt.Errorf("%s has no timers that could run out: give no number of timeouts", o.Spec.Name)
	case !stack.Elects() && o.Campaigns > 0:
		return fmt.Errorf("%s elects no leaders, so nobody campaigns: give no number of campaigns", o.Spec.Name)
	case stack.Elects() && len(stack.Mutexes()) > 0:
		return fmt.Errorf("%s elects leaders beside resources of clients: explore the two on their own",
			o.Spec.Name)
	}
	for _, check := range o.Checks {
		is := check == CheckLeaders || check == CheckTerms || check == CheckAgreement
		switch {
		case check == CheckPanic:
		case is && !stack.Elects():
			return fmt.Errorf("%s elects no leaders: look for something else than %s", o.Spec.Name, check)
		case !is && stack.Elects():
			return fmt.Errorf("%s elects leaders, and has no clients: look for %s, %s, %s or %s, and not for %s",
				o.Spec.Name, CheckLeaders, CheckTerms, CheckAgreement, CheckPanic, check)
		case check == CheckTerms && !o.Spec.Leads.Terms:
			return fmt.Errorf("the leaders of %s have no terms: look for something else", o.Spec.Name)
		case check == CheckLeaders && o.Spec.Leads.Terms:
			return fmt.Errorf("leaders of %s have terms, so two may lead at once: look for %s", o.Spec.Name,
				CheckTerms)
		}
	}
	return nil
}
