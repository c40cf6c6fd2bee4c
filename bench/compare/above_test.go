package compare

import (
	"strings"
	"testing"

	"turnstile/judge/check"
)

// A candidate with a violated trial fails, whatever it measured in other trials.
func TestABrokenPromiseFails(t *testing.T) {
	with := func(verdict string, first int) func(t *Trial) {
		return func(t *Trial) {
			if t.Version = "v1"; t.Trial <= first {
				t.Verdict = verdict
			}
		}
	}
	for _, c := range []struct {
		a, b func(t *Trial)
		wait float64 // of b, beside 100
		want check.Outcome
		says string
	}{
		{nil, nil, 50, check.Valid, "PASSED"},
		{nil, nil, 150, check.Violated, "FAILED: worse by more than 5%: "},
		{nil, with("violated", 2), 50, check.Violated, "FAILED: of b, 2 trials are violated"},
		{nil, with("violated", 12), 50, check.Violated, "FAILED: of b, 12 trials are violated"},
		{with("violated", 1), nil, 50, check.Inconclusive, "INCONCLUSIVE: of a, 1 trial is violated"},
		{with("violated", 1), with("violated", 1), 50, check.Violated, "FAILED: of b, 1 trial is violated"},
		{nil, with("inconclusive", 12), 50, check.Inconclusive, "INCONCLUSIVE: no trial of b is valid; "},
		{nil, with("inconclusive", 2), 50, check.Valid, "PASSED"},
	} {
		made, err := Sides(sideOf("a", maker{algorithm: "maekawa", n: 12, wait: 100, change: c.a}),
			sideOf("b", maker{algorithm: "maekawa", n: 12, wait: c.wait, change: c.b}),
			Request{Metrics: []string{"wait_us_p99", "entries_per_s"}})
		if err != nil {
			t.Fatal(err)
		}
		if outcome, says := made.Above(0.05, "5%"); outcome != c.want || !strings.HasPrefix(says, c.says) {
			t.Errorf("%v: %s; not %v: %s", outcome, says, c.want, c.says)
		}
	}
}
