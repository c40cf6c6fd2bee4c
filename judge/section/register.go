package section

import "turnstile/nodes/history"

// register has the counts that entries read from the occupancy register, a word which each client raises and
// lowers, and what makes a count uncertain.
type register struct {
	// Deepest is the Entered event with the highest count of the register that was certainly right. Uncertain
	// counts entries that saw more than the capacity, perhaps only because a node died while it changed the
	// register; FirstUncertain is the first of these.
	Deepest           history.Event
	Exceeded          Moments[history.Event] // entries whose count was certainly more than the capacity
	Uncertain         uint64
	FirstUncertain    history.Event
	UncertainByDeaths uint64 // like Uncertain, perhaps only because the register still counted killed clients

	// orphaned counts the units of killed nodes that the register may count until they are taken out, and
	// takenOut how many of these units were taken out.
	orphaned, takenOut uint32
	unknown            uint32 // how much too high the register may be, since nodes died while they changed it
}

// count takes the count that an entry read from the register, at some time since its request. It never
// counts too few units. It may count units of dead nodes that were not taken out yet, and units that no
// client holds if a node died while it changed the register.
func (r *Resource) count(e *history.Event, s *Section, stretch int, spared bool) {
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
