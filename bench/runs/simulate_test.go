//go:build linux

package runs

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"turnstile/algorithms/catalog"
	"turnstile/algorithms/election"
	"turnstile/algorithms/mutex"
	"turnstile/bench"
	"turnstile/bench/benchtest"
	"turnstile/chaos"
	"turnstile/chaos/effect"
	"turnstile/internal/chance"
	"turnstile/internal/soak"
	"turnstile/judge/check"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/history"
	"turnstile/nodes/sim"
	"turnstile/nodes/workload"
	"turnstile/option"
)

// withPlan returns a simulated run of an algorithm under a named plan.
func withPlan(t *testing.T, spec *algorithm.Algorithm, plan string) (bench.Options, error) {
	t.Helper()
	o := option.Defaults()
	o.Algorithm, o.Config.N, o.Seed, o.Duration, o.Warmup = spec.Name, 5, 7, 2*time.Second, 0
	o.Latency, o.Workload.Hold = chance.Constant(time.Millisecond), chance.Constant(time.Millisecond)
	p, _, err := chaos.FindPlan(plan, drafted(t, spec, o, true).Scene())
	if err != nil {
		t.Fatal(err)
	}
	o.Plan, o.Faults = p.Name, p.Faults
	for _, f := range p.Faults { // the built-in plans are for three seconds
		o.Duration = max(o.Duration, f.At+f.For+f.Every*time.Duration(max(0, f.Repeat-1))+time.Second)
	}
	_, err = bench.Resolve(catalog.Table{}, o, spec, true)
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
			continue // the plan is for other algorithms, or for runs of processes
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
		all := &Repetition{}
		if err := all.compare(1, first, again); err != nil || all.Events == 0 || len(all.Differences) > 0 {
			t.Errorf("%s, %s: %+v, %v", spec.Name, plan, all, err)
		}
		named(t, plan, first, again)
		made++
	}
	if made < len(plans)/2 {
		t.Errorf("only %d of %d plans were carried out", made, len(plans))
	}
}

// named checks that the records of two runs have the same faults, with the same victims.
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

// A run of processes draws the same victims as a simulation with the same seed.
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

// A fault of the leader hits the current leader, not a node that led briefly behind a cut, in a simulation
// and in a run of processes.
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
	spec, err := benchtest.Algorithm(o.Algorithm)
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

// An algorithm that follows a leader is safe and serves all clients with any elector: an elected manager
// grants only after a majority has answered its census. When the leader crashes, the next one takes over, if
// the scheme survives that; otherwise the run may stall, outside its model.
func TestAlgorithmsFollowAnyElector(t *testing.T) {
	for _, algo := range mutex.Table {
		if !algo.Follows {
			continue
		}
		for _, scheme := range election.Table {
			outlasts := (scheme.Live|scheme.Safe)&nodes.NoCrash == 0
			if scheme.Flaw != nil || !outlasts && testing.Short() {
				continue
			}
			t.Run(algo.Name+"/"+scheme.Name, func(t *testing.T) {
				t.Parallel()
				o := crowded(t, algo.Name)
				o.Config.Elect, o.Detector = scheme.Name, "heartbeat:period=50ms,timeout=250ms"
				if v := followed(t, algo, o); v.Outcome != check.Valid {
					t.Fatalf("without faults: %v, %s", v.Outcome, v.Reason)
				}
				o.Faults = []chaos.Fault{{Effect: &effect.Kill{Who: effect.Target{Word: "leader"}},
					Schedule: chaos.Schedule{At: time.Second}}}
				v := followed(t, algo, o)
				switch {
				case v.Outcome == check.Valid: // a scheme may outlast some crashes though it does not promise that
				case v.Outcome == check.Inconclusive && v.OutsideModel && !outlasts:
				default:
					t.Errorf("the leader dies: %v, outside its model %v: %s", v.Outcome, v.OutsideModel, v.Reason)
				}
			})
		}
	}
}

// followed simulates a run and judges it.
func followed(t *testing.T, algo *algorithm.Algorithm, o bench.Options) check.Verdict {
	t.Helper()
	v, err := tryRun(t, algo, o)
	if err != nil {
		t.Fatal(err)
	}
	return v.Verdict
}

// No client enters during an election at its node, as in the manager's states ELECTION and REORGANIZATION:
// Temple University, CIS 307, Mutual Exclusion and Elections in Distributed Systems (T22).
func TestNobodyEntersDuringAnElection(t *testing.T) {
	algo, err := mutex.Find("central-failover")
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(10) {
		o := crowded(t, algo.Name)
		o.Config.Elect, o.Detector, o.Seed = "bully-four-phase", "heartbeat:period=50ms,timeout=250ms", seed+1
		o.Faults = []chaos.Fault{{Effect: &effect.Kill{Who: effect.Target{Word: "leader"}},
			Schedule: chaos.Schedule{At: time.Second, For: time.Second}}}
		asked, _, err := drafted(t, algo, o, true).Simulation(0, o.Seed)
		if err != nil {
			t.Fatal(err)
		}
		f := &electing{leader: map[nodes.ID]uint32{}}
		if _, err := sim.Run(*asked, f); err != nil {
			t.Fatal(err)
		}
		if f.during > 0 || f.entries == 0 || f.elections < 3*uint64(o.Config.N-1) {
			t.Errorf("seed %d: of %d entries %d were made during one of %d elections of single nodes", seed+1,
				f.entries, f.during, f.elections)
		}
	}
}

