package election

import (
	"strings"
	"testing"

	"turnstile/internal/soak"
	"turnstile/judge/algotest"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/explore"
)

// explorations returns what every algorithm is explored with: two nodes that each may campaign once, without
// faults, with a loss, a copy, a crash with a restart, and reordering; three nodes without faults, and with a
// copy.
func explorations(algo *algorithm.Algorithm) []explore.Space {
	two := explore.Space{Spec: algo, Config: algo.Explicit(nodes.Config{N: 2}), Entries: 1, Workers: 2}
	if _, timed := algo.Machine(two.Config, 0).(nodes.Timed); timed {
		two.Timeouts, two.Copies = 2, 1
	}
	three := two
	three.Config = algo.Explicit(nodes.Config{N: 3})
	all := []explore.Space{two, two, two, two, two, three, three}
	all[1].Losses = 1
	all[2].Duplicates = 1
	all[3].Crashes, all[3].Restarts = 1, true
	all[4].Reordering = true
	all[6].Duplicates = 1
	return all
}

// Nothing within its model breaks a sound algorithm, in any order of events.
func TestExploredAlgorithmsAreSound(t *testing.T) {
	for _, algo := range Table {
		if algo.Flaw != nil {
			continue
		}
		t.Run(algo.Name, func(t *testing.T) {
			for i, o := range explorations(algo) {
				o.States = soak.Pick[uint64](2000, 2000, 1_000_000)
				x := algotest.Explore(t, o)
				switch {
				case x.Violation != nil:
					t.Errorf("space %d: %s: %s\n%s", i, x.Violation.Check, x.Violation.Says,
						strings.Join(x.Violation.Story, "\n"))
				case x.Entries == 0 && o.Config.N == 2:
					t.Errorf("space %d: nobody comes to lead in %d states", i, x.States)
				}
			}
		})
	}
}

// Nothing is wrong with a sound algorithm in the hostile explorations.
func TestAlgorithmsAreExploredWithFaults(t *testing.T) { algotest.ExploreHostile(t, Table) }

// bully-second-network promises progress only with a majority if, by its option, a leader needs a majority.
func TestSecondNetworkNeedsTheMajorityItAsksFor(t *testing.T) {
	for value, want := range map[string]bool{"on": true, "off": false} {
		c := nodes.Config{N: 2}.With("majority", value)
		if got := bullySecondNetworkAlgorithm.LiveIn(c)&nodes.Majority != 0; got != want {
			t.Errorf("with --majority %s it needs a majority: %v", value, got)
		}
	}
}
