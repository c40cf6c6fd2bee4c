package chaos

import (
	"time"

	"turnstile/chaos/effect"
	"turnstile/internal/chance"
	"turnstile/nodes"
)

// electionFaults is anyElectionFaults. Of an algorithm that is known to be broken by some faults it draws
// those alone.
func (r *drawn) electionFaults() []Fault {
	by, before := r.s.Spec.Broken().By, r.kept
	for range 1000 {
		all := r.anyElectionFaults()
		if len(all) > 0 && (by == 0 || all[len(all)-1].Breaks()&by != 0) {
			return all
		}
		r.kept = before
	}
	return nil // the run has no time for more
}

// anyElectionFaults draws what goes wrong in a run about leaders: one fault, or several that belong together.
//
// How long a fault lasts is drawn over all orders of magnitude, from a millisecond up to a tenth of the run,
// so that some last for about as long as each timeout of the algorithm; but who is killed mostly stays down
// for as long as it takes to elect another. Some begin with the run, in its first election, some with another
// campaign, and some at a moment of an election. The first of a plan is one that hits whatever is sent, or a
// node, so that few plans hit nothing.
func (r *drawn) anyElectionFaults() []Fault {
	f := Fault{Schedule: Schedule{At: r.start(), For: r.length()}}
	which := r.below(13)
	if r.s.total() == 1 && (which < 3 || which == 10) { // there is nobody to be cut off from
		which = 5
	}
	switch which {
	case 0, 1:
		f.Effect = &effect.CutLinks{Cut: r.cut()}
	case 2:
		return r.flaps(f)
	case 3:
		f.Effect, f.Kind = r.losses(40), r.kind(3)
	case 4:
		f.Effect, f.For = &effect.Loss{Of: effect.Losses{Rate: 1}}, 0
		f.Kind, f.Nth = r.kind(0), uint64(1+r.below(4))
	case 5:
		if r.below(8) == 0 {
			f.Effect = &effect.Bandwidth{Rate: effect.Bytes(500 << r.below(6))}
		} else {
			f.Effect, f.Kind = &effect.Delay{Later: r.late()}, r.kind(2)
		}
	case 6:
		f.Effect, f.Kind = &effect.Duplicate{Of: effect.Share(1+r.below(50)) / 100}, r.kind(3)
	case 7:
		f.Effect, f.Kind = &effect.Reorder{Later: r.late()}, r.kind(3)
	case 8, 9:
		return r.deaths(f)
	case 10:
		if !r.first { // its moment may never come
			return r.atMoment(f)
		}
		return r.deaths(f)
	case 11:
		f.Effect = &effect.Pause{Who: r.victim()}
	case 12:
		f = r.strain(f)
	}
	return []Fault{r.surely(f)}
}

// late draws delays of up to such a time.
func (r *drawn) late() chance.Distribution {
	return must(chance.ParseDistribution("uniform:0s," + r.length().String()))
}

// kind draws a kind of message of the algorithm; so many times as often as one of them, none.
func (r *drawn) kind(none int) string {
	if none > 0 && r.below(none+1) > 0 {
		return ""
	}
	return r.s.codec().Name(r.below(r.s.Spec.CodecIn(r.s.Config).Kinds()))
}

// victim draws whom a fault of processes hits.
func (r *drawn) victim() effect.Target {
	switch which := r.below(5); {
	case which < 2:
		return leader
	case which == 2 && r.s.Spec.Coordinator != nil && !r.servers:
		r.servers = true // one fault hits those, so that no two cannot hold together
		return effect.Target{Word: "coordinator"}
	}
	return someone
}

// leader is whom a fault hits that hits who leads then.
var leader = effect.Target{Word: "leader"}

// someone is a client that is drawn later.
var someone = effect.Target{Word: "random", Many: 1}

