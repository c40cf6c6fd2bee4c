package mutants

import (
	"testing"

	"turnstile/nodes"
	"turnstile/nodes/explore"
	"turnstile/nodes/mutex"
)

// What mutants and scripts are held against is sound itself: among two nodes nothing goes wrong, in whatever
// order things happen, a copy, a crash and a restart among them.
func TestVariantsAreSound(t *testing.T) {
	for _, v := range mutex.Variants() {
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			for _, o := range []explore.Options{
				{Entries: 2},
				{Entries: 1, Duplicates: 1, Crashes: 1, Restarts: true},
			} {
				o.Spec, o.Config, o.States = &v, nodes.Config{N: 2}, mostStates
				o.Reordering = v.Safe&nodes.FIFO == 0
				x, err := explore.Run(o)
				switch {
				case err != nil:
					t.Fatal(err)
				case x.Violation != nil:
					t.Errorf("%s: %s\n%v", x.Violation.Check, x.Violation.Says, x.Violation.Schedule)
				case !x.Exhausted || !x.Progress || x.Entries == 0:
					t.Errorf("it is not known to be sound after %d states and %d entries", x.States, x.Entries)
				}
			}
		})
	}
}
