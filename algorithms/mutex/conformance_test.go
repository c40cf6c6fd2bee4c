package mutex

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"turnstile/internal/soak"
	"turnstile/judge/algotest"
	"turnstile/judge/check"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/history"
	"turnstile/nodes/sim"
	"turnstile/nodes/workload"
)

// This file tests each algorithm that Table lists: the algorithm states its assumptions and its costs, and
// the simulator checks them.

// seeds is how many runs a cluster of n is worth: small ones go wrong sooner, and take less time.
func seeds(n int) uint64 {
	count := soak.Pick[uint64](1, 4, 400)
	switch {
	case n <= 3:
		return 30 * count
	case n <= 5:
		return 15 * count
	case n <= 9:
		return 5 * count
	}
	return 2 * count
}

// configs returns the clusters that an algorithm is tried with: of 1 to 9 and 16 nodes, and some with each
// value of its options.
func configs(spec *algorithm.Algorithm) (all []nodes.Config) {
	for _, n := range []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 16} {
		all = append(all, nodes.Config{N: n})
	}
	for _, o := range spec.Options {
		for _, value := range o.Values {
			for _, n := range []int{3, 4, 9} {
				if c := (nodes.Config{N: n}).With(o.Name, value); value != o.Default && spec.Validate(c) == nil {
					all = append(all, c)
				}
			}
		}
	}
	return append(all, severalUnits(spec)...)
}

// severalUnits returns clusters whose resource has several units, if the algorithm can serve such a resource.
func severalUnits(spec *algorithm.Algorithm) (all []nodes.Config) {
	for _, n := range []int{2, 3, 4, 5, 9} {
		for _, units := range []int{2, 3, 5} {
			c := nodes.Config{N: n, Units: units}
			if spec.Validate(c) == nil && sizes(spec, c).Check(&spec.Spec, c) == nil {
				all = append(all, c)
			}
		}
	}
	return all
}

// sizes returns how many units a request of a run takes: from 1 to the most that the algorithm allows.
func sizes(spec *algorithm.Algorithm, c nodes.Config) workload.Take {
	return workload.Take{Least: 1, Most: spec.Units.Takes(c.Capacity())}
}

// conform has every sound algorithm tried in each of its clusters.
func conform(t *testing.T, try func(t *testing.T, algo *algorithm.Algorithm, c nodes.Config)) {
	for _, algo := range Table {
		if algo.Flaw != nil {
			continue
		}
		t.Run(algo.Name, func(t *testing.T) {
			t.Parallel()
			for _, c := range configs(algo) {
				try(t, algo, c)
			}
		})
	}
}

// saturated returns a short run of an algorithm under a load that leaves nobody idle.
func saturated(algo *algorithm.Algorithm, c nodes.Config, seed uint64) sim.Options {
	o := sim.Options{Stack: algotest.StackOf(algo, c, besides(algo, c.N, "perfect")...), Seed: seed,
		Entries:  uint64(10 + 4*c.N),
		Patience: 20_000,
		Workload: workload.Workload{Load: workload.Saturated, Hold: algotest.Drawn("exponential:500us"),
			Take: sizes(algo, c)}}
	algotest.Over(&o, algotest.NetworkOf("exponential:1ms"))
	return o
}

// judge makes a run and judges it. cost is the published cost under the load of the run, or unbounded.
func judge(t *testing.T, o sim.Options, cost algorithm.Range) check.Verdict {
	t.Helper()
	s := check.SettingOf(o.Stack)
	s.Cost, s.CostKnown, s.Promise = cost, true, promised(o)
	s.Alone = o.Workload.Load == workload.Sequential || o.Workload.Load == workload.One
	sections := check.Sections(history.Header{}, s)
	checks := check.New(sections, s)
	r, err := sim.Run(o, sections)
	if err != nil {
		t.Fatal(err)
	}
	var panicked *sim.Panic
	if errors.As(r.Cut, &panicked) {
		t.Fatalf("%+v, seed %d: %v", o.Stack.Instances()[0].Config, o.Seed, panicked)
	}
	return checks.Verdict()
}

// promised is the promised order of service by which a run is judged: with much tolerance where messages may
// take any time.
func promised(o sim.Options) check.Promise {
	of := o.Stack.Instances()[0]
	if o.Shaper == nil && o.FaultDriver == nil {
		return check.PromiseOf(of.Algorithm, of.Config, o.Latency)
	}
	p := check.PromiseOf(of.Algorithm, of.Config, 14*time.Millisecond)
	p.Times = 10
	return p
}

