package mutex

import (
	"cmp"
	"time"

	"turnstile/algorithms/detector"
	"turnstile/chaos"
	"turnstile/chaos/effect"
	"turnstile/internal/chance"
	"turnstile/judge/algotest"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/sim"
	"turnstile/nodes/workload"
)

// besides returns what runs beside an algorithm on n clients: a failure detector, if it listens to one.
func besides(spec *algorithm.Algorithm, n int, text string) []algorithm.Instance {
	if spec.Detects == "" {
		return nil
	}
	in, err := detector.Parse(text, n, nodes.Delays{})
	if err != nil {
		panic(err) // a slip of the pen in a test
	}
	return []algorithm.Instance{in}
}

// jumpy is a failure detector that suspects nodes wrongly again and again while messages take about as long
// as its timeout, and less and less often.
const jumpy = "heartbeat:period=2ms,timeout=4ms,adapt=2ms"

// disaster adds to a run faults that the assumptions in spared do not exclude, each for some seeds.
func disaster(o *sim.Options, spared nodes.Assumption) {
	dice, of := chance.Dice(o.Seed), o.Stack.Instances()[0]
	flip := func(count uint64) bool {
		return dice.Bits(chance.Roll{Purpose: chance.ForTrial, Count: count})%2 == 0
	}
	if flip(9) { // some are idle when it strikes
		o.Workload.Load, o.Workload.Think = workload.Closed, algotest.Drawn("exponential:2ms")
	}
	o.Reordering = spared&nodes.FIFO == 0 && flip(1)
	var faults []chaos.Fault
	if spared&nodes.NoDuplication == 0 && flip(2) {
		faults = append(faults, chaos.Fault{Effect: &effect.Duplicate{Of: 0.1}})
	}
	if spared&nodes.NoLoss == 0 && flip(3) {
		faults = append(faults, chaos.Fault{Effect: &effect.Loss{Of: effect.Losses{Rate: 0.03}}})
	}
	switch {
	case spared&nodes.PerfectDetector == 0 && flip(10):
		o.Stack = algotest.StackOf(of.Algorithm, of.Config, besides(of.Algorithm, of.Config.N, jumpy)...)
	case flip(11):
		o.Stack = algotest.StackOf(of.Algorithm, of.Config,
			besides(of.Algorithm, of.Config.N, cmp.Or(of.Detects, "perfect"))...)
	}
	if spared&nodes.NoCrash == 0 && (spared&nodes.Majority == 0 || of.Config.N > 2) && flip(4) {
		roll := chance.Roll{Purpose: chance.ForTrial, Count: 5}
		victims := o.Stack.Total()
		if spared&nodes.ServersUp != 0 {
			victims = o.Stack.N()
		}
		victim := nodes.ID(dice.Below(roll, victims))
		kill := effect.Kill{Who: effect.Target{List: nodes.Group{victim}}}
		crash := chaos.Fault{Effect: &kill}
		roll.Count++
		crash.At = time.Duration(dice.Unit(roll) * float64(30*time.Millisecond))
		// A restart that loses state is amnesia, even if all saved state is restored.
		forgets := spared&nodes.NoAmnesia == 0 && flip(7)
		if forgets || flip(12) && !o.Stack.Forgets(victim, false) {
			roll.Count = 8
			crash.For = 50*time.Microsecond + time.Duration(dice.Unit(roll)*float64(2*time.Millisecond))
			kill.Forget = forgets
			// What is forgotten matters most while somebody is inside and others ask, and if two forget it.
			if forgets && flip(13) && of.Config.N > 1 {
				kill.Who.List = append(kill.Who.List, (victim+1)%nodes.ID(of.Config.N))
				crash.At, crash.When = 0, chaos.When{What: "enters", Nth: 1 + int(o.Seed%5)}
				o.Workload.Hold = algotest.Drawn("exponential:50ms")
			}
		}
		if of.Config.N > 1 || crash.For > 0 || int(victim) >= of.Config.N { // or nobody is left to be served
			faults = append(faults, crash)
		}
	}
	if of.Detects == "" { // a detector would suspect nodes that are cut off or pause
		faults = append(faults, lasting(o, spared, flip, len(faults) > 0)...)
	}
	algotest.Over(o, algotest.NetworkOf("exponential:1ms"), faults...)
}

// lasting returns faults that last long enough for an algorithm to act on them by its timers: a cut, and a
// pause unless other faults may have taken the node down.
func lasting(o *sim.Options, spared nodes.Assumption, flip func(uint64) bool,
	others bool) (all []chaos.Fault) {
	dice := chance.Dice(o.Seed)
	n := o.Stack.N()
	begins := dice.Unit(chance.Roll{Purpose: chance.ForTrial, Count: 21})
	lasts := chaos.Fault{Schedule: chaos.Schedule{At: time.Duration(begins * float64(30*time.Millisecond)),
		For: max(20*time.Millisecond, o.Stack.Instances()[0].GraceOf(o.Stack.Instances()[0].Config))}}
	if spared&nodes.NoLoss == 0 && flip(22) && n > 1 {
		cut := algotest.Cut("random")
		lasts.Effect = &effect.Partition{Cut: cut}
		all = append(all, lasts)
	}
	if spared&(nodes.NoPause|nodes.Timing) == 0 && flip(23) && !others {
		victim := dice.Below(chance.Roll{Purpose: chance.ForTrial, Count: 20}, n)
		lasts.Effect = &effect.Pause{Who: effect.Target{List: nodes.Group{nodes.ID(victim)}}}
		all = append(all, lasts)
	}
	return all
}
