package sim

import (
	"time"

	"turnstile/chaos"
	"turnstile/chaos/effect"
	"turnstile/internal/chance"
	"turnstile/nodes"
	"turnstile/nodes/history"
)

// over makes the messages of a run travel over a network with faults.
func over(o *Options, n chaos.Network, faults ...chaos.Fault) {
	of := o.Stack.Instances()[0]
	scene := &chaos.Scene{Spec: of.Algorithm, Config: of.Config, Stack: o.Stack, Measured: 24 * time.Hour}
	resolved, err := chaos.Resolve(faults, scene, o.Seed)
	if err != nil {
		panic(err) // the test itself is wrong
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

// crash returns a fault: a node goes down at a time, and comes up again after the time lasts, if not zero.
func crash(id nodes.ID, at, lasts time.Duration) chaos.Fault {
	return chaos.Fault{Effect: &effect.Kill{Who: effect.Target{List: nodes.Group{id}}},
		Schedule: chaos.Schedule{At: at, For: lasts}}
}

// faultless leaves out the events that a fault begins or is healed, but not the effects of the fault.
type faultless struct{ history.Fold }

func (f faultless) Add(e history.Event) {
	if e.Kind != history.FaultBegan && e.Kind != history.FaultHealed {
		f.Fold.Add(e)
	}
}