// No algorithm passes over a request more often than it promises, be the load saturated or closed, and be the
// critical sections short or long beside the latency.
func TestAlgorithmsAreFair(t *testing.T) {
	type load struct{ hold, think string }
	var loads []load
	for _, hold := range []string{"10us", "700us", "5ms"} {
		for _, think := range []string{"", "2ms", "20ms"} {
			loads = append(loads, load{hold, think})
		}
	}
	every := soak.Pick(9, 4, 1)
	conform(t, func(t *testing.T, spec *algorithm.Algorithm, c nodes.Config) {
		for seed := range seeds(c.N)/4 + 1 {
			for i := (c.N + int(seed)) % every; i < len(loads); i += every { // others for each size and seed
				o := saturated(spec, c, seed)
				o.Entries, o.Latency, o.Shaper = uint64(40+20*c.N), time.Millisecond, nil
				o.Workload.Hold = algotest.Drawn("exponential:" + loads[i].hold)
				if loads[i].think != "" {
					o.Workload.Load = workload.Closed
					o.Workload.Think = algotest.Drawn("exponential:" + loads[i].think)
				}
				if v := judge(t, o, algorithm.Unbounded(0)); v.Outcome != check.Valid {
					t.Fatalf("%+v, seed %d, %+v: %v: %s", c, seed, loads[i], v.Outcome, v.Reason)
				}
			}
		}
	})
}

// What happens once in a thousand requests happens in long runs.
func TestSoundAlgorithmsStandLongRuns(t *testing.T) {
	conform(t, func(t *testing.T, spec *algorithm.Algorithm, c nodes.Config) {
		if c.N != 3 && c.N != 5 {
			return
		}
		// as where the lowest ID goes first
		starves := spec.Mutex.Bypass != nil && spec.Mutex.Bypass(c) == algorithm.Any
		for seed := range soak.Pick[uint64](1, 1, rareSeeds) {
			o := saturated(spec, c, seed)
			o.Entries = soak.Pick[uint64](100, 1200, rareEntries)
			v := judge(t, o, spec.Mutex.Cost(c).Saturated)
			if v.Outcome == check.Violated || v.Outcome != check.Valid && !starves {
				t.Fatalf("%+v, seed %d: %v: %s", c, seed, v.Outcome, v.Reason)
			}
		}
	})
}

// The long runs of make soak.
const (
	rareSeeds   = 50
	rareEntries = 20_000
)

// Under disasters of all kinds that its model allows, each sound algorithm is safe and serves all.
func TestSoundAlgorithmsStandWhatTheirModelAllows(t *testing.T) {
	conform(t, func(t *testing.T, spec *algorithm.Algorithm, c nodes.Config) {
		for seed := range seeds(c.N) {
			o := saturated(spec, c, seed)
			disaster(&o, spec.SafeIn(c)|spec.LiveIn(c))
			if v := judge(t, o, algorithm.Unbounded(0)); v.Outcome != check.Valid {
				t.Fatalf("%+v, seed %d: %v: %s", c, seed, v.Outcome, v.Reason)
			}
		}
	})
}

// A sound algorithm stays safe without the assumptions that it needs for progress alone.
func TestSoundAlgorithmsAreSafeWhateverStopsThem(t *testing.T) {
	conform(t, func(t *testing.T, spec *algorithm.Algorithm, c nodes.Config) {
		for seed := range seeds(c.N) {
			o := saturated(spec, c, seed)
			disaster(&o, spec.SafeIn(c))
			o.Patience = 5_000 // some clients wait for ever, which is no failure here
			if v := judge(t, o, algorithm.Unbounded(0)); v.Outcome == check.Violated {
				t.Fatalf("%+v, seed %d: %s", c, seed, v.Reason)
			}
		}
	})
}

// seldom are seeds of runs that fail without an assumption. Without these assumptions few runs fail, so the
// search starts at such a seed.
var seldom = map[string]uint64{
	"carvalho-roucairol/without no amnesia":              2_017_174,
	"central-lease/without no amnesia":                   3598,
	"central-lease/without no loss":                      573,
	"maekawa/without no amnesia":                         460,
	"ricart-agrawala-ft/without bounded delays":          16_550,
	"ricart-agrawala-view/without a perfect detector":    16_504,
	"token-ring-regenerating/without a perfect detector": 1042,
}

// An algorithm needs each assumption that it names: without it, some run fails. For an assumption of its
// safety two are inside in that run: a stall justifies it only in Live.
func TestNoAlgorithmAssumesWhatItDoesNotNeed(t *testing.T) {
	for _, spec := range Table {
		if spec.Flaw != nil {
			continue
		}
		for need := nodes.Assumption(1); need <= nodes.ServersUp; need <<= 1 {
			if (spec.Safe|spec.Live)&need == 0 {
				continue
			}
			name := fmt.Sprintf("%s/without %v", spec.Name, need)
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				spared := (spec.Safe | spec.Live) &^ need
				if need == nodes.NoAmnesia {
					spared &^= nodes.NoCrash // to forget, one has to go down
				}
				without := *spec
				without.Safe, without.Live = spec.Safe&^need, spec.Live&^need
				if spec.Safe&need != 0 {
					without.Live |= need
				}
				for number := range uint64(20_000) {
					seed := seldom[name] + number
					o := saturated(&without, nodes.Config{N: 2 + int(seed%3)}, seed)
					disaster(&o, spared)
					v := judge(t, o, algorithm.Unbounded(0))
					if v.Outcome == check.Violated && !v.OutsideModel {
						return
					}
				}
				t.Errorf("no run failed without it: ask explore --entries 2 --demand with what it rules out " +
					"(--amnesia --crashes 1 --reordering); if that finds nothing, take it out of Safe (if runs " +
					"stop without it, it belongs in Live) or Live")
			})
		}
	}
}

