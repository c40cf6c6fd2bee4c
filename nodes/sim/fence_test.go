package sim

import (
	"testing"
	"time"

	"turnstile/chaos"
	"turnstile/chaos/effect"
	"turnstile/judge/check"
	"turnstile/nodes"
)

// A holder that is paused for longer than its lease is inside together with the next holder. A resource that
// compares fence numbers refuses the late write, so the check exclusion is valid; another resource does not.
func TestFencesMakeLeasesSafe(t *testing.T) {
	for _, test := range []struct {
		name                string
		pauses              bool
		compares, claims    bool // the resource compares fence numbers; the run says that it does
		outcome             check.Outcome
		overlap, lostUpdate bool
	}{
		{"nobody stands still", false, true, true, check.Valid, false, false},
		{"fenced", true, true, true, check.Valid, true, false},
		{"unfenced", true, false, false, check.Violated, true, true},
		{"a resource that does not compare", true, false, true, check.Violated, true, true},
	} {
		o := options(t, "central-lease", 3)
		spec, c := o.Stack.Instances()[0].Algorithm, nodes.Config{N: 3, Fenced: test.compares}.With("lease", "20ms")
		o.Stack = stackOf(spec, c)
		if test.pauses {
			suffer(&o, chaos.Fault{Effect: &effect.Pause{Who: effect.Target{Word: "holder"}},
				Schedule: chaos.Schedule{At: 30 * time.Millisecond, For: 100 * time.Millisecond}})
		}
		r := mustRun(t, o)
		c.Fenced = test.claims
		o.Stack = stackOf(spec, c)
		v := verdict(o, r)
		refused := 0
		for i := range r.Events {
			if r.Events[i].Refused() {
				refused++
			}
		}
		if v.Outcome != test.outcome || (v.Overlap > 0) != test.overlap || (v.LostUpdates > 0) != test.lostUpdate ||
			(refused > 0) != (test.compares && test.pauses) {
			t.Errorf("%s: %v: %s; %v of overlap, %d lost, %d refused", test.name, v.Outcome, v.Reason, v.Overlap,
				v.LostUpdates, refused)
		}
		if f := v.Findings[0]; f.Check != "exclusion" || f.Outcome != test.outcome {
			t.Errorf("%s: %s: %v: %s", test.name, f.Check, f.Outcome, f.Says)
		}
	}
}
