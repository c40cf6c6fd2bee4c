package chaos

import (
	"slices"
	"time"

	"turnstile/chaos/effect"
	"turnstile/internal/chance"
	"turnstile/nodes"
)

// interruptions draws, for some plans, kills that come in the middle of an input, or right after a message
// was sent, and are over in about as long as messages take: they show what a node has not saved before it
// sent. The dice are their own, so that a seed draws all else as it would without them.
func (r *drawn) interruptions(seed uint64, keeps nodes.Assumption) []Fault {
	own := &drawn{draws: r.draws, s: r.s, kept: r.kept,
		rolls: rolls{dice: chance.Dice(seed).Of(chance.ForPlan, 1)}}
	one := 6
	if r.s.Spec.Safe&nodes.NoAmnesia != 0 { // what it saves matters
		one = 3
	}
	if own.below(one) > 0 || nodes.NoCrash&keeps != 0 {
		return nil
	}
	breaks := r.breaking(keeps)
	all := own.interrupt()
	if len(all) == 0 || slices.ContainsFunc(all, breaks) {
		return nil
	}
	if late := own.reordered(all[0]); !breaks(late) && own.below(4) > 0 {
		all = append(all, late)
	}
	return all
}

// interrupt draws such kills of fewer than half of the clients, or of three where nodes elect: each after the
// first or second of what it saves and sends, or of its messages of one kind. Where nodes elect and what they
// save does not matter, it is one, which stays down until another can have been elected.
func (r *drawn) interrupt() (all []Fault) {
	f := Fault{Schedule: Schedule{At: r.between(0, 0.6)}}
	most, long := r.interrupts(r, &f)
	if most < 1 || long && !r.room(&f) {
		return nil
	}
	if long {
		most = 1
	}
	order := shuffled(chance.Dice(r.dice.Bits(r.roll())), r.s.Config.N)
	kind, inside := r.told(), r.below(2) == 0
	for _, id := range order[:1+r.below(most)] {
		k := effect.Kill{Who: effect.Target{Nodes: effect.Group{id}}}
		f.Effect, f.When = &k, When{}
		f.For = time.Duration(1+r.below(4)) * time.Millisecond
		if long {
			f.For = r.outage()
		}
		if inside {
			k.MidInput = 1 + r.below(2)
			all = append(all, f)
			continue
		}
		f.When = When{Who: effect.Group{id}, What: "sends", Kind: kind, Nth: 1 + r.below(2)}
		all = append(all, f)
	}
	return all
}

// told draws a kind of message that is no heartbeat; empty, for all kinds: there is none.
func (r *drawn) told() string {
	var of []int
	for own, i := r.s.Spec.CodecIn(r.s.Config), 0; i < own.Kinds(); i++ {
		if !own.Kind(i).Heartbeat {
			of = append(of, i)
		}
	}
	if len(of) == 0 {
		return ""
	}
	return r.s.codec().Name(of[r.below(len(of))])
}

// reordered draws messages that overtake each other while such kills come. Where nodes elect, they are late
// by up to a part of the grace, so that those of one election meet those of the next.
func (r *drawn) reordered(f Fault) Fault {
	late := Fault{Schedule: Schedule{At: f.At, For: r.between(0.02, 0.1)}}
	late.Effect = &effect.Reorder{Later: r.latency()}
	if r.reorders != nil {
		r.reorders(r, &late)
	}
	return late
}

// interruptsElections implements draws.interrupts for runs about leaders.
func (r *drawn) interruptsElections(f *Fault) (most int, long bool) {
	f.At = r.start()
	return min(3, r.s.Config.N), r.s.Spec.Safe&nodes.NoAmnesia == 0
}

// acrossElections has messages come late by up to a part of the grace, if that is long.
func (r *drawn) acrossElections(f *Fault) {
	grace := min(r.s.Spec.GraceOf(r.s.Spec.Explicit(r.s.Config)), r.s.Measured/10)
	if grace < 100*time.Millisecond {
		return
	}
	most := grace / time.Duration(8<<r.below(5))
	later := must(chance.ParseDistribution("uniform:0s," + most.Truncate(100*time.Microsecond).String()))
	f.Effect = &effect.Reorder{Later: later}
	f.For = (grace / time.Duration(1+r.below(4))).Truncate(time.Millisecond)
}
