package check

import (
	"fmt"

	"turnstile/internal/english"
	"turnstile/nodes/history"
)

// capacity: of a resource that has several units, all were taken at some time. That an algorithm never lets
// anybody have the last one breaks its promise only where the load demands all of them (Setting.Fills). Any
// other run shows no more than what it reached.
func capacity(e *evidence) Finding {
	for r := range e.resources() {
		if r.Capacity == 1 {
			continue
		}
		most := r.Deepest.Count
		if most >= r.Capacity {
			continue
		}
		says := fmt.Sprintf("no more than %d of %d units were taken at once", most, r.Capacity)
		enough := e.sections.Entries >= uint64(2*e.Config.N)
		if !e.Fills || e.faulty() || !enough || e.seen(history.Interrupted) {
			return notJudged("%s: the load does not demand all of them", says)
		}
		return violated("%s in %s, though clients wanted all of them all the time, and kept them for longer than "+
			"it takes to hand on those that are free", says, english.Count(e.sections.Entries, "entry", "entries"))
	}
	return valid("all units were taken at some time")
}

// several reports whether some resource of the run has several units.
func several(e *evidence) bool {
	for r := range e.resources() {
		if r.Capacity > 1 {
			return true
		}
	}
	return false
}
