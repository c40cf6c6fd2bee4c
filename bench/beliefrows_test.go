package bench

import (
	"testing"

	"turnstile/judge/leadership"
	"turnstile/results"
)

// What the fold calls the states of a node, beliefs.csv does too.
func TestStatesAreCalledAsInTheTable(t *testing.T) {
	for state, name := range map[leadership.State]string{leadership.Leads: results.Leads,
		leadership.Follows: results.Follows, leadership.KnowsNone: results.KnowsNone,
		leadership.Stopped: results.Stopped, leadership.Down: results.Down} {
		if state.String() != name {
			t.Errorf("%q is called %q in the table", state, name)
		}
	}
}
