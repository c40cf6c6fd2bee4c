package sim

import (
	"slices"
	"testing"
	"time"

	"turnstile/chaos"
	"turnstile/chaos/effect"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/history"
	"turnstile/nodes/workload"
)

// A node that stands still does nothing, and catches up afterwards.
func TestNodesThatStandStill(t *testing.T) {
	o := options(t, "ricart-agrawala", 3, slow(t))
	const at, until = 20 * time.Millisecond, 50 * time.Millisecond
	over(&o, latency(t, "2ms"), chaos.Fault{Effect: &effect.Pause{Who: effect.Target{List: nodes.Group{1}}},
		Schedule: chaos.Schedule{At: at, For: until - at}})
	h := &history.History{}
	if _, err := Run(o, h); err != nil {
		t.Fatal(err)
	}
	before, after, noted, rested := 0, 0, 0, false
	for _, e := range h.Events {
		switch when := time.Duration(e.At); {
		case e.Kind == history.Paused && when == at || e.Kind == history.Resumed && when == until:
			noted++
		case e.Kind == history.Marked:
			rested = rested || e.Count == history.Rested
		case e.Node != 1:
		case when < at:
			before++
		case when < until:
			t.Errorf("at %v node 1 has %v", when, e.Kind)
		default:
			after++
		}
	}
	if !rested || before == 0 || after == 0 || noted != 2 {
		t.Errorf("%d events before, %d after, %d of the pause itself; at rest: %v", before, after, noted, rested)
	}
}

// A resumed node handles the messages that it missed before later ones, so links keep their order.
func TestWhatWasMissedComesFirst(t *testing.T) {
	spec := &algorithm.Algorithm{
		Spec: nodes.Spec{
			Name: "counting", Kind: nodes.Election,
			Messages: []nodes.MessageKind{{Zero: numbered{}}},
			New:      func(nodes.Config) nodes.Machine { return &counting{} },
		},
		Elector: &algorithm.Leadership{},
	}
	o := Options{Stack: stackOf(spec, nodes.Config{N: 2}), Workload: workload.Workload{Load: workload.Campaign},
		Duration: 50 * time.Millisecond, Seed: 1}
	const five = 5 * time.Millisecond
	over(&o, latency(t, "1ms"), chaos.Fault{Effect: &effect.Pause{Who: effect.Target{List: nodes.Group{1}}},
		Schedule: chaos.Schedule{At: five, For: five}})
	h := &history.History{}
	if _, err := Run(o, h); err != nil {
		t.Fatal(err)
	}
	var terms []int64
	for _, e := range h.Events {
		if e.Kind == history.Elected && e.Node == 1 {
			terms = append(terms, e.Value)
		}
	}
	if len(terms) < 40 || !slices.IsSorted(terms) {
		t.Errorf("node 1 was sent 1, 2, 3... and handled %v", terms)
	}
}

// counting sends a number each millisecond from node 0 to node 1, which records it as the term of an Elect.
type counting struct{ count uint64 }

type numbered struct{ Count uint64 }

func (*counting) Campaign(*nodes.Env) {}

func (c *counting) Start(env *nodes.Env) {
	if env.Self() == 0 {
		env.SetTimer(nodes.Timer{}, time.Millisecond, time.Millisecond)
	}
}

func (c *counting) Timeout(env *nodes.Env, _ nodes.Timer) {
	c.count++
	env.Send(1, numbered{c.count})
	env.SetTimer(nodes.Timer{}, time.Millisecond, time.Millisecond)
}

func (c *counting) Receive(env *nodes.Env, _ nodes.ID, m nodes.Message) {
	env.Elect(env.Self(), m.(numbered).Count)
}
