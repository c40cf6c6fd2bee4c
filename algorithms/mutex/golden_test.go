package mutex

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"turnstile/internal/soak"
	"turnstile/judge/algotest"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/replay"
)

// form returns what plays the stories of an algorithm under a title: a variant by its name, or another
// algorithm with the same messages, or a mutant by its rule.
func form(of *algorithm.Algorithm, title string) (algotest.Form, error) {
	if title == "" {
		return algotest.Form{Algorithm: of, Sound: of.Flaw == nil}, nil
	}
	for _, v := range slices.Concat(variants, Table) {
		if v.Name == title {
			return algotest.Form{Algorithm: v, Sound: v.Flaw == nil}, nil
		}
	}
	if m := mutantOf(of, title); m != nil {
		return algotest.Form{Algorithm: &m.spec, Title: title, Fails: m.fails, Inside: true}, nil
	}
	return algotest.Form{}, fmt.Errorf("there is no algorithm or variant %q, nor a mutant of %s in which it "+
		"is so", title, of.Name)
}

// mutantOf returns the mutant that changes a rule of an algorithm, or of a variant of it; nil: no such
// mutant.
func mutantOf(of *algorithm.Algorithm, rule string) *mutant {
	for _, m := range mutants() {
		if m.rule == rule && strings.HasPrefix(m.sound.Name, of.Name) {
			return &m
		}
	}
	return nil
}

// huntForm simulates a form with the faults of the schedule, but not in its order of events: the checks catch
// a mutant, and find no fault in a sound form.
func huntForm(t *testing.T, s *replay.Schedule, f algotest.Form) {
	m, seeds := mutant{spec: *f.Algorithm, sound: f.Algorithm}, soak.Pick[uint64](5, 20, 1000)
	if f.Fails != "" {
		m, seeds = *mutantOf(s.Spec, f.Title), budget
	}
	m.config = s.Config
	for _, step := range s.Steps {
		m.copies = m.copies || step.What == replay.StepDuplicate
		m.suspects = m.suspects || step.What == replay.StepSuspect && !m.crashes
		m.crashes = m.crashes || step.What == replay.StepCrash
		m.restarts = m.restarts || step.What == replay.StepRestart || step.What == replay.StepAmnesia
	}
	m.crashes = m.crashes && !m.restarts // a node that restarts has crashed
	switch c, err := m.hunt(seeds); {
	case err != nil:
		t.Fatal(err)
	case f.Fails != "" && !m.fits(c.by):
		t.Errorf("simulated, the mutant in which %s is caught by %q, and not %s", m.rule, c.by, m.fails)
	case f.Sound && c.by != "":
		t.Errorf("simulated, %s is not sound: seed %d: %s: %s", f.Name, c.seed, c.by, c.says)
	}
}

// Each schedule, when played, tells the story below it in its file. A test with -rewrite writes the stories.
func TestGoldensOfAlgorithms(t *testing.T) { algotest.Goldens(t, 40, Find, form, huntForm) }
