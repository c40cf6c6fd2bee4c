package experiment

import "testing"

// searched runs a search from 0 to 99 over answers, and returns what it has found
// and how many probes it made.
func searched(t *testing.T, start, stride int, answers func(at int) answer) (found, int) {
	t.Helper()
	asked := map[int]bool{}
	s := &search{least: 0, most: 99, start: start, stride: stride, widest: 32}
	s.probe = func(at int) answer {
		if at < 0 || at > 99 || asked[at] {
			t.Errorf("from %d by %d: %d is asked for, after %v", start, stride, at, asked)
		}
		asked[at] = true
		return answers(at)
	}
	got := s.run()
	if len(asked) > s.mostProbes() {
		t.Errorf("from %d by %d: %d probes, and at most %d were said", start, stride, len(asked), s.mostProbes())
	}
	return got, len(asked)
}

func TestASearchFindsTheStep(t *testing.T) {
	for _, start := range []int{-5, 0, 1, 40, 98, 99, 200} {
		for _, stride := range []int{1, 4, 32} {
			for step := -1; step <= 99; step++ {
				got, _ := searched(t, start, stride, func(at int) answer {
					if at <= step {
						return passes
					}
					return fails
				})
				next := fails
				if step == 99 {
					next = passes
				}
				if want := (found{step, next, false}); got != want {
					t.Errorf("a step at %d, from %d by %d: %+v", step, start, stride, got)
				}
			}
		}
	}
}

func TestASearchNearTheStepTakesFewProbes(t *testing.T) {
	step := func(at int) answer {
		if at <= 50 {
			return passes
		}
		return fails
	}
	if _, probes := searched(t, 51, 4, step); probes > 4 {
		t.Errorf("%d probes from beside the step", probes)
	}
	if _, probes := searched(t, 0, 32, step); probes > 8 {
		t.Errorf("%d probes from the least", probes)
	}
}

func TestASearchOfOtherAnswers(t *testing.T) {
	all := func(a answer) func(int) answer { return func(int) answer { return a } }
	for name, c := range map[string]struct {
		answers func(at int) answer
		want    found
	}{
		"never passes":  {all(fails), found{-1, fails, false}},
		"never says":    {all(unsure), found{-1, unsure, false}},
		"always passes": {all(passes), found{99, passes, false}},
		"violates":      {all(violates), found{20, violates, true}},
		"cannot be":     {all(unanswered), found{20, unanswered, true}},
		"an unknown is no pass": {func(at int) answer {
			if at < 30 {
				return passes
			}
			return unsure
		}, found{29, unsure, false}},
		"violates above": {func(at int) answer {
			if at < 30 {
				return passes
			}
			return violates
		}, found{52, violates, true}},
	} {
		if got, _ := searched(t, 20, 32, c.answers); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// Where answers go up and down, the search ends, at a number that passes before one that does not.
func TestASearchOfNoisyAnswersEnds(t *testing.T) {
	for seed := range 500 {
		noisy := func(at int) answer {
			switch x := (at*at*31 + at*17 + seed*7919) % 101; {
			case at < 30 || at < 70 && x < 50:
				return passes
			case x%3 == 0:
				return unsure
			}
			return fails
		}
		got, _ := searched(t, seed%100, 1+seed%32, noisy)
		if got.stopped || got.at < 0 || got.at > 69 || noisy(got.at) != passes || noisy(got.at+1) != got.next {
			t.Errorf("seed %d: %+v", seed, got)
		}
	}
}
