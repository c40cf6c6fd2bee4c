package chaos

import (
	"math/bits"
	"time"

	"turnstile/chaos/effect"
	"turnstile/nodes"
	"turnstile/nodes/workload"
)

// start draws when a fault begins: mostly about when somebody campaigns, if that is again and again.
func (r *drawn) start() time.Duration {
	if r.s.Campaigns > 0 && (r.first || r.below(4) > 0) {
		return r.campaign(0.6)
	}
	switch r.below(4) {
	case 0:
		return 0
	case 1:
		return r.length()
	}
	return r.between(0, 0.6)
}

// campaign draws a time at which messages of an election are on their way, in the first share of the run:
// from just before a campaign to a few times what a message takes after it.
func (r *drawn) campaign(share float64) time.Duration {
	last := int(share * float64(r.s.Measured) / float64(r.s.Campaigns))
	at := workload.CampaignAfter - time.Millisecond + time.Duration(r.below(last+1))*r.s.Campaigns
	if !r.first {
		at += time.Duration(r.below(4)) * time.Millisecond
	}
	return min(at, r.s.Measured*9/10)
}

// length draws a time of up to a tenth of the run: each half as long as another is as likely. In plans that
// leave the model whole it is the shorter one of two: what lasts for long has nodes that are up seem dead.
func (r *drawn) length() time.Duration {
	longest := max(time.Millisecond, r.s.Measured/10)
	orders := bits.Len64(uint64(longest / time.Millisecond))
	shorter := r.below(orders)
	if r.inside {
		shorter = max(shorter, r.below(orders))
	}
	longest >>= shorter
	part := (0.5 + 0.5*r.dice.Unit(r.roll())) * float64(longest)
	return max(time.Millisecond, time.Duration(part).Truncate(time.Millisecond))
}

// surely has the first fault of links of a plan hit what is sent in an election, whatever its kind. Where
// chance says which messages it hits, it lasts for two.
func (r *drawn) surely(f Fault) Fault {
	if !r.first || effect.KindOf(f.Effect).Layer != effect.OfLinks {
		return f
	}
	if r.s.Campaigns == 0 {
		f.At = 0
	}
	f.Kind = ""
	switch {
	case f.Nth > 0:
	case f.Breaks()&nodes.Timing != 0: // for longer, nodes that are up would mostly seem dead
		f.For = max(f.For, min(2*workload.CampaignAfter, r.longEnough()))
	default:
		f.For = max(f.For, r.longEnough())
	}
	if is[*effect.Loss](&f) && f.Nth == 0 || is[*effect.Duplicate](&f) {
		f.For = max(f.For, min(2*r.s.Campaigns, r.s.Measured/5))
	}
	const share = 0.3
	switch e := f.Effect.(type) {
	case *effect.Loss:
		if e.Of.Rate > 0 {
			e.Of.Rate = max(e.Of.Rate, share)
		}
	case *effect.Duplicate:
		e.Of = max(e.Of, share)
	case *effect.Bandwidth:
		f.Effect = &effect.Delay{Later: r.late()}
	}
	return f
}

// longEnough is how long a fault lasts that begins with a campaign and is to hit some message of it, or a
// heartbeat.
func (r *drawn) longEnough() time.Duration {
	long := max(2*workload.CampaignAfter, r.s.Campaigns/8)
	return min(long, max(time.Millisecond, r.s.Measured/10)).Truncate(time.Millisecond)
}

// grace returns within what time the scheme has elected a leader if nothing goes wrong any more; of one
// without timeouts, which elects when somebody campaigns, within what time somebody does. 0: it is not known,
// or too long for this run.
func (r *drawn) grace() time.Duration {
	grace := r.s.Campaigns
	if r.s.Stack != nil && r.s.Stack.Grace() > 0 {
		grace = r.s.Stack.Grace()
	}
	if grace > r.s.Measured/5 {
		return 0
	}
	return grace
}

