package section

import "turnstile/nodes/history"

// register takes the count that an entry read from the register, at some time since its request. It never
// counts too few units. It may count units of dead nodes that were not taken out yet, and units that no
// client holds if a node died while it changed the register.
func (r *Resource) register(e *history.Event, s *Section, stretch int, spared bool) {
	doubt := r.orphaned + r.unknown - r.takenOut
	if s != nil {
		doubt += r.takenOut - s.takenOut
	}
	certain := e.Count - min(e.Count, doubt)
	switch over := e.Count > r.Capacity; {
	case over && certain <= r.Capacity && r.unknown > 0:
		if r.Uncertain++; r.Uncertain == 1 {
			r.FirstUncertain = *e
		}
	case over && certain <= r.Capacity: // the count may include a killed client
		r.UncertainByDeaths++
	default:
		if over {
			r.Exceeded.keep(stretch, r.heldSince(uint64(certain-r.Capacity), e.At), e.At, spared, *e)
		}
		if e.Count > r.Deepest.Count {
			r.Deepest = *e
		}
	}
}

// Denies reports whether, by the register, the capacity was never exceeded.
func (r *Resource) Denies() bool {
	return r.Deepest.Count <= r.Capacity && r.Uncertain+r.UncertainByDeaths == 0
}
