package election

import (
	"strings"
	"testing"
	"time"

	"turnstile/internal/soak"
	"turnstile/nodes"
	"turnstile/nodes/explore"
)

// spaces are the sizes of the spaces of rows that end, as explorations lists them; zero: it does not, or is
// too vast. A change to a row, or to what explores it, shows in them.
var spaces = map[string][7]uint64{
	"chang-roberts": {30, 59, 125, 243, 41, 189, 1050},
}

// explorations returns what every row is explored with: two nodes that each may campaign once, without
// faults, with a loss, a copy, a crash with a restart, and reordering; three nodes without faults, and with a
// copy.
func explorations(row *nodes.Spec) []explore.Options {
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
		if row.Broken != "" {
			continue
		}
		t.Run(row.Name, func(t *testing.T) {
			for i, o := range explorations(row) {
				o.States = soak.Pick[uint64](5000, 5000, 1_000_000)
				x, err := explore.Run(o)
				size := spaces[row.Name][i]
				switch {
				case err != nil:
					t.Fatal(err)
				case x.Violation != nil:
					t.Errorf("space %d: %s: %s\n%s", i, x.Violation.Check, x.Violation.Says,
						strings.Join(x.Violation.Story, "\n"))
				case x.Entries == 0 && o.Config.N == 2:
					t.Errorf("space %d: nobody comes to lead in %d states", i, x.States)
				case size > 0 && (!x.Exhausted || !x.Progress || x.States != size):
					t.Errorf("space %d has %d states, want %d: %+v", i, x.States, size, x)
				}
			}
		})
	}
}

// steady bounds delays: a message takes 40 ms, and time goes on by so much.
func steady(tick time.Duration) *explore.Timing {
	t := &explore.Timing{Tick: tick}
	if err := t.Latency.UnmarshalText([]byte("40ms")); err != nil {
		panic(err)
	}
	return t
}

// With delays that are bounded as it demands, the bully elects one leader of two or three nodes, whoever
// campaigns and crashes.
func TestExploredBully(t *testing.T) {
	for n, size := range map[int]uint64{2: 109, 3: 4281} {
		o := explore.Options{Spec: &bullyRow, Config: bullyRow.Explicit(nodes.Config{N: n}), Entries: 1,
			Campaigns: 1, Crashes: 2, Timing: steady(20 * time.Millisecond)}
		x, err := explore.Run(o)
		switch {
		case err != nil:
			t.Fatal(err)
		case !x.Exhausted || !x.Progress || x.States != size || x.Excused > 0:
			t.Errorf("%d nodes: %+v", n, x)
		}
	}
}

// Who answers too late, and whose announcement is lost, leads beside another: in five steps, and in no fewer.
func TestTwoBulliesLead(t *testing.T) {
	x, err := explore.Run(explore.Options{Spec: &bullyRow, Config: bullyRow.Explicit(nodes.Config{N: 2}),
		Entries: 1, Timeouts: 2, Losses: 1, Suspicions: 1, Demand: true, Checks: []string{explore.CheckLeaders}})
	if err != nil {
		t.Fatal(err)
	}
	v := x.Violation
	if v == nil || v.Check != explore.CheckLeaders || len(v.Schedule.Steps) != 5 || !v.Shortest {
		t.Fatalf("%+v", x)
	}
	if !strings.Contains(v.Says, "nodes 0, 1 lead at the same time") {
		t.Error(v.Says)
	}
}
