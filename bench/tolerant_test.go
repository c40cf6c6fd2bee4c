package bench

import (
	"fmt"
	"regexp"
	"slices"
	"testing"
	"time"

	"turnstile/bench/option"
	"turnstile/chaos"
	"turnstile/internal/chance"
	"turnstile/internal/soak"
	"turnstile/judge/check"
	"turnstile/nodes"
	"turnstile/nodes/mutex"
	"turnstile/nodes/row"
	"turnstile/nodes/workload"
)

// tolerant reports whether an algorithm is to outlast crashes.
func tolerant(row *row.Row) bool { return row.Flaw == nil && row.Live&nodes.NoCrash == 0 }

// Every algorithm that is to outlast crashes stands each scenario of fault tolerance, at other moments with
// each seed: as long as the run is inside its model, exclusion holds and all who wait enter after the heal.
// Where fences are demanded, the resource never accepts what is stale, whoever is suspected wrongly.
func TestTolerantRowsStandAllScenarios(t *testing.T) {
	scenario := regexp.MustCompile(`\(F[0-9]+\)`)
	for _, row := range mutex.Table {
		if !tolerant(row) {
			continue
		}
		for _, plan := range chaos.Scenarios() {
			if scenario.MatchString(plan.About) && plan.Suits(row) {
				t.Run(fmt.Sprintf("%s/%s", row.Name, plan.Name), func(t *testing.T) {
					t.Parallel()
					inside := 0
					for seed := range soak.Pick[uint64](1, 3, 100) {
						inside += stands(t, row, plan, seed+1, false)
						if row.Fenced {
							inside += stands(t, row, plan, seed+1, true)
						}
					}
					t.Logf("%d runs inside its model", inside)
				})
			}
		}
	}
}

// crowded returns the options of runs of five clients that think and request, four seconds long.
func crowded(t *testing.T, row string) Options {
	o := option.Defaults()
	think, err := chance.ParseDistribution("exponential:20ms")
	if err != nil {
		t.Fatal(err)
	}
	o.Algorithm, o.Config.N, o.Duration = row, 5, 4*time.Second
	o.Latency = chance.Constant(time.Millisecond)
	o.Workload.Load, o.Workload.Think = workload.Closed, think
	o.Workload.Hold = chance.Constant(5 * time.Millisecond)
	return o
}

// stands has an algorithm run under a plan, and counts whether the run stayed inside its model.
func stands(t *testing.T, row *row.Row, plan *chaos.Plan, seed uint64, fenced bool) (inside int) {
	t.Helper()
	o := crowded(t, row.Name)
	o.Seed, o.Config.Fenced = seed, fenced
	o.Plan, o.Faults, o.Brokers = plan.Name, slices.Clone(plan.Faults), plan.Brokers
	r, err := tryRun(t, row, o)
	if err != nil {
		t.Fatalf("seed %d, fenced %t: %v", seed, fenced, err)
	}
	v := r.Verdict
	for _, f := range v.Findings {
		// What lasted, such as a wrong suspicion, is over at the end, and excuses what it led to before.
		if !f.OutsideModel && (f.Outcome == check.Violated || f.Outcome != check.Valid && v.Broken == 0) {
			t.Errorf("seed %d, fenced %t: %v: %s: %s", seed, fenced, f.Outcome, f.Check, f.Says)
		}
	}
	if v.Broken != 0 {
		return 0
	}
	return 1
}
