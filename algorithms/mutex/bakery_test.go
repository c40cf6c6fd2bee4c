package mutex

import (
	"fmt"
	"testing"

	"turnstile/algorithms/register"
	"turnstile/nodes"
	"turnstile/nodes/sim"
	"turnstile/nodes/workload"
)

func bakeryMutants() []mutant {
	change := mutantsOf[bakery](&bakeryAlgorithm, nodes.Config{N: 3})
	return []mutant{
		change("a raised hand is not waited for", "exclusion",
			func(b bakery) nodes.Machine { return &bakeryHandless{b} }),
		change("a node takes the highest number that it has read", "exclusion",
			func(b bakery) nodes.Machine { return &bakeryModest{b} }),
		change("of two with the same number each takes itself to be first", "exclusion",
			func(b bakery) nodes.Machine { b.lacks = lacksTies; return &b }),
		change("of two with the same number each takes the other to be first", "progress",
			func(b bakery) nodes.Machine { return &bakeryPolite{b} }),
		change("a late answer counts for all that are missing", "exclusion or panic",
			func(b bakery) nodes.Machine { return &bakeryCredulous{b} }).copied(),
		change("who leaves keeps its number", "progress",
			func(b bakery) nodes.Machine { return &bakeryClinging{b} }),
		change("what keeps a node waiting is not read again", "progress",
			func(b bakery) nodes.Machine { return &bakeryResigned{b} }),
		change("one request of a node in 25 reads a number once more", "cost",
			func(b bakery) nodes.Machine { return &bakeryWasteful{bakery: b} }).wasteful(),
		change("the last node takes a new number whenever it has waited", "fairness",
			func(b bakery) nodes.Machine { return &bakeryUnfair{b} }),
	}
}

type (
	bakeryHandless  struct{ bakery }
	bakeryModest    struct{ bakery }
	bakeryPolite    struct{ bakery }
	bakeryCredulous struct{ bakery }
	bakeryClinging  struct{ bakery }
	bakeryResigned  struct{ bakery }
	bakeryUnfair    struct{ bakery }
	bakeryWasteful  struct {
		bakery
		waste
	}
)

func (b *bakeryHandless) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if v, ok := m.(register.Value); ok && v.Var == bakeryChoosing {
		v.Value = 0
		m = v
	}
	b.bakery.Receive(env, from, m)
}

func (b *bakeryModest) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if v, ok := m.(register.Value); ok && b.step == bakeryPicks && v.Value > 0 {
		v.Value--
		m = v
	}
	b.bakery.Receive(env, from, m)
}

func (b *bakeryPolite) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	ours := b.own.Get(bakeryNumber)
	v, ok := m.(register.Value)
	if !ok || b.step != bakeryWaits || v.Value != ours {
		b.bakery.Receive(env, from, m)
		return
	}
	b.own.Set(bakeryNumber, ours+1)
	b.bakery.Receive(env, from, m)
	b.own.Set(bakeryNumber, ours)
}

func (b *bakeryCredulous) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	v, ok := m.(register.Value)
	if !ok {
		b.bakery.Receive(env, from, m)
		return
	}
	_, awaited := b.client.Take(from, m)
	if !awaited && b.client.Awaited() {
		b.client.Begin(env)
		awaited = true
	}
	if awaited {
		b.see(env, from, v.Value)
	}
}

func (b *bakeryClinging) Release(*nodes.Env) { b.step = bakeryOutside }

func (b *bakeryResigned) Timeout(*nodes.Env, nodes.Timer) {}

func (b *bakeryWasteful) Request(env *nodes.Env) {
	if b.now() {
		env.Send(b.after(env, nodes.None), register.Read{})
	}
	b.bakery.Request(env)
}

func (b *bakeryUnfair) Timeout(env *nodes.Env, t nodes.Timer) {
	if b.step == bakeryWaits && int(env.Self()) == env.N()-1 {
		clear(b.ahead)
		b.own.Set(bakeryNumber, 0)
		b.Request(env)
		return
	}
	b.bakery.Timeout(env, t)
}

// "The user with the lowest numbered slip wins": a node that is let in has the lowest number of all.
func TestBakeryServesTheLowestNumber(t *testing.T) {
	all, fault, entries := map[nodes.Machine]nodes.ID{}, "", 0
	err := runWatched(t, &bakeryAlgorithm, 5, 1, func(m nodes.Machine, _ nodes.Message, handle func()) {
		b := m.(*bakery)
		if _, known := all[m]; !known {
			all[m] = nodes.ID(len(all))
		}
		before := b.step
		handle()
		if b.step != bakeryInside || before == bakeryInside {
			return
		}
		entries++
		ours := b.own.Get(bakeryNumber)
		for other := range all {
			if theirs := other.(*bakery).own.Get(bakeryNumber); theirs != 0 && theirs < ours {
				fault = fmt.Sprintf("it enters with %d while another has %d", ours, theirs)
			}
		}
	})
	if err != nil || fault != "" || entries < 50 {
		t.Errorf("%d entries: %s, %v", entries, fault, err)
	}
}

// "Picks a number one larger than the number of any waiting customer": numbers begin again at 1 once nobody
// is in the bakery.
func TestBakeryNumbersBeginAgain(t *testing.T) {
	taken := map[uint64]int{}
	four := nodes.Config{N: 4}
	o := watchedOptions(&bakeryAlgorithm, four, 1, func(m nodes.Machine, _ nodes.Message, handle func()) {
		b := m.(*bakery)
		before := b.own.Get(bakeryNumber)
		if handle(); before == 0 && b.own.Get(bakeryNumber) != 0 {
			taken[b.own.Get(bakeryNumber)]++
		}
	})
	o.Workload.Load = workload.Sequential
	if _, err := sim.Run(o); err != nil || len(taken) != 1 || taken[1] < int(o.Entries) {
		t.Errorf("of entries one at a time, so often were these numbers taken: %v, %v", taken, err)
	}
}