// Every algorithm costs what it was published to cost, under each load.
func TestAlgorithmsCostWhatIsPublished(t *testing.T) {
	conform(t, func(t *testing.T, spec *algorithm.Algorithm, c nodes.Config) {
		cost := spec.Mutex.Cost(c)
		for load, published := range map[workload.Load]algorithm.Range{workload.Saturated: cost.Saturated,
			workload.Sequential: cost.Sequential, workload.One: cost.One, workload.Closed: cost.Any} {
			for seed := range min(seeds(c.N)/10, 5) + 1 {
				o := saturated(spec, c, seed)
				o.Workload.Load, o.Entries = load, uint64(20*c.N)
				if load == workload.Closed {
					o.Workload.Think = algotest.Drawn("exponential:5ms")
				}
				if v := judge(t, o, published); v.Outcome != check.Valid {
					t.Fatalf("%+v, %s, seed %d: %v: %s", c, load, seed, v.Outcome, v.Reason)
				}
			}
		}
	})
}

// An algorithm that is known to be broken fails the check that its Flaw names, and keeps the other
// properties. When requests come one at a time, it passes all checks, unless its Flaw says Alone.
func TestBrokenAlgorithmsAreCaught(t *testing.T) {
	for _, algo := range Table {
		if algo.Flaw == nil {
			continue
		}
		t.Run(algo.Name, func(t *testing.T) {
			t.Parallel()
			caught := 0
			for _, c := range configs(algo) {
				for seed := range seeds(c.N) {
					caught += brokenIn(t, algo, c, seed)
				}
				o := saturated(algo, c, 1)
				o.Workload.Load = workload.Sequential
				v := judge(t, o, algo.Mutex.Cost(c).Sequential)
				if v.Outcome != check.Valid && (!algo.Flaw.Alone || !v.Violates(algo.Flaw.Check)) {
					t.Errorf("%+v, one request at a time: %v: %s", c, v.Outcome, v.Reason)
				}
			}
			if caught == 0 {
				t.Error("it is not caught")
			}
		})
	}
}

// brokenIn makes a run of a broken algorithm. It returns 1 if the run fails as expected, and otherwise 0; a
// failure that is not expected fails the test.
func brokenIn(t *testing.T, spec *algorithm.Algorithm, c nodes.Config, seed uint64) (caught int) {
	t.Helper()
	o := saturated(spec, c, seed)
	if seed%2 == 1 {
		o.Workload.Load, o.Workload.Think = workload.Closed, algotest.Drawn("exponential:4ms")
	}
	if spec.Broken().By != 0 {
		o.Workload.Hold = algotest.Drawn("exponential:20ms") // some are inside still when all know of a crash
		disaster(&o, ^spec.Broken().By)
	}
	for _, f := range judge(t, o, algorithm.Unbounded(0)).Findings {
		switch {
		case f.Outcome != check.Violated || f.OutsideModel:
		case f.Check == spec.Broken().Check:
			caught = 1
		case f.Check == spec.Broken().Also:
		case spec.Broken().Check != "exclusion" || f.Check == "progress":
			// The checks of the register and the account detect broken exclusion, too.
			t.Fatalf("%+v, seed %d: it fails the check of %s: %s", c, seed, f.Check, f.Says)
		}
	}
	return caught
}

// A multicast spares publishes of exactly the kinds that are broadcast by the algorithm.
func TestAlgorithmsSayWhatTheyBroadcast(t *testing.T) {
	for _, algo := range Table {
		t.Run(algo.Name, func(t *testing.T) {
			o := sim.Options{Stack: algotest.StackOf(algo, nodes.Config{N: 4}), Seed: 1, Entries: 100,
				Multicast: true, Workload: workload.Workload{Load: workload.Saturated}, Latency: time.Millisecond}
			h := algotest.History(t, o)
			sum := history.Sum(h.Logs)
			for kind, k := range sum.Kinds {
				if algo.Messages[kind].Broadcast != (k.Publishes < k.Sent) {
					t.Errorf("%s: Broadcast is %t, and %d messages took %d publishes", algo.Codec().Name(kind),
						algo.Messages[kind].Broadcast, k.Sent, k.Publishes)
				}
			}
		})
	}
}
