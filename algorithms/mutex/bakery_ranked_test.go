package mutex

import (
	"testing"

	"turnstile/algorithms/register"
	"turnstile/judge/algotest"
	"turnstile/nodes"
	"turnstile/nodes/explore"
	"turnstile/nodes/replay"
	"turnstile/nodes/sim"
)

// printedBakery names the mutant that follows the printed rules: a node enters without checking claims.
const printedBakery = "who finds nobody before it enters"

func bakeryRankedMutants() []mutant {
	change := mutantsOf[bakeryRanked](&bakeryAlgorithm, nodes.Config{N: 3})
	numbers := mutantsOf[bakery](&bakeryAlgorithm, nodes.Config{N: 3})
	return []mutant{
		numbers("all take the same number, so that the lowest ID comes first", "exclusion",
			func(b bakery) nodes.Machine { return &bakeryByID{b} }),
		change(printedBakery, "exclusion",
			func(b bakeryRanked) nodes.Machine { return &bakeryPrinted{b} }).at("priority", "id"),
		change("who has found nobody else says then that it is first", "exclusion",
			func(b bakeryRanked) nodes.Machine { return &bakeryLate{b} }).at("priority", "fewest"),
		change("nobody takes back that it is first", "progress",
			func(b bakeryRanked) nodes.Machine { return &bakeryStubborn{b} }).at("priority", "fewest"),
	}
}

type (
	bakeryByID     struct{ bakery }
	bakeryPrinted  struct{ bakeryRanked }
	bakeryLate     struct{ bakeryRanked }
	bakeryStubborn struct{ bakeryRanked }
)

func (b *bakeryByID) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if v, ok := m.(register.Value); ok && b.step == bakeryPicks {
		v.Value = 0
		m = v
	}
	b.bakery.Receive(env, from, m)
}

func (b *bakeryPrinted) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	before := b.step
	b.bakeryRanked.Receive(env, from, m)
	if before == bakeryWaits && b.step == bakeryClaims {
		b.step = bakeryInside
		b.client.Begin(env) // no answer matters any more
		env.Grant()
	}
}

func (b *bakeryLate) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if _, asks := m.(register.Read); asks && b.step == bakeryClaims {
		b.show(b.ours.Clock, standsWaiting)
		b.bakeryRanked.Receive(env, from, m)
		b.show(b.ours.Clock, standsFirst)
		return
	}
	b.bakeryRanked.Receive(env, from, m)
}

func (b *bakeryStubborn) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	by := b.by
	if b.step == bakeryClaims {
		b.by, b.ours.ID = byID, -1 // nobody comes before it
	}
	b.bakeryRanked.Receive(env, from, m)
	b.by, b.ours.ID = by, env.Self()
}

// By the rules as printed a node waits only for nodes that come before it. Then any priority but numbers
// lets two in: a later node may come first, while another is inside.
func TestPrintedPrioritiesOfBakeryLetTwoIn(t *testing.T) {
	for _, value := range priorityOption.Values[1:] {
		for _, m := range bakeryRankedMutants() {
			if m.rule != printedBakery {
				continue
			}
			c := nodes.Config{N: 2}.With(priorityOption.Name, value)
			x := algotest.Explore(t, explore.Space{Spec: &m.spec, Config: c, Entries: 2})
			if x.Violation == nil || x.Violation.Check != replay.CheckExclusion {
				t.Errorf("%s: %+v", value, x.Violation)
			}
			sound := algotest.Explore(t, explore.Space{Spec: &bakeryAlgorithm, Config: c, Entries: 2})
			if sound.Violation != nil || !sound.Exhausted || !sound.Progress {
				t.Errorf("%s, mended: %+v", value, sound)
			}
		}
	}
}

// A node that left later has the higher number, though nodes read no clocks.
func TestBakeryKnowsWhoLeftLongestAgo(t *testing.T) {
	last, left := uint64(0), 0
	c := nodes.Config{N: 4}.With(priorityOption.Name, priorityOption.Values[byLongestAgo])
	o := watchedOptions(&bakeryAlgorithm, c, 1, func(m nodes.Machine, received nodes.Message, handle func()) {
		b := m.(*bakeryRanked)
		was := b.step
		handle()
		if was != bakeryInside || b.step != bakeryOutside {
			return
		}
		if left++; b.last <= last {
			t.Errorf("a node leaves with %d after another with %d", b.last, last)
		}
		last = b.last
	})
	if _, err := sim.Run(o); err != nil || left < 50 {
		t.Errorf("%d have left, %v", left, err)
	}
}
