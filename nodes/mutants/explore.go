package mutants

import (
	"fmt"

	"turnstile/nodes"
	"turnstile/nodes/explore"
	"turnstile/nodes/mutex"
)

// mostStates is how far a mutant is explored before it counts as too large for that.
const mostStates = 50_000

// Explore goes through every order of events of a few nodes, until a mutant does what it must not. It
// returns the check, and how many states it took; the check is empty if there was none to find within bounds.
func Explore(m mutex.Mutant) (by string, states uint64, err error) {
	for _, size := range []struct{ nodes, entries int }{{2, 1}, {2, 2}, {3, 1}, {3, 2}} {
		o := explore.Options{Spec: &m.Spec, Config: nodes.Config{N: size.nodes}, Entries: size.entries,
			Reordering: m.Spec.Safe&nodes.FIFO == 0, States: mostStates}
		if m.Duplication {
			o.Duplicates = 1
		}
		if m.Restarts {
			o.Crashes, o.Restarts, o.Amnesia = 1, true, true
		}
		x, err := explore.Run(o)
		if err != nil {
			return "", states, fmt.Errorf("%s, in which %s: %w", m.Of, m.Name, err)
		}
		states += x.States
		if x.Violation != nil {
			return x.Violation.Check, states, nil
		}
	}
	return "", states, nil
}
