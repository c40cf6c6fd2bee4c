package election

import (
	"fmt"
	"testing"
	"time"

	"turnstile/chaos"
	"turnstile/internal/soak"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/workload"
)

// 6(N-2)+1 messages if the next in rank alone finds the leader dead; each lower node that does as well adds
// a STATUS_POLL and its answer.
func TestFourPhasesCostWhatIsPublished(t *testing.T) {
	for _, n := range []int{2, 3, 4, 5, 9, 16, 32} {
		next := nodes.ID(n - 2)
		for _, test := range []struct {
			name, phases string
			initiators   workload.Initiators
			want         int
		}{
			{"the next in rank finds the leader dead", "sequential", workload.TheseInitiate(next), 6*(n-2) + 1},
			{"the next in rank finds the leader dead", "parallel", workload.TheseInitiate(next), 6*(n-2) + 1},
			{"all do", "sequential", workload.AllInitiate, 8*(n-2) + 1},
		} {
			s := scenario{algorithm: &bullyFourPhaseAlgorithm, initiators: test.initiators,
				config: nodes.Config{N: n}.With("phases", test.phases), faults: []chaos.Fault{down(nodes.ID(n - 1))}}
			o := s.simulated(t)
			o.leads(t, next)
			if got := o.messages(); got != uint64(test.want) || len(o.Agreements) != 1 {
				t.Errorf("n=%d, %s, %s: %d messages, not %d, in %d elections: %v", n, test.name, test.phases, got,
					test.want, len(o.Agreements), o.sent)
			}
		}
	}
}

// Under any faults: the properties of fourWatch hold, and some time after all has healed all follow the
// highest node that is up.
func TestFourPhaseSurvivesFaults(t *testing.T) {
	w := newFourWatch()
	two := 0
	for _, n := range []int{1, 2, 3, 5, 8} {
		for _, phases := range []string{"sequential", "parallel"} {
			for seed := range soak.Pick[uint64](3, 10, 1000) {
				w.told, w.accepted = newFourWatch().told, newFourWatch().accepted
				c := nodes.Config{N: n}.With("phases", phases)
				o := storm(w.of(&bullyFourPhaseAlgorithm), c, seed+1, false).simulated(t)
				if o.leader() != highest(o.up()) || w.wrong != "" {
					t.Fatalf("n=%d, %s, seed %d: %d leads of %v: %v; %s", n, phases, seed+1, o.leader(), o.up(),
						o.last(), w.wrong)
				}
				two += len(o.Overlaps)
			}
		}
	}
	for move := range fourMoves {
		if w.moves[move] == 0 {
			t.Errorf("nobody turns from %v to %v", move[0], move[1])
		}
	}
	if t.Logf("%v; two led at once %d times", w.moves, two); two == 0 {
		t.Error("two never led at once, though its assumptions were broken")
	}
}

// As long as the algorithm's assumptions hold, no two nodes lead at once, however often nodes crash and come
// up again, with or without their memory.
func TestFourPhaseHasOneLeader(t *testing.T) {
	for _, n := range []int{2, 3, 5, 8} {
		for _, phases := range []string{"sequential", "parallel"} {
			for seed := range soak.Pick[uint64](3, 15, 1000) {
				s := crashes(&bullyFourPhaseAlgorithm, nodes.Config{N: n}.With("phases", phases), seed+1)
				o := s.simulated(t)
				if o.leads(t, highest(o.up())); t.Failed() {
					t.Fatalf("n=%d, %s, seed %d: %v", n, phases, seed+1, s.faults)
				}
			}
		}
	}
}

// Claims T19 and T20 of docs/coverage.md: a node that comes up again is taken in by an election after the
// next poll, and the leader does not change. But if the highest node comes up again, it takes over.
func TestFourPhaseTakesInWhoComesUpAgain(t *testing.T) {
	const n, outage, period, wait = 5, 2 * time.Second, 100 * time.Millisecond, 100 * time.Millisecond
	const election = (n - 2 + 3*(n-1)) * 2 * hop // of the highest: the rest of the poll, and three phases
	for victim := range nodes.ID(n) {
		longest := int64(0)
		for shift := range soak.Pick(5, 25, 250) {
			at := 3*time.Second + time.Duration(shift)*9*time.Millisecond
			s := scenario{algorithm: &bullyFourPhaseAlgorithm, config: nodes.Config{N: n}, faults: []chaos.Fault{
				killed(victim, at, chaos.When{}, outage)}}
			o := s.simulated(t)
			o.leads(t, n-1)
			longest = max(longest, o.Agreements[len(o.Agreements)-1].Agreed-o.Restarts[0].At)
			for _, e := range o.Agreements {
				if victim != n-1 && e.Leader != n-1 {
					t.Errorf("node %d comes up again, and %d leads", victim, e.Leader)
				}
			}
		}
		// The poll may have asked it just before it came up, and waited for its answer. The highest asks no
		// dead node.
		bound := int64(period + wait + election)
		if victim == n-1 {
			bound = int64(election)
		}
		if t.Logf("node %d is taken in within %v", victim, time.Duration(longest)); longest > bound {
			t.Errorf("node %d is taken in within %v, and no more than %v are needed", victim,
				time.Duration(longest), time.Duration(bound))
		}
	}
}

