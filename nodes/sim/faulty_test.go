package sim

import (
	"time"

	"turnstile/chaos"
	"turnstile/chaos/effect"
	"turnstile/internal/chance"
	"turnstile/nodes"
	"turnstile/nodes/history"
)

// over has messages travel over a network.
func over(o *Options, n chaos.Network, faults ...chaos.Fault) {
	of := o.Stack.Instances()[0]
	scene := &chaos.Scene{Spec: of.Row, Config: of.Config, Measured: 24 * time.Hour}
	resolved, err := chaos.Resolve(faults, scene, o.Seed)
	if err != nil {
		panic(err) // a slip of the pen in a test
	}
	s, err := n.Simulated(resolved, scene, o.Seed)
	if err != nil {
		panic(err)
	}
	o.FaultDriver, o.Latency, o.Shaper = s.FaultDriver, s.Latency, s.Shaper
}

// suffer has faults take place in a run whose messages take a millisecond.
func suffer(o *Options, faults ...chaos.Fault) {
	over(o, chaos.Network{Latency: chance.Constant(time.Millisecond)}, faults...)
}

// crash has a node go down at a time, and come up again some time later if that is not zero.
func crash(id nodes.ID, at, lasts time.Duration) chaos.Fault {
	return chaos.Fault{Effect: &effect.Kill{Who: effect.Target{List: effect.Group{id}}},
		Schedule: chaos.Schedule{At: at, For: lasts}}
}

// faultless leaves out that faults were asked for, but not what they do.
type faultless struct{ history.Fold }

func (f faultless) Add(e history.Event) {
	if e.Kind != history.FaultBegan && e.Kind != history.FaultHealed {
		f.Fold.Add(e)
	}
}
