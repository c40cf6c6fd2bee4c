package mutex_test

import (
	"fmt"
	"testing"
	"time"

	"turnstile/bench/check"
	"turnstile/chaos"
	"turnstile/internal/chance"
	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/mutex"
	"turnstile/nodes/sim"
	"turnstile/nodes/workload"
)

// This is what a new algorithm is tested by when it is listed: the row says what it rests on and what it
// costs, and the simulator tries whether that is so.

const seeds = 200

// saturated returns a short run of a row under a load that leaves nobody idle.
func saturated(row *nodes.Spec, n int, seed uint64) sim.Options {
	o := sim.Options{Spec: row, Config: nodes.Config{N: n}, Seed: seed, Entries: uint64(10 + 4*n),
		Workload: workload.Workload{Load: workload.Saturated,
			Hold: must(chance.ParseDistribution("exponential:500us"))}}
	o.Latency, o.Shaper = millisecond().Simulated(chance.Dice(seed))
	return o
}

// millisecond is a network whose messages take a millisecond on average.
func millisecond() *chaos.Network {
	return &chaos.Network{Latency: must(chance.ParseDistribution("exponential:1ms"))}
}

func must(s chance.Distribution, err error) chance.Distribution {
	if err != nil {
		panic(err)
	}
	return s
}

// disaster adds what the assumptions in spared leave open to a run, by its seed: each fault in some seeds.
func disaster(o *sim.Options, spared nodes.Assumption) {
	dice := chance.Dice(o.Seed)
	flip := func(count uint64) bool {
		return dice.Bits(chance.Roll{Purpose: chance.ForTrial, Count: count})%2 == 0
	}
	if flip(9) { // some are idle when it strikes
		o.Workload.Load, o.Workload.Think = workload.Closed, must(chance.ParseDistribution("exponential:2ms"))
	}
	o.Reordering = spared&nodes.FIFO == 0 && flip(1)
	network := millisecond()
	if spared&nodes.NoDuplication == 0 && flip(2) {
		network.Duplication = 0.1
	}
	if spared&nodes.NoLoss == 0 && flip(3) {
		network.Loss = 0.03
	}
	o.Latency, o.Shaper = network.Simulated(dice)
	if spared&nodes.NoCrash == 0 && flip(4) {
		roll := chance.Roll{Purpose: chance.ForTrial, Count: 5}
		crash := sim.Crash{Node: nodes.ID(dice.Below(roll, o.Config.N+o.Spec.ServerCount(o.Config)))}
		roll.Count++
		crash.At = time.Duration(dice.Unit(roll) * float64(30*time.Millisecond))
		// A machine that is given back less than it had is amnesic, whatever was saved.
		if spared&nodes.NoAmnesia == 0 && flip(7) {
			roll.Count = 8
			crash.Restart = 50*time.Microsecond + time.Duration(dice.Unit(roll)*float64(2*time.Millisecond))
			crash.Amnesia = true
		}
		o.Crashes = []sim.Crash{crash}
	}
}

// judge makes a run and judges it, by the published cost as well if that is for its load.
func judge(t *testing.T, o sim.Options, cost nodes.Range) check.Verdict {
	t.Helper()
	s := check.Setting{Config: o.Config, Algorithm: o.Spec.Name, Cost: cost, CostKnown: true,
		Identities: o.Spec.Identities, Circulates: o.Spec.Circulates, Safe: o.Spec.Safe, Live: o.Spec.Live}
	s.Kinds = o.Spec.Codec().Names()
	sections := check.Sections(history.Header{}, s)
	checks := check.New(sections, s)
	if _, err := sim.Run(o, sections); err != nil {
		t.Fatal(err)
	}
	return checks.Verdict()
}

// sound calls do with every sound row and every size of cluster that it can run with.
func sound(t *testing.T, do func(t *testing.T, row *nodes.Spec, n int)) {
	for _, row := range mutex.Table {
		if row.Broken != "" {
			continue
		}
		t.Run(row.Name, func(t *testing.T) {
			t.Parallel()
			for n := 1; n <= 9; n++ {
				do(t, row, n)
			}
		})
	}
}