// Claim T18 of docs/coverage.md: a node dies between two phases of node 3's election, and node 3 begins again
// if the dead node is in ACTIVE.
func TestFourPhaseElectsThoughNodesDieBetweenPhases(t *testing.T) {
	for _, test := range []struct {
		victim   nodes.ID
		moment   string
		restarts int // of an election, in phase 3 or 4
		leader   nodes.ID
	}{
		{3, "3 sends statuspoll", 0, 2},
		{3, "3 sends election #2", 0, 2},
		{3, "3 sends coordinator", 0, 2},
		{3, "3 sends coordinator #3", 0, 2},
		{3, "3 sends newstate", 0, 2},
		{3, "3 sends newstate #3", 0, 2},
		{1, "0 receives election", 0, 3},
		{1, "1 receives election", 1, 3},
		{1, "2 receives election", 1, 3},
		{1, "0 receives coordinator", 1, 3},
		{1, "1 receives coordinator", 1, 3},
		{1, "0 receives newstate", 1, 3},
		{1, "1 receives newstate", 0, 3}, // the poll finds out
	} {
		t.Run(fmt.Sprintf("%d when %s", test.victim, test.moment), func(t *testing.T) {
			w := newFourWatch()
			s := scenario{algorithm: w.of(&bullyFourPhaseAlgorithm), config: nodes.Config{N: 5}, initiators: "3",
				faults: []chaos.Fault{down(4), killed(test.victim, 0, when(t, test.moment), 0)}}
			o := s.simulated(t)
			o.leads(t, test.leader)
			if w.restarts != test.restarts || w.wrong != "" {
				t.Errorf("elections began again %d times, not %d; %s", w.restarts, test.restarts, w.wrong)
			}
		})
	}
}

// Whenever the highest comes up while node 3 elects, it takes over, and at no time do both lead.
func TestFourPhaseGivesWayToTheHighestInEachPhase(t *testing.T) {
	for at := 2 * time.Millisecond; at < 140*time.Millisecond; at += hop / 4 {
		s := scenario{algorithm: &bullyFourPhaseAlgorithm, config: nodes.Config{N: 5}, initiators: "3",
			faults: []chaos.Fault{killed(4, 0, chaos.When{}, at)}, duration: 3 * time.Second}
		o := s.simulated(t)
		if o.leads(t, 4); t.Failed() {
			t.Fatalf("node 4 comes up after %v", at)
		}
	}
}

// unnoticed returns a scenario: nodes 0 to 2 elect node 2 during a cut, which ends before node 4 polls.
// The poll then finds all nodes NORMAL, though some follow node 2.
func unnoticed(t testing.TB, algo *algorithm.Algorithm) scenario {
	return scenario{algorithm: algo, config: nodes.Config{N: 5}.With("poll", "3s"), duration: 30 * time.Second,
		detector: "heartbeat:period=50ms,timeout=250ms",
		faults:   []chaos.Fault{parted(t, "0-2/3-4", time.Second, 1500*time.Millisecond)}}
}

func TestFourPhasePollFindsWhoFollowsAnother(t *testing.T) {
	o := unnoticed(t, &bullyFourPhaseAlgorithm).simulated(t)
	if o.leader() != 4 || len(o.Overlaps) != 1 || o.Overlaps[0].Length() < int64(time.Second) {
		t.Errorf("node %d leads; two led at once: %v", o.leader(), o.Overlaps)
	}
}

// As printed, if only the lowest node finds the leader dead, a higher node answers it, and nobody elects. If
// each node has a detector of its own, another node comes to lead.
func TestFourPhasePrintedNeedsTheNextInRank(t *testing.T) {
	const mended, detector = "phase-4", "heartbeat:period=50ms,timeout=250ms"
	dead, dies := down(4), killed(4, 2*time.Second, chaos.When{}, 0)
	for _, test := range []struct {
		name, mended, detector string
		initiators             workload.Initiators
		fault                  chaos.Fault
		leader                 nodes.ID
		messages               uint64 // 0: any number
	}{
		{"the lowest notices", mended, "none", "0", dead, nodes.None, 2},
		{"the next in rank notices", mended, "none", "3", dead, 3, 6*(5-2) + 1},
		{"nobody notices", mended, "none", "all", dies, nodes.None, 0},
		{"all notice", mended, detector, "all", dies, 3, 0},
		{"as printed, no election ends", "nothing", "none", "3", dead, nodes.None, 0},
	} {
		s := scenario{algorithm: &bullyFourPhasePrintedAlgorithm,
			config:     nodes.Config{N: 5}.With("mended", test.mended),
			initiators: test.initiators, detector: test.detector, faults: []chaos.Fault{test.fault}}
		o := s.simulated(t)
		if o.leader() != test.leader || test.messages != 0 && o.messages() != test.messages {
			t.Errorf("%s: %d leads after %d messages, not %d after %d: %v", test.name, o.leader(), o.messages(),
				test.leader, test.messages, o.sent)
		}
	}
}

// STATUS is in the report of a run that stands still.
func TestFourPhaseTellsItsStatus(t *testing.T) {
	f := fourPhase{coordinator: nodes.None}
	for want, f := range map[string]fourPhase{
		"DOWN":                         f,
		"ELECTION, for node 3":         {status: statusElection, coordinator: 3},
		"REORGANIZATION, under node 3": {status: statusReorganization, coordinator: 3},
		"NORMAL, under node 4; in phase 1 of its own election": {status: statusNormal, coordinator: 4,
			doing: fourPhase1},
	} {
		if got := f.Standing(); got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}
