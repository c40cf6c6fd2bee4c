package replay

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"turnstile/algorithms/mutex"
	"turnstile/nodes/algorithm"
)

// staged plays steps of naive-broadcast, and returns the stage.
func staged(t *testing.T, n int, steps string) *Stage {
	t.Helper()
	text := fmt.Sprintf("turnstile schedule 1\nalgorithm naive-broadcast\nn %d\n\n%s", n, steps)
	s, err := Parse(strings.NewReader(text), mutex.Find)
	if err != nil {
		t.Fatal(err)
	}
	stack, err := algorithm.Assemble(algorithm.Instance{Algorithm: s.Spec, Config: s.Config})
	if err != nil {
		t.Fatal(err)
	}
	g := NewStage(stack, s, func(string) bool { return true })
	g.Start()
	for _, step := range s.Steps {
		if err := g.Play(step); err != nil {
			t.Fatal(step, err)
		}
	}
	return g
}

// A copy of a stage goes on by itself: neither changes the other, also where both add to their stories.
func TestCloneOfAStage(t *testing.T) {
	g := staged(t, 3, "req 0; req 1; 0>1 request; pause 2")
	copied := g.Clone()
	before := copied.Clone().End()
	for g.found == nil {
		moved := false
		for _, step := range g.Enabled() {
			if step.What == StepDeliver || step.What == StepResume {
				moved = true
				if err := g.Play(step); err != nil {
					t.Fatal(step, err)
				}
				break
			}
		}
		if !moved {
			break
		}
	}
	after := copied.Clone().End()
	if !reflect.DeepEqual(before.Story, after.Story) || !reflect.DeepEqual(before.History, after.History) {
		t.Errorf("the copy has changed:\n%v\n%v", before.Story, after.Story)
	}
	if g.state() == copied.state() {
		t.Error("the original has not gone on")
	}
}

// Every step that Enabled lists can be taken, and a step of another kind about the same node cannot.
func TestEnabledStepsCanBeTaken(t *testing.T) {
	for _, steps := range []string{"", "req 0; req 1", "req 0; 0>1 request; pause 1", "req 0; crash 1",
		"req 0; cut 0/1-2; req 1", "req 0; 0>1 request; 0>2 request; 1>0 reply; 2>0 reply"} {
		g := staged(t, 3, steps)
		all := g.Enabled()
		if len(all) == 0 {
			t.Errorf("%q: nothing can happen", steps)
		}
		for _, step := range all {
			if err := g.Clone().Play(step); err != nil {
				t.Errorf("%q, %v: %v", steps, step, err)
			}
		}
	}
}

func TestPauseAndCut(t *testing.T) {
	g := staged(t, 3, "req 0; pause 1")
	for _, step := range g.Enabled() {
		if step.What == StepDeliver && step.To == 1 || step.What == StepRequest && step.Node == 1 {
			t.Errorf("%v can happen at a paused node", step)
		}
	}
	g = staged(t, 3, "cut 0/1-2; req 0; req 1; heal; req 2")
	var flying []string
	for i := range g.Flying {
		flying = append(flying, g.About(StepDeliver, &g.Flying[i]).String())
	}
	want := "1>2 request, 2>0 request, 2>1 request"
	if got := strings.Join(flying, ", "); got != want {
		t.Errorf("on their way are %s, want %s", got, want)
	}
	said := "the network drops a request from node 0 to node 1, since a cut is between the two"
	if !strings.Contains(strings.Join(g.Story, "\n"), said) {
		t.Errorf("the story does not say that a cut drops messages: %s", g.Story)
	}
}
