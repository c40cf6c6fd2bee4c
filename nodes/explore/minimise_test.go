package explore

import (
	"strings"
	"testing"

	"turnstile/algorithms/mutex"
	"turnstile/internal/ddmin"
	"turnstile/judge/check"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/replay"
)

// longestDrop is how many steps minimise tries to drop at once.
const longestDrop = 32

// failed returns the check that a play fails, and the broken assumptions that this check needs.
func failed(r *replay.Played, err error) (string, nodes.Assumption) {
	if err != nil {
		return err.Error(), 0
	}
	v := check.Judge(r.History, check.SettingOfReplay(r.Stack))
	return v.Failed()
}

// minimise drops steps from the schedule, one or several in a row, as long as the same check still fails.
func minimise(s *replay.Schedule) (*replay.Schedule, error) {
	r, err := replay.Play(s)
	if err != nil || r.Violation == nil {
		return s, err
	}
	_, outside := failed(r, err)
	less := *s
	less.Steps = ddmin.Reduce(s.Steps, longestDrop, func(steps []replay.Step) bool {
		fewer := *s
		fewer.Steps = steps
		got, err := replay.Play(&fewer)
		if err != nil || got.Violation == nil || got.Violation.Check != r.Violation.Check {
			return false
		}
		_, now := failed(got, nil)
		return now == outside
	})
	return &less, nil
}

// Steps that a violation does not need are dropped, and what is left is as short as what Explore finds.
func TestMinimise(t *testing.T) {
	const head = "turnstile schedule 1\nalgorithm naive-broadcast\nn 2\n"
	s, err := replay.Parse(strings.NewReader(head+strings.Join([]string{"req 1", "1>0 request", "0>1 reply",
		"exit 1", "req 0", "req 1", "0>1 request", "1>0 request", "dup 0>1 reply", "0>1 reply", "0>1 reply",
		"1>0 reply"}, "\n")), mutex.Find)
	if err != nil {
		t.Fatal(err)
	}
	less, err := minimise(s)
	if err != nil || len(less.Steps) != 6 {
		t.Fatalf("minimised: %v, %v", less, err)
	}
	if r, err := replay.Play(less); err != nil || r.Violation == nil ||
		r.Violation.Check != replay.CheckExclusion {
		t.Errorf("replayed: %+v, %v", r, err)
	}
}

func alone(spec *algorithm.Algorithm) func(string) (*algorithm.Algorithm, error) {
	return func(string) (*algorithm.Algorithm, error) { return spec, nil }
}

// See replays in fuzz_test.go, which minimises the schedules of violations.