// electing counts entries at nodes that know of no leader.
type electing struct {
	leader                     map[nodes.ID]uint32
	entries, during, elections uint64
}

func (f *electing) Add(e history.Event) {
	switch e.Kind {
	case history.Elected:
		f.leader[e.Node] = e.Count
		f.elections++
	case history.Crashed:
		delete(f.leader, e.Node)
	case history.Entered:
		f.entries++
		if leader, known := f.leader[e.Node]; !known || leader == history.NoLeader {
			f.during++
		}
	}
}

func (*electing) Close([]*history.NodeLog) {}

// tolerant reports whether an algorithm should survive crashes.
func tolerant(algo *algorithm.Algorithm) bool {
	return algo.Flaw == nil && algo.Live&nodes.NoCrash == 0
}

// Every algorithm that should survive crashes passes each scenario of fault tolerance, at different moments
// for each seed: while the run is inside its model, exclusion holds and all waiting clients enter after the
// heal. If fences are demanded, the resource never accepts a stale write, even under wrong suspicions.
func TestTolerantAlgorithmsStandAllScenarios(t *testing.T) {
	scenario := regexp.MustCompile(`\(F[0-9]+\)`)
	for _, algo := range mutex.Table {
		if !tolerant(algo) {
			continue
		}
		for _, plan := range chaos.Scenarios() {
			if scenario.MatchString(plan.About) && plan.Suits(algo) {
				t.Run(fmt.Sprintf("%s/%s", algo.Name, plan.Name), func(t *testing.T) {
					t.Parallel()
					inside := 0
					for seed := range soak.Pick[uint64](1, 3, 100) {
						inside += stands(t, algo, plan, seed+1, false)
						if algo.Fenced {
							inside += stands(t, algo, plan, seed+1, true)
						}
					}
					t.Logf("%d runs inside its model", inside)
				})
			}
		}
	}
}

// crowded returns the options of runs of five clients that think and request, four seconds long.
func crowded(t *testing.T, name string) bench.Options {
	o := option.Defaults()
	think, err := chance.ParseDistribution("exponential:20ms")
	if err != nil {
		t.Fatal(err)
	}
	o.Algorithm, o.Config.N, o.Duration = name, 5, 4*time.Second
	o.Latency = chance.Constant(time.Millisecond)
	o.Workload.Load, o.Workload.Think = workload.Closed, think
	o.Workload.Hold = chance.Constant(5 * time.Millisecond)
	return o
}

// stands runs an algorithm under a plan, and returns 1 if the run stayed inside its model, otherwise 0.
func stands(t *testing.T, algo *algorithm.Algorithm, plan *chaos.Plan, seed uint64,
	fenced bool) (inside int) {
	t.Helper()
	o := crowded(t, algo.Name)
	o.Seed, o.Config.Fenced = seed, fenced
	o.Plan, o.Faults, o.Brokers = plan.Name, slices.Clone(plan.Faults), plan.Brokers
	r, err := tryRun(t, algo, o)
	if err != nil {
		t.Fatalf("seed %d, fenced %t: %v", seed, fenced, err)
	}
	v := r.Verdict
	for _, f := range v.Findings {
		// Failures outside the model, such as failures after a wrong suspicion, do not count here.
		if !f.OutsideModel && (f.Outcome == check.Violated || f.Outcome != check.Valid && v.Broken == 0) {
			t.Errorf("seed %d, fenced %t: %v: %s: %s", seed, fenced, f.Outcome, f.Check, f.Says)
		}
	}
	if v.Broken != 0 {
		return 0
	}
	return 1
}

// faster is the factor by which plans are shortened.
const faster = 5

// A real run breaks the same assumptions as a simulated one under each plan that both can carry out: with an
// elector beside the algorithm, which forgets in a restart though the algorithm does not; with failure
// detectors; and in runs about leaders.
func TestPlansBreakTheSameInBothWorlds(t *testing.T) {
	const quick = "heartbeat:period=10ms,timeout=60ms"
	variants := []struct{ algorithm, elect, detector string }{
		{"central-failover", "chang-roberts", quick},
		{"suzuki-kasami-ft", "", quick},
		{"ricart-agrawala", "", quick}, // for plans that name its messages
		{"central", "", quick},         // for plans that name the coordinator
		{"bully", "", quick},
		{"bully-second-network", "", quick}, // for plans that name a network
	}
	sample := []string{"restarts", "stopped-leader", "broker-restart"}
	for _, plan := range chaos.Plans() {
		if testing.Short() && !slices.Contains(sample, plan.Name) {
			continue
		}
		shown := 0
		for _, v := range variants {
			spec, err := benchtest.Algorithm(v.algorithm)
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
			t.Errorf("no algorithm suits the plan %s", plan.Name)
		}
	}
}

// underPlan returns the options of a run of five nodes under a shortened plan.
func underPlan(spec *algorithm.Algorithm, plan *chaos.Plan) bench.Options {
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

// brokenIn returns the assumptions that are broken in the history of a run, by faults or for good.
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
