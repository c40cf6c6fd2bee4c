//go:build linux

package bench

import (
	"bytes"
	"errors"
	"fmt"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"turnstile/bench/option"
	"turnstile/chaos"
	"turnstile/chaos/effect"
	"turnstile/internal/chance"
	"turnstile/internal/soak"
	"turnstile/judge/check"
	"turnstile/nodes/mutex"
	"turnstile/nodes/row"
	"turnstile/nodes/workload"
)

// withPlan returns a simulated run of a row under the plan of a name.
func withPlan(t *testing.T, spec *row.Row, plan string) (Options, error) {
	t.Helper()
	o := option.Defaults()
	o.Algorithm, o.Config.N, o.Seed, o.Duration, o.Warmup = spec.Name, 5, 7, 2*time.Second, 0
	o.Latency, o.Workload.Hold = chance.Constant(time.Millisecond), chance.Constant(time.Millisecond)
	p, err := chaos.FindPlan(plan, drafted(t, spec, o, true).Scene())
	if err != nil {
		t.Fatal(err)
	}
	o.Plan, o.Faults = p.Name, p.Faults
	for _, f := range p.Faults { // ours are for three seconds
		o.Duration = max(o.Duration, f.At+f.For+f.Every*time.Duration(max(0, f.Repeat-1))+time.Second)
	}
	_, err = Resolve(o, spec, true)
	return o, err
}

// The same plan and seed give the same faults on the same victims and the same history, to the last event,
// when a stored run is made again. The record names the victims.
func TestSimulatedRunsUnderPlansAreDetermined(t *testing.T) {
	t.Parallel()
	var plans []string
	every := soak.Pick(4, 2, 1)
	for i, p := range chaos.Plans() {
		if i%every == 0 {
			plans = append(plans, p.Name)
		}
	}
	for seed := range soak.Pick(2, 3, 500) {
		plans = append(plans, fmt.Sprint("random:", seed), fmt.Sprint("inside:", seed))
	}
	made := 0
	for i, plan := range plans {
		spec := mutex.Table[i%len(mutex.Table)]
		o, err := withPlan(t, spec, plan)
		if err != nil {
			continue // it is for other algorithms, or for processes
		}
		setup := Setup{Results: t.TempDir(), Set: "set"}
		first, err := simulateRun(t, spec, o, setup)
		if err != nil {
			t.Fatalf("%s, %s: %v", spec.Name, plan, err)
		}
		var stored Record
		if err := first.Folder.ReadYAML(&stored); err != nil {
			t.Fatal(err)
		}
		again, err := simulateRun(t, spec, stored.Options, setup)
		if err != nil {
			t.Fatal(err)
		}
		if c := Compare(first.Summary(), again.Summary()); c.Outcome() != check.Valid {
			t.Errorf("%s, %s: %+v", spec.Name, plan, c)
		}
		named(t, plan, first, again)
		made++
	}
	if made < len(plans)/2 {
		t.Errorf("only %d of %d plans were carried out", made, len(plans))
	}
}

// named checks that the records of two runs have the same faults, and that these say whom they hit, if
// anybody.
func named(t *testing.T, plan string, first, again *Run) {
	t.Helper()
	a, errA := yaml.Marshal(first.Record.Trials[0].Faults)
	b, errB := yaml.Marshal(again.Record.Trials[0].Faults)
	if err := errors.Join(errA, errB); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(a, b) {
		t.Errorf("%s: the faults are\n%s\nand then\n%s", plan, a, b)
	}
	for _, f := range first.Record.Trials[0].Faults {
		if target := effect.TargetOf(f.Effect); target != nil && target.Word != "" && !target.ByRun() {
			t.Errorf("%s: %v names no node", plan, &f)
		}
		if f.Seed == 0 {
			t.Errorf("%s: %v has no seed", plan, &f)
		}
	}
}

// In a run of processes, chance chooses those whom it chooses in a simulation of the same seed.
func TestVictimsOfRealRunsAreThoseOfSimulatedOnes(t *testing.T) {
	t.Parallel()
	spec, err := mutex.Find("ricart-agrawala")
	if err != nil {
		t.Fatal(err)
	}
	o := option.Defaults()
	o.Algorithm, o.Config.N, o.Duration, o.Warmup = spec.Name, 5, 400*time.Millisecond, 0
	o.Latency = chance.Constant(time.Millisecond)
	for _, text := range []string{"pause: random, at: 10ms, for: 5ms, every: 20ms, jitter: 8ms",
		"slow: minority, at: 20ms, for: 40ms, share: 50%", "clock: majority, at: 30ms, by: 1s",
		"cut: ring, at: 380ms, for: 10ms"} {
		f, err := chaos.ParseFault(text)
		if err != nil {
			t.Fatal(err)
		}
		o.Faults = append(o.Faults, f)
	}
	simulated, err := simulateRun(t, spec, o, Setup{Results: t.TempDir(), Set: "set"})
	if err != nil {
		t.Fatal(err)
	}
	o.Patience = impatience
	real, _ := makeRun(t, o)
	named(t, "on processes", simulated, real)
}

// A fault of the leader hits who leads then, not who led for a moment behind a cut, simulated and in
// processes.
func TestLeaderThatIsHitLeads(t *testing.T) {
	t.Parallel()
	o := option.Defaults()
	o.Algorithm, o.Config.N, o.Duration, o.Warmup = "bully", 5, 1500*time.Millisecond, 0
	o.Latency, o.Workload = chance.Constant(time.Millisecond), workload.Workload{Load: workload.Campaign}
	for _, text := range []string{"cut: 0-2/3-4, at: 50ms, for: 500ms", "kill: leader, at: 1200ms, for: 50ms"} {
		f, err := chaos.ParseFault(text)
		if err != nil {
			t.Fatal(err)
		}
		o.Faults = append(o.Faults, f)
	}
	spec, err := rowOf(o.Algorithm)
	if err != nil {
		t.Fatal(err)
	}
	simulated, err := simulateRun(t, spec, o, Setup{Results: t.TempDir(), Set: "set"})
	if simulated == nil {
		t.Fatal(err)
	}
	real, _ := makeRun(t, o)
	for what, run := range map[string]*Run{"simulated": simulated, "in processes": real} {
		if run.Trials[0].Measures.Leaders.TwoLeaders == 0 {
			t.Errorf("%s: nobody else led behind the cut", what)
		}
		switch hit := run.Record.Trials[0].Faults[1].Hit; {
		case hit == nil:
			t.Errorf("%s: nobody is hit", what)
		case *hit != 4:
			t.Errorf("%s: node %d is hit, not the leader 4", what, *hit)
		}
	}
}
