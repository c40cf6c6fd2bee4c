package chaos

import (
	"slices"

	"turnstile/chaos/effect"
	"turnstile/nodes"
	"turnstile/nodes/row"
)

// Fenced reports whether the resource of a run with such faults is to demand fence numbers, where nobody says
// so: if the algorithm hands them out, and some fault may break what it takes that no two are inside. Without
// such a fault the run is to show just that: a resource that refuses what comes late would hide it.
func Fenced(spec *row.Row, faults []Fault) bool {
	return spec.Fenced && slices.ContainsFunc(faults, func(f Fault) bool {
		return mayBreak(&f, spec)&spec.Safe != 0
	})
}

// mayBreak returns what the fault may break in a run of an algorithm: beside what it breaks itself, that who
// comes up again remembers, and that a failure detector suspects only who has crashed.
func mayBreak(f *Fault, spec *row.Row) nodes.Assumption {
	broken := f.Breaks()
	if k, is := f.Effect.(*effect.Kill); is && !f.ForGood() && (k.Forget || !recovers(spec)) {
		broken |= nodes.NoAmnesia
	}
	ofOne := f.Kind != "" || f.Nth > 0 || f.Instance != nil && *f.Instance == 0 // not of all heartbeats
	if broken&(nodes.NoLoss|nodes.NoPause|nodes.Timing) != 0 && !ofOne {
		broken |= nodes.PerfectDetector | nodes.EventualDetector
	}
	return broken
}

// recovers reports whether all nodes of an algorithm go on after a crash with what they have saved.
func recovers(spec *row.Row) bool {
	c := spec.Explicit(nodes.Config{N: 2})
	for id := range nodes.ID(c.N + spec.ServerCount(c)) {
		if _, is := spec.Machine(c, id).(nodes.Recoverer); !is {
			return false
		}
	}
	return true
}
