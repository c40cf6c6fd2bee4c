package election

import (
	"strings"
	"testing"

	"turnstile/internal/soak"
	"turnstile/judge/rowtest"
	"turnstile/nodes"
	"turnstile/nodes/explore"
	"turnstile/nodes/row"
)

// explorations returns what every row is explored with: two nodes that each may campaign once, without
// faults, with a loss, a copy, a crash with a restart, and reordering; three nodes without faults, and with a
// copy.
func explorations(row *row.Row) []explore.Options {
	two := explore.Options{Spec: row, Config: row.Explicit(nodes.Config{N: 2}), Entries: 1, Workers: 2}
	if _, timed := row.Machine(two.Config, 0).(nodes.Timed); timed {
		two.Timeouts, two.Copies = 2, 1
	}
	three := two
	three.Config = row.Explicit(nodes.Config{N: 3})
	all := []explore.Options{two, two, two, two, two, three, three}
	all[1].Losses = 1
	all[2].Duplicates = 1
	all[3].Crashes, all[3].Restarts = 1, true
	all[4].Reordering = true
	all[6].Duplicates = 1
	return all
}

// Nothing within its model breaks a sound row, in any order of events.
func TestExploredRowsAreSound(t *testing.T) {
	for _, row := range Table {
		if row.Flaw != nil {
			continue
		}
		t.Run(row.Name, func(t *testing.T) {
			for i, o := range explorations(row) {
				o.States = soak.Pick[uint64](2000, 2000, 1_000_000)
				x := rowtest.Explore(t, o)
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

// Nothing is wrong with a sound row in the hostile explorations.
func TestRowsAreExploredWithFaults(t *testing.T) { rowtest.ExploreHostile(t, Table) }

// bully-second-network promises progress only with a majority if, by its option, a leader needs a majority.
func TestSecondNetworkNeedsTheMajorityItAsksFor(t *testing.T) {
	for value, want := range map[string]bool{"on": true, "off": false} {
		c := nodes.Config{N: 2}.With("majority", value)
		if got := bullySecondNetworkRow.LiveIn(c)&nodes.Majority != 0; got != want {
			t.Errorf("with --majority %s it needs a majority: %v", value, got)
		}
	}
}
