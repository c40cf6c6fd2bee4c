package bench

import (
	"strings"
	"testing"
	"time"

	"turnstile/bench/option"
	"turnstile/internal/chance"
	"turnstile/judge/check"
	"turnstile/nodes/history"
	"turnstile/nodes/mutex"
	"turnstile/nodes/sim"
	"turnstile/nodes/workload"
)

// Where it is known how many messages the entries of a run take, the run is held to that: in Naimi-Trehel
// one request at a time, in Raymond's algorithm under any load.
func TestRunsAreHeldToExactCosts(t *testing.T) {
	for _, c := range []struct {
		algorithm string
		load      workload.Load
		exact     bool
	}{
		{"naimi-trehel", workload.Sequential, true},
		{"naimi-trehel", workload.Saturated, false},
		{"raymond", workload.Saturated, true},
		{"maekawa", workload.Saturated, false},
	} {
		row, err := mutex.Find(c.algorithm)
		if err != nil {
			t.Fatal(err)
		}
		o := option.Defaults()
		o.Algorithm, o.Workload.Load, o.Entries, o.Duration = c.algorithm, c.load, 500, 0
		o.Latency, o.Workload.Hold = chance.Constant(time.Millisecond), chance.Constant(time.Millisecond)
		job := drafted(t, row, o, true)
		j := job.judgementOf(history.Header{}, job.setting(nil))
		if _, err := sim.Run(*simulated(t, o, row), j); err != nil {
			t.Fatal(err)
		}
		for _, f := range j.checks.Verdict().Findings {
			if f.Check == "cost" && (f.Outcome != check.Valid || strings.Contains(f.Says,
				"exactly") != c.exact) {
				t.Errorf("%s, %s: %v: %s", c.algorithm, c.load, f.Outcome, f.Says)
			}
		}
	}
}
