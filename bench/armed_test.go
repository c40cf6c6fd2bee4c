//go:build linux

package bench

import (
	"strings"
	"testing"
	"time"

	"turnstile/bench/option"
	"turnstile/chaos"
	"turnstile/internal/chance"
	"turnstile/judge/check"
	"turnstile/nodes"
	"turnstile/nodes/workload"
)

// A run whose only request waits for ever ends, though a fault of its plan waits for somebody to enter: once
// the time for requests is over nobody will.
func TestARunEndsThoughAFaultIsStillArmed(t *testing.T) {
	t.Parallel()
	o := option.Defaults()
	o.Algorithm, o.Config = "ricart-agrawala", nodes.Config{N: 3}
	o.Workload = workload.Workload{Load: workload.Sequential, Hold: chance.Constant(100 * time.Microsecond)}
	o.Warmup, o.WarmupLimit, o.Duration = 0, 0, 600*time.Millisecond
	for _, text := range []string{"cut: 0/1/2, at: 100ms, for: 100ms", "pause: holder, at: 300ms, for: 10ms"} {
		fault, err := chaos.ParseFault(text)
		if err != nil {
			t.Fatal(err)
		}
		o.Faults = append(o.Faults, fault)
	}
	r, err := makeRun(t, o)
	if v := r.Trials[0].Verdict; v.Outcome != check.Inconclusive || !strings.Contains(v.Reason, "no progress") {
		t.Errorf("%v: %s; %v", v.Outcome, v.Reason, err)
	}
}
