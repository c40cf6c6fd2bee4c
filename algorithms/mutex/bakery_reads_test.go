package mutex

import (
	"testing"

	"turnstile/algorithms/register"
	"turnstile/nodes"
	"turnstile/nodes/sim"
	"turnstile/nodes/workload"
)

func bakeryReadsMutants() []mutant {
	along := func(reads string) func(string, string, func(bakery) nodes.Machine) mutant {
		return mutantsOf[bakery](&bakeryAlgorithm, nodes.Config{N: 4}.With(readsOption.Name, reads))
	}
	tree, line := along(byTree), along(byLine)
	return []mutant{
		tree("a node tells its parent its own number alone", "exclusion",
			func(b bakery) nodes.Machine { return &bakeryLeaf{b} }),
		tree("numbers are merged into the highest while a node waits", "exclusion",
			func(b bakery) nodes.Machine { return &bakeryHighest{b} }),
		tree("who was told of one ahead reads nobody else again", "exclusion",
			func(b bakery) nodes.Machine { return &bakeryTrusting{b} }),
		line("the number of a node is taken for that of those below it as well", "exclusion",
			func(b bakery) nodes.Machine { return &bakeryShallow{b} }).copied(),
		line("nothing is merged from a node that comes later", "progress",
			func(b bakery) nodes.Machine { return &bakeryMute{b} }),
	}
}

type (
	bakeryLeaf     struct{ bakery }
	bakeryHighest  struct{ bakery }
	bakeryTrusting struct{ bakery }
	bakeryShallow  struct{ bakery }
	bakeryMute     struct{ bakery }
)

func (b *bakeryLeaf) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if g, ok := m.(register.Gather); ok {
		env.Send(from, register.Merged{Root: g.Root, Var: g.Var, Tag: g.Tag, Value: b.own.Get(g.Var),
			Of: env.Self()})
		return
	}
	b.bakery.Receive(env, from, m)
}

func (b *bakeryHighest) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if g, ok := m.(register.Gather); ok {
		g.Least = false
		m = g
	}
	b.bakery.Receive(env, from, m)
}

func (b *bakeryTrusting) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	b.some = false
	b.bakery.Receive(env, from, m)
}

func (b *bakeryShallow) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if v, ok := m.(register.Value); ok && !b.some {
		m = register.Merged{Root: env.Self(), Var: v.Var, Tag: v.Tag, Value: v.Value, Of: from}
	}
	b.bakery.Receive(env, from, m)
}

func (b *bakeryMute) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if v, ok := m.(register.Merged); ok && v.Root != env.Self() && from > env.Self() {
		return
	}
	b.bakery.Receive(env, from, m)
}

// A node that reads along a tree gets as many answers as it has children, and not one of each peer.
func TestReadersGetMergedAnswers(t *testing.T) {
	const n = 9
	for reads, children := range map[string]int{byTree: 2, byLine: 1} {
		got, entries := 0, 0
		c := nodes.Config{N: n}.With(readsOption.Name, reads)
		o := watchedOptions(&bakeryAlgorithm, c, 1, func(m nodes.Machine, received nodes.Message, handle func()) {
			b := m.(*bakery)
			before := b.step
			if v, ok := received.(register.Merged); ok && below(b.tree(), n, v.Root, v.Root) != nil {
				awaits := b.client.WaitsFor()
				handle()
				if after := b.client.WaitsFor(); after.Len() != awaits.Len() || b.step != before {
					got++
				}
			} else {
				handle()
			}
			if b.step == bakeryInside && before != bakeryInside {
				entries++
			}
		})
		o.Workload.Load, o.FaultDriver = workload.Sequential, nil
		if _, err := sim.Run(o); err != nil || got != 3*children*entries || entries == 0 {
			t.Errorf("%s: in %d entries readers get %d answers, want %d each (%v)", reads, entries, got,
				3*children, err)
		}
	}
}
