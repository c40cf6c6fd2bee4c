//go:build linux

package bench

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"turnstile/bench/agent"
	"turnstile/judge/check"
)

// Of two hosts one has a clock that is 200 ms ahead and runs 300 ppm faster. That is measured, and stamps are
// corrected: a sound algorithm is found so, and one that is broken is found out.
func TestHostsWithDifferentClocks(t *testing.T) {
	begun := agent.Monotonic()
	const ahead, ppm = int64(200 * time.Millisecond), 300
	t.Setenv(testClock, fmt.Sprintf("%d %d %d", begun, ahead, ppm))
	for algorithm, want := range map[string]check.Outcome{
		"ricart-agrawala": check.Valid, "naive-broadcast": check.Violated,
	} {
		o := overHosts(algorithm, 4, 2)
		o.Duration = 600 * time.Millisecond
		if err := o.Workload.Hold.Set("20ms"); err != nil {
			t.Fatal(err)
		}
		r := takeApart(t, o)
		got, err := r.make(t.Context(), t)
		if err != nil {
			t.Fatal(err)
		}
		if v := got.Verdict; v.Outcome != want {
			t.Errorf("%s: %v: %s", algorithm, v.Outcome, v.Reason)
		}
		if bound, known := got.Row.ClockErrorUS.Value(); !known || bound < 1 || bound > 100_000 {
			t.Errorf("%s: its clocks agree within %v us", algorithm, bound)
		}
		clocks := r.trial.transport.site.fleet.clocks
		if !clocks[0].same || clocks[1].same {
			t.Fatal("it is not known whose clock is another")
		}
		now := agent.Monotonic()
		clocks[1].mu.Lock()
		offset, bound, known := clocks[1].estimator.Offset(now)
		clocks[1].mu.Unlock()
		ahead := ahead + (now-begun)*ppm/1_000_000
		if off := math.Abs(float64(offset - ahead)); !known || off > float64(bound) {
			t.Errorf("the clock is %d ns ahead, and measured as %d within %d", ahead, offset, bound)
		}
		if want == check.Violated && !strings.Contains(got.Verdict.Reason, "overlapped") {
			t.Errorf("it is found out by other witnesses alone: %s", got.Verdict.Reason)
		}
	}
}
