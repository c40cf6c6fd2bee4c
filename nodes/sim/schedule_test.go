package sim

import (
	"fmt"
	"testing"
	"time"

	"turnstile/algorithms/catalog"
	"turnstile/chaos"
	"turnstile/chaos/effect"
	"turnstile/internal/chance"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/replay"
	"turnstile/nodes/workload"
)

// scripted makes a run of an algorithm, and returns the run as a schedule; nil: the algorithm refuses so many
// nodes. Recorder.Check compares the states of all nodes.
func scripted(t *testing.T, algo *algorithm.Algorithm, n int, change func(*Options)) *replay.Schedule {
	t.Helper()
	c := nodes.Config{N: n}
	if algo.Validate(c) != nil {
		return nil
	}
	var beside []algorithm.Instance
	if algo.Detects != "" {
		detector, err := catalog.Table{}.ParseDetector(algo.Detects, n, nodes.Delays{})
		if err != nil {
			t.Fatal(err)
		}
		beside = append(beside, detector)
	}
	o := Options{Stack: stackOf(algo, c, beside...), Seed: 3, Entries: uint64(4 * n), Latency: time.Millisecond,
		Workload: workload.Workload{Load: workload.Saturated, Hold: chance.Constant(ms)}}
	if algo.Kind == nodes.Election {
		o.Entries, o.Duration, o.Workload = 0, 2*time.Second, workload.Workload{Load: workload.Campaign}
	}
	change(&o)
	var err error
	if o.Schedule, err = replay.NewRecorder(o.Stack); err != nil {
		t.Fatal(err)
	}
	if r, err := Run(o); err != nil || r.Cut != nil {
		t.Fatal(algo.Name, err, r.Cut)
	}
	s, err := o.Schedule.Schedule()
	if err == nil {
		err = o.Schedule.Check()
	}
	if err != nil {
		t.Errorf("%s, %d nodes: %v", algo.Name, n, err)
	}
	return s
}

func everybody() []*algorithm.Algorithm {
	return catalog.Table{}.Algorithms()
}

// A simulated run of any algorithm, played as a schedule, ends in the same states.
func TestRunsAsSchedules(t *testing.T) {
	for _, algo := range everybody() {
		for _, n := range []int{3, 5, 16} {
			s := scripted(t, algo, n, slow(t))
			if s != nil && len(s.Steps) < n {
				t.Errorf("%s, %d nodes: the schedule has %d steps", algo.Name, n, len(s.Steps))
			}
		}
	}
}

// The same with crashes, restarts, pauses, loss and copies.
func TestFaultyRunsAsSchedules(t *testing.T) {
	for _, algo := range everybody() {
		for seed := range uint64(3) {
			steps := map[replay.StepKind]int{}
			s := scripted(t, algo, 5, func(o *Options) {
				o.Seed = seed
				network := latency(t, "exponential:1ms")
				faults := plan(t, "kill: 1, at: 8ms, for: 20ms", "pause: 2, at: 12ms, for: 10ms", "loss: 0.01",
					"kill: 3, at: 30ms, when: 3 sends")
				faults = append(faults, chaos.Fault{Effect: &effect.Duplicate{Of: 0.02}})
				over(o, network, faults...)
			})
			if s == nil {
				continue
			}
			for _, step := range s.Steps {
				steps[step.What]++
			}
			if steps[replay.StepPause] == 0 || steps[replay.StepCrash] == 0 {
				t.Errorf("%s: the steps are %v", algo.Name, fmt.Sprint(steps))
			}
		}
	}
}
