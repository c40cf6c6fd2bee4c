package main

import (
	"strings"
	"testing"
)

// What cannot happen in a run about leaders is refused before it, with what would be right.
func TestElectRefusesWhatCannotHappen(t *testing.T) {
	for _, x := range []struct{ args, says string }{
		{"elect --scheme bully --plan dead-holder", "--plan: dead-holder: line 3: kill holder: bully elects"},
		{"elect --scheme bully --kill holder", "has no critical section: take leader"},
		{"elect --scheme bully --pause waiter", "has no critical section: take leader"},
		{"elect --scheme bully --at 1s", "or --kill leader"},
		{"bench --algo ricart --at 1s", "or --kill holder"},
		{"elect --scheme chang-roberts --ids randm:3", "did you mean random:3?"},
		{"elect --scheme bully --duration 0s", "a run about leaders ends by its duration alone"},
		{"elect --scheme bully --multicast", "take one that broadcasts (ring-list, raft-election, "},
		{"bench --algo raymond --multicast", "take one that broadcasts (lamport, "},
	} {
		status, says := called(t, strings.Fields(x.args)...)
		if status != usage || !strings.Contains(says, x.says) {
			t.Errorf("%s: status %d: %s", x.args, status, says)
		}
	}
}
