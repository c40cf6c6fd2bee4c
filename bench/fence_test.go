//go:build linux

package bench

import (
	"fmt"
	"testing"
	"time"

	"turnstile/bench/option"
	"turnstile/chaos"
	"turnstile/chaos/effect"
	"turnstile/internal/chance"
	"turnstile/judge/check"
	"turnstile/nodes/workload"
)

// A process that is stopped inside for longer than its lease is there together with the next. By the fence
// numbers the resource refuses what it writes then; without them an update is lost.
func TestFencesMakeLeasesSafe(t *testing.T) {
	for i := range 4 {
		fenced, resource, want := i%2 == 0, "", check.Violated
		if fenced {
			want = check.Valid
		}
		if i > 1 {
			resource = option.ResourceProcess
		}
		t.Run(fmt.Sprintf("fenced %t %s", fenced, resource), func(t *testing.T) {
			t.Parallel()
			o := option.Defaults()
			o.Algorithm, o.Config.N, o.Workload.Load = "central-lease", 3, workload.Saturated
			o.Config = o.Config.With("lease", "50ms")
			o.Config.Fenced, o.Resource = fenced, resource
			o.Workload.Hold = chance.Constant(5 * time.Millisecond)
			o.Warmup, o.Duration, o.Entries = 0, 0, 110
			o.Faults = []chaos.Fault{{Effect: &effect.Pause{Who: effect.Target{Word: "holder"}},
				Schedule: chaos.Schedule{At: 50 * time.Millisecond, For: 300 * time.Millisecond}}}
			r, err := makeRun(t, o)
			v := r.Trials[0].Verdict
			if v.Outcome != want || v.Overlap == 0 || (v.LostUpdates > 0) != (want == check.Violated) {
				t.Errorf("%v: %s; %v of overlap, %d updates lost; %v", v.Outcome, v.Reason, v.Overlap, v.LostUpdates,
					err)
			}
		})
	}
}
