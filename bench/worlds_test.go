//go:build linux

package bench

import (
	"slices"
	"testing"
	"time"

	"turnstile/bench/option"
	"turnstile/chaos"
	"turnstile/chaos/effect"
	"turnstile/internal/chance"
	"turnstile/internal/soak"
	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/row"
	"turnstile/nodes/workload"
)

// faster is how much faster the plans are carried out than they are written.
const faster = 5

// A real run breaks the same assumptions as a simulated one under each plan that both can carry out: with an
// elector beside the algorithm, which forgets in a restart though the algorithm does not, with failure
// detectors, and if the run is about leaders.
func TestPlansBreakTheSameInBothWorlds(t *testing.T) {
	const quick = "heartbeat:period=10ms,timeout=60ms"
	variants := []struct{ algorithm, elect, detector string }{
		{"central-failover", "chang-roberts", quick},
		{"suzuki-kasami-ft", "", quick},
		{"ricart-agrawala", "", quick}, // for plans that name its messages
		{"central", "", quick},         // and those that name the coordinator
		{"bully", "", quick},
		{"bully-second-network", "", quick}, // and those that name a network
	}
	sample := []string{"restarts", "stopped-leader", "broker-restart"}
	for _, plan := range chaos.Plans() {
		if testing.Short() && !slices.Contains(sample, plan.Name) {
			continue
		}
		shown := 0
		for _, v := range variants {
			spec, err := rowOf(v.algorithm)
			if err != nil {
				t.Fatal(err)
			}
			same := func(p *chaos.Plan) bool { return p.Name == plan.Name }
			if !slices.ContainsFunc(chaos.ScenariosOf(spec), same) || shown == soak.Pick(1, 1, len(variants)) {
				continue
			}
			shown++
			o := underPlan(spec, plan)
			o.Config.Elect, o.Detector = v.elect, v.detector
			t.Run(plan.Name+"/"+v.algorithm, func(t *testing.T) {
				t.Parallel()
				simulated, err := simulateRun(t, spec, o, setup(t))
				if err != nil {
					t.Fatalf("simulated: %v", err)
				}
				made, _ := makeRun(t, o)
				was, is := brokenIn(t, simulated), brokenIn(t, made)
				if was != is {
					t.Errorf("simulated it breaks %v, and really %v; %s", was, is, made.Trials[0].Trouble)
				}
			})
		}
		if shown == 0 {
			t.Errorf("no row suits the plan %s", plan.Name)
		}
	}
}

// underPlan returns the options of a run of five nodes under a plan that is carried out faster.
func underPlan(spec *row.Row, plan *chaos.Plan) Options {
	o := option.Defaults()
	o.Algorithm, o.Config.N, o.Seed = spec.Name, 5, 1
	o.Workload = workload.Workload{Load: workload.Closed, Hold: chance.Constant(time.Millisecond),
		Think: chance.Constant(2 * time.Millisecond)}
	if spec.Elector != nil {
		o.Workload = workload.Workload{Load: workload.Campaign, Initiators: workload.AllInitiate}
	}
	o.Latency, o.Patience = chance.Constant(time.Millisecond), 300*time.Millisecond
	o.Warmup, o.WarmupLimit, o.Duration = 0, 0, 0
	o.Plan, o.Brokers = plan.Name, plan.Brokers
	for _, f := range plan.Faults {
		for _, d := range []*time.Duration{&f.At, &f.For, &f.After, &f.Every, &f.Jitter} {
			*d /= faster
		}
		f.Effect = effect.Clone(f.Effect)
		switch e := f.Effect.(type) {
		case *effect.Clock:
			e.By /= faster
		case *effect.Lag:
			e.By /= faster
		}
		o.Faults = append(o.Faults, f)
		last := f.At + f.After + f.Every*time.Duration(max(0, f.Repeat-1)) + f.Jitter + f.For
		o.Duration = max(o.Duration, last+200*time.Millisecond)
	}
	return o
}

// brokenIn returns the assumptions that the history of a run says are broken, by faults or for good.
func brokenIn(t *testing.T, r *Run) (broken nodes.Assumption) {
	t.Helper()
	stored, err := history.Open(r.Folder.HistoryFile(1))
	if err != nil {
		t.Fatal(err)
	}
	defer stored.Close()
	var e history.Event
	for {
		if more, err := stored.Next(&e); err != nil {
			t.Fatal(err)
		} else if !more {
			return broken
		}
		if e.Kind == history.AssumptionBroken || e.Kind == history.FaultBegan {
			broken |= nodes.Assumption(e.Value)
		}
	}
}