// Under two hundred disasters of all kinds that its model allows, each sound row is safe and serves all.
func TestSoundRowsStandWhatTheirModelAllows(t *testing.T) {
	sound(t, func(t *testing.T, row *nodes.Spec, n int) {
		for seed := range uint64(seeds) {
			o := saturated(row, n, seed)
			disaster(&o, row.Safe|row.Live)
			if v := judge(t, o, nodes.Unbounded(0)); v.Outcome != check.Valid {
				t.Fatalf("n=%d, seed %d: %v: %s", n, seed, v.Outcome, v.Reason)
			}
		}
	})
}

// What it needs for progress alone may be taken from it, and it stays safe.
func TestSoundRowsAreSafeWhateverStopsThem(t *testing.T) {
	sound(t, func(t *testing.T, row *nodes.Spec, n int) {
		for seed := range uint64(seeds) {
			o := saturated(row, n, seed)
			disaster(&o, row.Safe)
			if v := judge(t, o, nodes.Unbounded(0)); v.Outcome == check.Violated {
				t.Fatalf("n=%d, seed %d: %s", n, seed, v.Reason)
			}
		}
	})
}

// Each assumption that a row names is one that it needs: without it, some run fails. If its safety is to rest
// on it, two are inside in that run: a stall excuses naming it in Live alone.
func TestNoRowAssumesWhatItDoesNotNeed(t *testing.T) {
	for _, row := range mutex.Table {
		if row.Broken != "" {
			continue
		}
		for need := nodes.Assumption(1); need <= nodes.Timing; need <<= 1 {
			if (row.Safe|row.Live)&need == 0 {
				continue
			}
			t.Run(fmt.Sprintf("%s without %v", row.Name, need), func(t *testing.T) {
				t.Parallel()
				spared := (row.Safe | row.Live) &^ need
				if need == nodes.NoAmnesia {
					spared &^= nodes.NoCrash // to forget, one has to go down
				}
				without := *row
				without.Safe, without.Live = row.Safe&^need, row.Live&^need
				if row.Safe&need != 0 {
					without.Live |= need
				}
				for seed := range uint64(5000) {
					o := saturated(&without, 2+int(seed%3), seed)
					disaster(&o, spared)
					v := judge(t, o, nodes.Unbounded(0))
					if v.Outcome == check.Violated && !v.OutsideModel {
						return
					}
				}
				t.Errorf("no run failed without it: take it out of Safe (if runs stop without it, it belongs in " +
					"Live) or Live")
			})
		}
	}
}

// Every row costs what it was published to cost, under each load.
func TestRowsCostWhatIsPublished(t *testing.T) {
	sound(t, func(t *testing.T, row *nodes.Spec, n int) {
		cost := row.Cost(nodes.Config{N: n})
		for load, published := range map[workload.Load]nodes.Range{workload.Saturated: cost.Saturated,
			workload.Sequential: cost.Sequential, workload.One: cost.One, workload.Closed: cost.Any} {
			for seed := range uint64(10) {
				o := saturated(row, n, seed)
				o.Workload.Load, o.Entries = load, uint64(30*n)
				if load == workload.Closed {
					o.Workload.Think = must(chance.ParseDistribution("exponential:5ms"))
				}
				if v := judge(t, o, published); v.Outcome != check.Valid {
					t.Fatalf("n=%d, %s, seed %d: %v: %s", n, load, seed, v.Outcome, v.Reason)
				}
			}
		}
	})
}

// A row that is known to be broken is caught, for the reason that it states.
func TestBrokenRowsAreCaught(t *testing.T) {
	for _, row := range mutex.Table {
		if row.Broken == "" {
			continue
		}
		t.Run(row.Name, func(t *testing.T) {
			for seed := range uint64(5000) {
				v := judge(t, saturated(row, 2+int(seed%8), seed), nodes.Unbounded(0))
				if v.Outcome != check.Violated {
					continue
				}
				for _, f := range v.Findings {
					if f.Check == row.Broken && f.Outcome == check.Violated {
						return
					}
				}
				t.Fatalf("seed %d: it is caught, but not for its %s: %s", seed, row.Broken, v.Reason)
			}
			t.Error("it is not caught")
		})
	}
}