// cut draws who is cut off from whom.
func (r *drawn) cut() effect.Cut {
	if host := r.host(); host != "" {
		return must(effect.ParseCut(host))
	}
	words := []string{"random", "leader"}
	if r.s.Config.N >= 3 {
		words = append(words, "minority", effect.BridgeCut)
	}
	if r.s.Config.N >= 4 {
		words = append(words, effect.RingCut)
	}
	word := r.below(2 * len(words))
	if word >= len(words) {
		return r.parts()
	}
	return must(effect.ParseCut(words[word]))
}

// parts draws a cut into two groups, one way or both ways. The servers are in one of these, or reach all.
func (r *drawn) parts() effect.Cut {
	total := r.s.Config.N
	if total == 1 || r.below(2) == 0 {
		total = r.s.total()
	}
	order := shuffled(chance.Dice(r.dice.Bits(r.roll())), total)
	at := 1 + r.below(total-1)
	return effect.CutInto(r.below(3) == 0 && !r.first, sorted(order[:at]), sorted(order[at:]))
}

// flaps draws links that are cut and come back, again and again.
func (r *drawn) flaps(f Fault) []Fault {
	f.Repeat = 2 + r.below(5)
	if r.first { // so that each lasts for longer than a message takes
		f.For = max(f.For, 2*r.longEnough(), time.Duration(f.Repeat)*5*time.Millisecond)
	}
	f.For = max(time.Millisecond, f.For/time.Duration(f.Repeat)).Truncate(time.Millisecond)
	f.Every = f.For + max(time.Millisecond, r.length()/time.Duration(f.Repeat)).Truncate(time.Millisecond)
	f.Effect = &effect.CutLinks{Cut: r.parts()}
	if r.s.codec().Networks() > 1 && r.below(2) == 0 {
		f.Network = new(effect.Net(r.below(2)))
	}
	return []Fault{f}
}

// atMoment has a fault kill or stop a node, or cut it off, when some node has sent or received a message, as
// a rule itself. As often as not, somebody is killed before, so that an election takes place.
func (r *drawn) atMoment(f Fault) (all []Fault) {
	switch r.below(4) {
	case 0, 1:
		all = r.deaths(f)
	case 2:
		f.At = 0
	}
	who := nodes.ID(r.below(r.s.total()))
	f.When = When{Who: effect.Group{who}, What: [...]string{"sends", "receives"}[r.below(2)], Kind: r.kind(0),
		Nth: 1 + r.below(3)}
	if r.below(3) == 0 {
		f.When.Who = effect.Group{nodes.ID(r.below(r.s.total()))}
	}
	brief := r.below(2) == 0
	if brief { // for about as long as messages take
		f.For = time.Duration(1+r.below(3)) * time.Millisecond
	}
	switch r.below(4) {
	case 0, 1:
		k := effect.Kill{Who: effect.Target{Nodes: effect.Group{who}}, Forget: r.below(4) == 0}
		if f.Effect = &k; !brief {
			f.For = r.outage()
		}
		if r.forGood() {
			f.For, k.Forget = 0, false
		}
	case 2:
		f.Effect = &effect.Pause{Who: effect.Target{Nodes: effect.Group{who}}}
	case 3:
		f.Effect = &effect.CutLinks{Cut: r.s.apart(effect.Group{who})}
	}
	return append(all, f)
}

// forGood draws whether who is killed stays down: not all may. Crashes that break an algorithm are often
// such.
func (r *drawn) forGood() bool {
	r.kills++
	one := 4
	if r.s.Spec.Broken().By != 0 {
		one = 2
	}
	return r.below(one) == 0 && r.kills < r.s.Config.N
}

// strain draws a node that is slow, or whose clock is wrong.
func (r *drawn) strain(f Fault) Fault {
	if r.clocks || r.below(2) == 0 {
		f.Effect = &effect.Slow{Who: someone, Share: effect.Share(20+r.below(60)) / 100}
		return f
	}
	c := effect.Clock{Who: someone}
	if r.below(2) == 0 {
		c.Rate = float64(1+r.below(40)) / 20
	} else {
		c.By, f.For = f.For, 0
		if r.below(2) == 0 {
			c.By = -c.By
		}
	}
	f.Effect, r.clocks = &c, true
	return f
}
