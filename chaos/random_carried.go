package chaos

import (
	"fmt"
	"slices"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/workload"
)

// carrying are the keys of the faults of clocks, connections and brokers, of which a random plan has one at
// most.
var carrying = []string{"clock", "lag", "throttle", "stall", "reset", "kill-broker", "pause-broker",
	"cut-routes"}

// another draws a fault of a clock, of a connection or of a broker, as often as not, that the run can carry
// out and that breaks none of some assumptions: beside what is drawn already, so that this is the same as it
// would be without. None is drawn where a fault is to break what shows that the algorithm is broken.
func (r *drawn) another(keeps nodes.Assumption) []Fault {
	if r.below(2) == 0 || keeps != 0 && r.s.Spec.Leads != nil && r.below(3) > 0 ||
		r.s.Spec.Leads != nil && r.s.Spec.BrokenBy != 0 {
		return nil
	}
	suits := func(f Fault) bool {
		return f.Breaks()&keeps == 0 && f.Check(r.s) == nil && (f.Clock.IsZero() || !r.clocks) &&
			// of what waits for bandwidth nobody knows when it comes, so nothing would be said of what comes after
			(f.Throttle.IsZero() || r.s.Spec.Leads == nil || r.below(6) == 0)
	}
	var all []Fault
	for _, key := range carrying {
		if f := r.carried(key); suits(f) {
			all = append(all, f)
		}
	}
	if len(all) == 0 {
		return nil
	}
	one := all[r.below(len(all))]
	return []Fault{one}
}

// carried draws a fault of a kind among carrying. It has an end, without which a simulation cannot carry it
// out.
func (r *drawn) carried(key string) (f Fault) {
	f.At, f.For = r.between(0, 0.6), r.between(0.02, 0.1)
	if r.s.Spec.Leads != nil {
		f.At, f.For = r.start(), max(r.length(), min(2*workload.CampaignAfter, r.longEnough()))
	}
	who := Target{Word: "random", Many: 1}
	if r.below(3) == 0 {
		who = Target{Word: "holder"}
		if r.s.Spec.Leads != nil {
			who = Target{Word: "leader"}
		}
	}
	broker := nodes.ID(r.below(r.s.brokers()))
	switch later := r.between(0.001, 0.02); key {
	case "clock":
		f.Clock = Target{Word: "random", Many: 1} // who it is must be known: one clock has one rate at a time
		if f.Rate = float64(1+r.below(40)) / 20; r.below(2) == 0 {
			f.Rate, f.By, f.For = 0, later, 0
			if r.below(2) == 0 {
				f.By = -later
			}
		}
	case "lag":
		f.Lag, f.By = who, min(later, time.Second)
	case "throttle":
		f.Throttle, f.To = who, Bandwidth(2000<<r.below(6))
	case "stall":
		f.Stall = who
	case "reset":
		f.Reset = who
	case "kill-broker":
		f.KillBroker = Brokers{Group{broker}}
	case "pause-broker":
		f.PauseBroker = Brokers{Group{broker}}
	case "cut-routes":
		others := Group{0, 1, 2}
		others = slices.DeleteFunc(others, func(id nodes.ID) bool { return id == broker })
		if err := f.CutRoutes.Set(fmt.Sprintf("%d/%s", broker, others)); err != nil {
			panic(err) // a slip of the pen above
		}
	}
	return f
}
