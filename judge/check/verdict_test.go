package check

import (
	"testing"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

// Shown follows from the findings of a run with faults, except findings that are in doubt.
func TestShown(t *testing.T) {
	found := func(check string, o Outcome, outside bool) Finding {
		return Finding{Check: check, Outcome: o, OutsideModel: outside, Says: check}
	}
	one := []nodes.ID{1}
	for name, c := range map[string]struct {
		v    Verdict
		want algorithm.Outcome
	}{
		"all served": {Verdict{}, algorithm.Recovers},
		"unfair while links were late": {Verdict{Findings: []Finding{found("fairness", Inconclusive, true)}},
			algorithm.Recovers},
		"unfair": {Verdict{Findings: []Finding{found("fairness", Violated, false)}}, 0},
		"one waits for ever": {Verdict{Findings: []Finding{found("progress", Inconclusive, true)}, Starved: one},
			algorithm.Starves},
		"one waits for ever, inside the model": {Verdict{Findings: []Finding{found("progress", Violated, false)},
			Starved: one}, algorithm.Starves},
		"all wait": {Verdict{Findings: []Finding{found("progress", Inconclusive, true)}, Starved: one,
			Blocked: true}, algorithm.Blocks},
		"all wait, and nobody entered after the fault": {Verdict{Findings: []Finding{
			found("progress", Inconclusive, true), found("faults", Inconclusive, false)}, Starved: one,
			Blocked: true}, algorithm.Blocks},
		"all wait, and the counts disagree": {Verdict{Findings: []Finding{found("progress", Inconclusive, true),
			found("accounting", Inconclusive, false)}, Starved: one, Blocked: true}, 0},
		"interrupted": {Verdict{Findings: []Finding{found("progress", Inconclusive, false)}, Starved: one}, 0},
		"two inside": {Verdict{Findings: []Finding{found("exclusion", Violated, true),
			found("progress", Inconclusive, true)}, Starved: one}, algorithm.Breaks},
		"the register counted two": {Verdict{Findings: []Finding{found("register", Violated, true)}},
			algorithm.Breaks},
		"the witnesses disagree": {Verdict{Findings: []Finding{found("witnesses", Inconclusive, false)}}, 0},
		"a fault was not healed": {Verdict{Findings: []Finding{found("faults", Inconclusive, false)}}, 0},
		"a fault hit nothing":    {Verdict{Misses: []string{"loss 5%: it hit no message"}}, 0},
		"all wait, and a fault came too late": {Verdict{Findings: []Finding{found("progress", Inconclusive, true)},
			Starved: one, Blocked: true, Misses: []string{"kill 1: it did not take place"}}, algorithm.Blocks},
		"nothing was hit": {Verdict{Findings: []Finding{found("faults", Inconclusive, false)}, Missed: true},
			algorithm.Unhit},
	} {
		if got, says := c.v.Shown(); got != c.want || got == 0 && says == "" {
			t.Errorf("%s shows %v (%s), want %v", name, got, says, c.want)
		}
	}
}

// If a client has waited since a death, the count that it read from the register may or may not include the
// dead client. So that count does not contradict an overlap by the stamps.
func TestARegisterThatMayCountTheDeadDeniesNothing(t *testing.T) {
	judgeMoments(t, []moment{
		{"another enters beside a third, long after", func(w *world) {
			w.waitsForTheDead()
			w.kill(2)
			w.crashed(2)
			w.inside--
			w.ask(1)
			w.enter(1)
			w.enter(0)
			w.exit(1)
			w.exit(0)
		}, Valid, Violated},
	})
}
