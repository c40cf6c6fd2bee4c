package chaos

import (
	"time"

	"turnstile/chaos/effect"
	"turnstile/nodes"
	"turnstile/nodes/workload"
)

// another draws a fault of a clock, of a connection or of a broker, as often as not, that the run can carry
// out and that may break none of some assumptions: beside what is drawn already, so that this is the same as
// it would be without. None is drawn where a fault is to break what shows that the algorithm is broken.
func (r *drawn) another(keeps nodes.Assumption) []Fault {
	if r.below(2) == 0 || keeps != 0 && !r.oneIn(r.carried) || r.aimed && r.s.Spec.Broken().By != 0 {
		return nil
	}
	breaks := r.breaking(keeps)
	suits := func(f Fault) bool {
		return !breaks(f) && f.Check(r.s) == nil && (!is[*effect.Clock](&f) || !r.clocks) &&
			// of what waits for bandwidth nobody knows when it comes, so nothing would be said of what comes after
			(!is[*effect.Throttle](&f) || r.oneIn(r.throttles))
	}
	var all []Fault
	for _, k := range effect.Kinds {
		if k.Random == nil {
			continue
		}
		if f := r.ofKind(k); suits(f) {
			all = append(all, f)
		}
	}
	if len(all) == 0 {
		return nil
	}
	return []Fault{all[r.below(len(all))]}
}

// ofKind draws a fault of a kind that says how. It has an end, without which a simulation cannot carry it
// out.
func (r *drawn) ofKind(k *effect.Kind) (f Fault) {
	at, d := r.between(0, 0.6), effect.Draw{For: r.between(0.02, 0.1), Who: someone, Below: r.below}
	if r.when != nil {
		r.when(r, &at, &d.For)
	}
	if r.below(3) == 0 {
		d.Who = r.target
	}
	d.Broker, d.Later = nodes.ID(r.below(r.s.brokers())), r.between(0.001, 0.02)
	f.Effect = k.Random(&d)
	f.At, f.For = at, d.For
	return f
}

// longer has a fault begin with a campaign, mostly, and last for long enough to hit one.
func (r *drawn) longer(at, lasts *time.Duration) {
	*at, *lasts = r.start(), max(r.length(), min(2*workload.CampaignAfter, r.longEnough()))
}
