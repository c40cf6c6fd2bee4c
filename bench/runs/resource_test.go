//go:build linux

package runs

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"turnstile/bench"
	"turnstile/chaos"
	"turnstile/chaos/effect"
	"turnstile/internal/chance"
	"turnstile/judge/check"
	"turnstile/nodes/workload"
	"turnstile/option"
)

// found returns the outcome of a check in a verdict.
func found(v check.Verdict, by string) check.Outcome {
	i := slices.IndexFunc(v.Findings, func(f check.Finding) bool { return f.Check == by })
	return v.Findings[i].Outcome
}

// Runs with a resource process are judged like others, send the same messages, and count round trips
// separately.
func TestRunsWithAResourceProcess(t *testing.T) {
	for name, test := range map[string]struct {
		algorithm string
		change    func(*bench.Options)
		want      check.Outcome
		messages  string // messages per entry; empty: the number is not exact
		check     func(*testing.T, *TrialResult)
	}{
		"exact": {"ricart-agrawala", nil, check.Valid, "8", nil},
		"one at a time": {"ricart-agrawala", func(o *bench.Options) {
			o.Workload.Load, o.Entries = workload.Sequential, 20
		}, check.Valid, "8", nil},
		"two trials": {"ricart-agrawala", func(o *bench.Options) { o.Trials = 2 }, check.Valid, "8", nil},
		"broken": {"naive-broadcast", nil, check.Violated, "", func(t *testing.T, got *TrialResult) {
			for _, by := range []string{"register", "account"} {
				if found(got.Verdict, by) != check.Violated {
					t.Errorf("the %s finds nothing", by)
				}
			}
			if found(got.Verdict, "witnesses") != check.Valid {
				t.Error("the witnesses disagree")
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := option.Defaults()
			o.Algorithm, o.Config.N, o.Resource = test.algorithm, 5, option.ResourceProcess
			o.Warmup, o.Duration, o.Entries = 0, 0, 120
			if test.change != nil {
				test.change(&o)
			}
			r, err := makeRun(t, o)
			for _, got := range r.Trials {
				if got.Verdict.Outcome != test.want {
					got.errorf(t, "%v: %s; %v", got.Verdict.Outcome, got.Verdict.Reason, err)
				}
				if per := got.Row.MessagesPerEntry.String(); test.messages != "" && per != test.messages {
					t.Errorf("%s messages per entry, not %s", per, test.messages)
				}
				at := got.Row.Text("resource")
				if trips := got.Row.ResourceRoundTripsPerEntry.String(); trips != "3" || at != "process" {
					t.Errorf("%s round trips to the %s per entry", trips, at)
				}
				if us, known := got.Row.ResourceUSMean.Value(); !known || us <= 0 {
					t.Errorf("a round trip takes %v us", us)
				}
				if test.check != nil {
					test.check(t, got)
				}
			}
		})
	}
}

// Nodes may die at any moment of their round trips, come back, and lose their broker: the process takes dead
// nodes out of the register, and no fault affects it.
func TestFaultsDoNotTouchTheResourceProcess(t *testing.T) {
	restart := chaos.Schedule{At: 50 * time.Millisecond, For: 100 * time.Millisecond}
	killBroker := &effect.Kill{}
	if err := killBroker.Who.UnmarshalText([]byte("broker 0")); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		algorithm string
		fenced    bool
		fault     chaos.Fault
	}{
		"holder dies": {"central-failover", true,
			chaos.Fault{Effect: &effect.Kill{Who: effect.Target{Word: "holder"}}, Schedule: restart}},
		"broker dies": {"central-failover", true,
			chaos.Fault{Effect: killBroker, Schedule: restart}},
		"waiter dies": {"ricart-agrawala", false,
			chaos.Fault{Effect: &effect.Kill{Who: effect.Target{Word: "waiter"}}, Schedule: restart}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := option.Defaults()
			o.Algorithm, o.Config.N, o.Config.Fenced = test.algorithm, 3, test.fenced
			o.Resource, o.Warmup, o.WarmupLimit, o.Duration, o.Patience = option.ResourceProcess, 0, 0,
				250*time.Millisecond, impatience
			o.Faults = []chaos.Fault{test.fault}
			r, err := makeRun(t, o)
			v := r.Trials[0].Verdict
			for _, f := range v.Findings {
				if f.Outcome == check.Violated || f.Check == "witnesses" && f.Outcome != check.Valid {
					t.Errorf("%s: %v: %s; %v", f.Check, f.Outcome, f.Says, err)
				}
			}
			if v.Missed || v.Entries == 0 {
				t.Errorf("the fault has hit nobody, or nobody entered: %s", v.Reason)
			}
		})
	}
}

// A client that is suspended inside for longer than its lease is then inside together with the next client.
// With fence numbers the resource refuses the writes of the first client; without them an update is lost.
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
				r.Trials[0].errorf(t, "%v: %s; %v of overlap, %d updates lost; %v", v.Outcome, v.Reason, v.Overlap,
					v.LostUpdates, err)
			}
		})
	}
}
