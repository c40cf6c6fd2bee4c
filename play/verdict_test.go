package play

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"turnstile/algorithms/catalog"
	"turnstile/judge/check"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/replay"
)

// checkVerdict checks that the page says that a promise is broken if and only if the checks say so, and that
// it names the assumptions that they name.
func checkVerdict(t *testing.T, s *Session, name string) {
	t.Helper()
	o := s.State()
	played := s.stage.Clone().End()
	v := check.Judge(played.History, check.SettingOfReplay(played.Stack))
	failed, broken := v.Failed()
	words := ""
	if broken != 0 {
		words = broken.Broken(true)
	}
	switch says := o.Found != nil || o.Stuck != ""; {
	case says != (failed != "") && !(v.Outcome == check.Inconclusive && failed == "fairness"):
		t.Errorf("%s, step %d: the page says %+v, %q; the checks say %v: %s", name, s.at, o.Found, o.Stuck,
			v.Outcome, v.Reason)
	case says && o.Broken != words:
		t.Errorf("%s, step %d: the page says that %q, and the checks that %q", name, s.at, o.Broken, words)
	}
	if !strings.HasPrefix(s.Verdict().Outcome, v.Outcome.String()) {
		t.Errorf("%s, step %d: the verdict is %v, and that of the checks %v", name, s.at, s.Verdict(), v.Outcome)
	}
}

// After each step of each story, the page agrees with the checks.
func TestVerdictsOfStories(t *testing.T) {
	all, err := readCatalog()
	if err != nil {
		t.Fatal(err)
	}
	for _, story := range all.Stories {
		if strings.Contains(story.text, "until lost-update") {
			continue // that it goes on after two are inside is what it is for
		}
		s := open(t, story.text)
		for at := range len(s.schedule.Steps) + 1 {
			if err := s.Back(at); err != nil {
				t.Fatal(story.Path, err)
			}
			checkVerdict(t, s, story.Path)
		}
	}
}

// After each of many random steps of each algorithm, with all sorts of faults, the page agrees with the
// checks. Going back and forward again changes nothing.
func TestVerdictsUnderFaults(t *testing.T) {
	for i, a := range (catalog.Table{}).Algorithms() {
		dice := rand.New(rand.NewPCG(uint64(i), 7))
		head := fmt.Sprintf("turnstile schedule 1\nalgorithm %s\nn %d\n", a.Name, 2+dice.IntN(3))
		for _, line := range []string{"reordering\n", "timing 1ms uniform:1ms,2ms\n"} {
			if dice.IntN(4) == 0 {
				head += line
			}
		}
		s := open(t, head)
		for range 40 {
			steps := someSteps(s, dice)
			if len(steps) == 0 {
				break
			}
			take(t, s, steps[dice.IntN(len(steps))])
			checkVerdict(t, s, a.Name)
		}
		before, verdict := s.State(), s.Verdict()
		for _, to := range []int{0, before.Steps} {
			if err := s.Back(to); err != nil {
				t.Fatal(err)
			}
		}
		if text := different(s.State(), before); text != "" || s.Verdict() != verdict {
			t.Errorf("%s: again it is %s, %v", a.Name, text, s.Verdict())
		}
	}
}

// someSteps returns steps that can be taken, also copies of messages and a cut, and others twice that are no
// faults.
func someSteps(s *Session, dice *rand.Rand) (steps []string) {
	o := s.State()
	for _, c := range o.Enabled {
		steps = append(steps, c.Step)
		if c.Group != "fault" && c.Group != "detector" {
			steps = append(steps, c.Step)
		}
	}
	if o.Found != nil {
		return nil
	}
	for _, f := range o.Flying {
		steps = append(steps, f.Copy)
	}
	return append(steps, fmt.Sprintf("cut 0/%d", 1+dice.IntN(s.stack.N()-1)))
}

// An algorithm panics when its client leaves.
type panicking struct{}

func (*panicking) Request(env *nodes.Env)                      { env.Grant() }
func (*panicking) Release(*nodes.Env)                          { panic("no state for this") }
func (*panicking) Receive(*nodes.Env, nodes.ID, nodes.Message) {}
func (*panicking) WaitsFor() (s nodes.Set)                     { return s }

// A machine that panics ends the play, and the page says where and why.
func TestPanicIsShown(t *testing.T) {
	a := &algorithm.Algorithm{Spec: nodes.Spec{Name: "panicking",
		New: func(nodes.Config) nodes.Machine { return &panicking{} }}, Mutex: &algorithm.Exclusion{}}
	steps := []replay.Step{{What: replay.StepRequest, Node: 1}, {What: replay.StepRelease, Node: 1}}
	s, err := Begin(&replay.Schedule{Spec: a, Config: nodes.Config{N: 2}, Steps: steps})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Back(2); err != nil {
		t.Fatal(err)
	}
	o := s.State()
	const says = "node 1 panics: no state for this"
	if o.Found == nil || o.Found.Check != replay.CheckPanic || o.Found.Says != says ||
		s.Verdict().Outcome != check.Violated.String() {
		t.Errorf("the page says %+v, and the verdict is %+v", o.Found, s.Verdict())
	}
}
