package mutex

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"turnstile/internal/soak"
	"turnstile/nodes"
	"turnstile/nodes/explore"
)

var rewrite = flag.Bool("rewrite", false, "write what the schedules in testdata tell into their files")

// A golden is a file of testdata: a schedule of a row, which simulate --replay plays too, and below it what
// it tells. A line
//
//	---- replies are counted, whoever they are from
//
// begins what it tells when a mutant, by its rule, or a variant, by its name, plays it, from where that
// departs; a line of dashes alone, what the row tells. What should be so (in, none) is said of the row.
type golden struct {
	schedule *explore.Schedule
	text     string   // of the schedule
	forms    []string // that play it; empty: the row
	told     string   // all that they tell, as it should stand in the file
}

// A form is what plays a schedule: a row, a variant of it, or a mutant.
type form struct {
	*nodes.Spec
	mutant *mutant // nil: it is sound, unless its row is known to be broken
}

func readGolden(path string) (*golden, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	g := &golden{}
	if g.schedule, err = explore.ParseSchedule(bytes.NewReader(b), Find); err != nil {
		return nil, err
	}
	if folder := filepath.Base(filepath.Dir(path)); folder != g.schedule.Spec.Name {
		return nil, fmt.Errorf("it is a schedule of %s, in the folder of %s", g.schedule.Spec.Name, folder)
	}
	for line := range strings.Lines(string(b)) {
		if title, ok := strings.CutPrefix(line, "----"); ok {
			g.forms = append(g.forms, strings.TrimSpace(title))
		}
		if g.forms == nil {
			g.text += line
		} else {
			g.told += line
		}
	}
	return g, nil
}

// form returns the form that a title names.
func (g *golden) form(title string) (form, error) {
	row := g.schedule.Spec
	if title == "" {
		return form{Spec: row}, nil
	}
	for _, v := range variants {
		if v.Name == title {
			return form{Spec: v}, nil
		}
	}
	for _, m := range mutants() {
		if m.rule == title && strings.HasPrefix(m.sound.Name, row.Name) {
			return form{&m.spec, &m}, nil
		}
	}
	return form{}, fmt.Errorf("%s has neither a variant %q nor a mutant in which it is so", row.Name, title)
}

// play has a form play the schedule.
func (g *golden) play(f form) (*explore.Replayed, error) {
	s := *g.schedule
	if s.Spec != f.Spec {
		s.Spec = f.Spec
		s.Steps = slices.DeleteFunc(slices.Clone(s.Steps), func(step explore.Step) bool {
			return step.What == explore.StepIn || step.What == explore.StepNone
		})
	}
	return explore.Replay(&s)
}

// tell returns what all forms tell.
func (g *golden) tell(t *testing.T) string {
	var b strings.Builder
	var first []string // the story of the first form
	for _, title := range g.forms {
		f, err := g.form(title)
		if err != nil {
			t.Fatal(err)
		}
		r, err := g.play(f)
		if err != nil {
			t.Fatalf("%s: %v", title, err)
		}
		fmt.Fprintln(&b, strings.TrimSpace("---- "+title))
		same := 0
		for same < min(len(first), len(r.Story)) && first[same] == r.Story[same] {
			same++
		}
		if first == nil {
			first = r.Story
		} else {
			fmt.Fprintf(&b, "... %d lines as above\n", same)
		}
		b.WriteString(explore.Told(r.Story[same:], r.Violation))
		if _, graph, _ := strings.Cut(r.Status, "Who waits for whom:\n"); strings.Contains(graph, "->") {
			b.WriteString(graph)
		}
		f.judge(t, r.Violation)
		if !testing.Short() {
			g.hunt(t, f)
		}
	}
	return b.String()
}

// judge wants mutants to fail as they say they do, and what is sound not to.
func (f form) judge(t *testing.T, v *explore.Violation) {
	broken := v != nil && v.OutsideModel == 0
	switch {
	case f.mutant == nil && broken && f.Broken == "":
		t.Errorf("%s is broken: %s", f.Name, v.Says)
	case f.mutant != nil && !broken:
		t.Errorf("the mutant in which %s is not broken", f.mutant.rule)
	case f.mutant != nil && !f.mutant.fits(propertyOf[v.Check]):
		t.Errorf("the mutant in which %s breaks %s, and not %s", f.mutant.rule, v.Check, f.mutant.fails)
	}
}

// hunt simulates a form without the schedule, with the faults that are in it: a mutant is caught, and what is
// sound is not.
func (g *golden) hunt(t *testing.T, f form) {
	m, seeds := mutant{spec: *f.Spec, sound: f.Spec}, soak.Pick[uint64](0, 20, 1000)
	if f.mutant != nil {
		m, seeds = *f.mutant, budget
	}
	m.config = g.schedule.Config
	for _, step := range g.schedule.Steps {
		m.copies = m.copies || step.What == explore.StepDuplicate
		m.suspects = m.suspects || step.What == explore.StepSuspect && !m.crashes
		m.crashes = m.crashes || step.What == explore.StepCrash
		m.restarts = m.restarts || step.What == explore.StepRestart || step.What == explore.StepAmnesia
	}
	m.crashes = m.crashes && !m.restarts // whoever restarts has crashed
	switch c, err := m.hunt(seeds); {
	case err != nil:
		t.Fatal(err)
	case f.mutant != nil && !m.fits(c.by):
		t.Errorf("simulated, the mutant in which %s is caught by %q, and not %s", m.rule, c.by, m.fails)
	case f.mutant == nil && f.Broken == "" && c.by != "":
		t.Errorf("simulated, %s is not sound: seed %d: %s: %s", f.Name, c.seed, c.by, c.says)
	}
}

// propertyOf is what is broken if an exploration finds something.
var propertyOf = map[string]string{explore.CheckExclusion: "exclusion", explore.CheckDeadlock: "progress",
	explore.CheckStarvation: "progress", explore.CheckPanic: "panic", explore.CheckFairness: "fairness"}

// Each schedule tells what stands below it. A test with -rewrite writes that anew.
func TestGoldensOfRows(t *testing.T) {
	paths, err := filepath.Glob("testdata/*/*.txt")
	if err != nil || len(paths) < 40 {
		t.Fatalf("%d schedules, %v", len(paths), err)
	}
	for _, path := range paths {
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.ToSlash(path), "testdata/"), ".txt")
		t.Run(name, func(t *testing.T) {
			g, err := readGolden(path)
			if err != nil {
				t.Fatal(err)
			}
			told := g.tell(t)
			switch {
			case told == g.told && told != "":
			case *rewrite:
				if err := os.WriteFile(path, []byte(g.text+told), 0o644); err != nil {
					t.Fatal(err)
				}
			default:
				t.Errorf("it tells something else; with -rewrite, this test writes it into the file:\n%s",
					cmp.Diff(g.told, told))
			}
		})
	}
}
