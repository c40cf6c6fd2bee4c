package mutex

import (
	"flag"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"turnstile/internal/soak"
	"turnstile/judge/check"
	"turnstile/nodes"
	"turnstile/nodes/replay"
	"turnstile/nodes/replay/story"
	"turnstile/nodes/row"
)

var rewrite = flag.Bool("rewrite", false, "write what the schedules in testdata tell into their files")

// A golden is a story of a row, which simulate --replay plays too. It is told by the row, by mutants, each by
// its rule, and by variants, each by its name.
type golden struct{ *story.Story }

// A form is what plays a schedule: a row, a variant of it, or a mutant.
type form struct {
	*row.Row
	mutant *mutant // nil: it is sound, unless its row is known to be broken
}

// form returns the form that a title names.
func (g *golden) form(title string) (form, error) {
	row := g.Schedule.Spec
	if title == "" {
		return form{Row: row}, nil
	}
	for _, v := range variants {
		if v.Name == title {
			return form{Row: v}, nil
		}
	}
	for _, m := range mutants() {
		if m.rule == title && strings.HasPrefix(m.sound.Name, row.Name) {
			return form{&m.spec, &m}, nil
		}
	}
	return form{}, fmt.Errorf("%s has neither a variant %q nor a mutant in which it is so", row.Name, title)
}

// tell returns what all forms tell.
func (g *golden) tell(t *testing.T) string {
	told, err := g.Tell(func(title string) (*replay.Played, string, nodes.Assumption, error) {
		f, err := g.form(title)
		if err != nil {
			return nil, "", 0, err
		}
		r, err := g.Play(f.Row)
		if err != nil {
			return nil, "", 0, err
		}
		v := check.Judge(r.History, check.SettingOfReplay(r.Stack))
		f.judge(t, v)
		g.hunt(t, f)
		failed, broken := v.Failed()
		return r, failed, broken, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return told
}

// judge wants mutants to fail as they say they do, and what is sound not to.
func (f form) judge(t *testing.T, v check.Verdict) {
	broken := v.Outcome == check.Violated && !v.OutsideModel
	switch {
	case f.mutant == nil && broken && f.Flaw == nil:
		t.Errorf("%s is broken: %s", f.Name, v.Reason)
	case f.mutant != nil && !broken:
		t.Errorf("the mutant in which %s is not broken: %s", f.mutant.rule, v.Reason)
	case f.mutant != nil && !f.mutant.fits(v.Worst().Check):
		t.Errorf("the mutant in which %s breaks %s, and not %s", f.mutant.rule, v.Worst().Check, f.mutant.fails)
	}
}

// hunt simulates a form without the schedule, with the faults that are in it: a mutant is caught, and what is
// sound is not.
func (g *golden) hunt(t *testing.T, f form) {
	m, seeds := mutant{spec: *f.Row, sound: f.Row}, soak.Pick[uint64](5, 20, 1000)
	if f.mutant != nil {
		m, seeds = *f.mutant, budget
	}
	m.config = g.Schedule.Config
	for _, step := range g.Schedule.Steps {
		m.copies = m.copies || step.What == replay.StepDuplicate
		m.suspects = m.suspects || step.What == replay.StepSuspect && !m.crashes
		m.crashes = m.crashes || step.What == replay.StepCrash
		m.restarts = m.restarts || step.What == replay.StepRestart || step.What == replay.StepAmnesia
	}
	m.crashes = m.crashes && !m.restarts // whoever restarts has crashed
	switch c, err := m.hunt(seeds); {
	case err != nil:
		t.Fatal(err)
	case f.mutant != nil && !m.fits(c.by):
		t.Errorf("simulated, the mutant in which %s is caught by %q, and not %s", m.rule, c.by, m.fails)
	case f.mutant == nil && f.Flaw == nil && c.by != "":
		t.Errorf("simulated, %s is not sound: seed %d: %s: %s", f.Name, c.seed, c.by, c.says)
	}
}

// Each schedule tells what stands below it. A test with -rewrite writes that anew.
func TestGoldensOfRows(t *testing.T) {
	paths, err := filepath.Glob("testdata/*/*.txt")
	if err != nil || len(paths) < 40 {
		t.Fatalf("%d schedules, %v", len(paths), err)
	}
	for _, path := range paths {
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.ToSlash(path), "testdata/"), ".txt")
		t.Run(name, func(t *testing.T) {
			read, err := story.Read(path, Find)
			if err != nil {
				t.Fatal(err)
			}
			g := &golden{read}
			told := g.tell(t)
			switch {
			case told == g.Told && told != "":
			case *rewrite:
				if err := g.Rewrite(told); err != nil {
					t.Fatal(err)
				}
			default:
				t.Errorf("it tells something else; with -rewrite, this test writes it into the file:\n%s",
					cmp.Diff(g.Told, told))
			}
		})
	}
}
