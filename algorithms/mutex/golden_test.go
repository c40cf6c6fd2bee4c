package mutex

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"turnstile/internal/soak"
	"turnstile/judge/rowtest"
	"turnstile/nodes/replay"
	"turnstile/nodes/row"
)

// form returns what plays the stories of a row under a title: a variant by its name, or another row with the
// same messages, or a mutant by its rule.
func form(of *row.Row, title string) (rowtest.Form, error) {
	if title == "" {
		return rowtest.Form{Row: of, Sound: of.Flaw == nil}, nil
	}
	for _, v := range slices.Concat(variants, Table) {
		if v.Name == title {
			return rowtest.Form{Row: v, Sound: v.Flaw == nil}, nil
		}
	}
	if m := mutantOf(of, title); m != nil {
		return rowtest.Form{Row: &m.spec, Title: title, Fails: m.fails, Inside: true}, nil
	}
	return rowtest.Form{}, fmt.Errorf("there is no row or variant %q, nor a mutant of %s in which it is so",
		title, of.Name)
}

// mutantOf returns the mutant of a row, or of its variants, in which a rule is changed; nil: no such mutant.
func mutantOf(of *row.Row, rule string) *mutant {
	for _, m := range mutants() {
		if m.rule == rule && strings.HasPrefix(m.sound.Name, of.Name) {
			return &m
		}
	}
	return nil
}

// huntForm simulates a form with the faults of the schedule, but not in its order of events: the checks catch
// a mutant, and find no fault in a sound form.
func huntForm(t *testing.T, s *replay.Schedule, f rowtest.Form) {
	m, seeds := mutant{spec: *f.Row, sound: f.Row}, soak.Pick[uint64](5, 20, 1000)
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
func TestGoldensOfRows(t *testing.T) { rowtest.Goldens(t, 40, Find, form, huntForm) }