// outage draws for how long a node stays down, so that another can be elected.
func (r *drawn) outage() time.Duration {
	grace := r.grace()
	if grace == 0 {
		return r.length()
	}
	return time.Duration((1 + r.dice.Unit(r.roll())/2) * float64(grace)).Truncate(time.Millisecond)
}

// room has a fault by which a leader may die begin when those before are over, and reports whether the run
// has time for that: who dies before another is elected leaves nothing to see.
func (r *drawn) room(f *Fault) bool {
	if r.grace() == 0 {
		return true
	}
	if f.At < r.busy {
		f.At = r.busy + r.length()/4
	}
	return f.At <= r.s.Measured*65/100
}

// deaths draws who is killed, and for how long: one node, one leader after the other, or a leader and, before
// another is elected, a second node. One client at least comes up again. Nil: the run has no time for that.
func (r *drawn) deaths(f Fault) []Fault {
	forget := r.below(4) == 0
	which := r.below(8)
	if r.s.Spec.Broken().By != 0 && r.s.Spec.Broken().Times < 2 && which > 1 && r.kills == 0 && r.busy == 0 {
		return r.votersDie(f)
	}
	switch {
	case !r.room(&f):
		return nil
	case r.s.Spec.Broken().Times > 1, which == 3:
		return r.successorDies(f, forget)
	case which < 3:
		return r.leadersDie(f, forget)
	}
	who := r.victim()
	if who.Word == "random" && r.kills >= r.s.Config.N-1 {
		who = leader
	}
	if who.Word == "leader" || r.below(4) > 0 {
		f.For = r.outage()
	}
	r.busy = f.At + f.For + r.outage()
	if r.forGood() {
		f.For, forget = 0, false
	}
	f.Effect = &effect.Kill{Who: who, Forget: forget}
	return []Fault{f}
}

// votersDie has two nodes die in each of a few elections that somebody begins by a campaign, one when it
// begins and one as soon as it may have voted; they are back before it is over. It may be the same one.
// Nobody else is killed then.
func (r *drawn) votersDie(f Fault) []Fault {
	r.kills, r.busy = r.s.Config.N, r.s.Measured
	f.Effect, f.For = &effect.Kill{Who: someone}, time.Millisecond
	if r.s.Campaigns == 0 {
		return []Fault{f}
	}
	f.At = workload.CampaignAfter
	f.Every, f.Repeat = r.s.Campaigns, max(1, min(8, int(r.s.Measured*7/10/r.s.Campaigns)))
	again := f
	again.At += time.Duration(1+r.below(4)) * time.Millisecond
	return []Fault{f, again}
}

// leadersDie has one leader after the other die, as far as the run has time for elections.
func (r *drawn) leadersDie(f Fault, forget bool) (all []Fault) {
	f.Effect = &effect.Kill{Who: leader, Forget: forget}
	for count := 1 + r.below(3); len(all) == 0 || len(all) < count && f.At < r.s.Measured*6/10; {
		f.For = r.outage()
		all = append(all, f)
		f.At += f.For + r.outage()
	}
	r.busy = f.At
	return all
}

// successorDies has a leader die and, while it is down, a second node, soon after somebody has campaigned:
// the next leader, maybe, before it is known to be.
func (r *drawn) successorDies(f Fault, forget bool) []Fault {
	long := r.s.Measured / 5
	first, second := f, f
	first.Effect, second.Effect = &effect.Kill{Who: leader}, &effect.Kill{Who: someone, Forget: forget}
	if r.s.Campaigns > 0 {
		second.At = (first.At/r.s.Campaigns+1)*r.s.Campaigns + workload.CampaignAfter
	}
	second.At += time.Duration(1+r.below(3)) * time.Millisecond << r.below(6)
	first.For, second.For = long, long-(second.At-first.At)
	if r.s.Config.N < 3 || r.kills >= r.s.Config.N-1 || second.For < time.Millisecond {
		first.For = r.outage()
		r.busy = first.At + first.For + r.outage()
		return []Fault{first}
	}
	r.kills++
	r.busy = first.At + long + r.outage()
	return []Fault{first, second}
}
