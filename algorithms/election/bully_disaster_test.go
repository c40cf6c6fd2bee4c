package election

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"turnstile/internal/soak"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

// After any disaster all agree on the right leader, within the grace of the algorithm, and no term had two
// leaders. Algorithms with terms or a majority have crashes, pauses and cuts; the others only crashes, since
// they believe a late announcement, as after a pause, for ever.
func TestBulliesAfterDisasters(t *testing.T) {
	const calm = 6500 * time.Millisecond
	for _, b := range bullies {
		all := b.algorithm.Elector.Terms || b.option[0] == "majority"
		t.Run(b.algorithm.Name+b.option[1], func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(soak.Pick(20, 40, 5000)) {
				r := rand.New(rand.NewPCG(seed, 0))
				n := 2 + r.IntN(5)
				plan := disaster(r, n, all)
				o := scenario{algorithm: b.algorithm, config: of(n, b.option), faults: faults(t, plan...),
					duration: 13 * time.Second,
					seed:     seed + 1}.simulated(t)
				want := nodes.ID(n - 1)
				if b.algorithm.Elector.Wins == algorithm.AnyWins {
					want = o.leader()
				}
				if o.leader() == nodes.None || o.leader() != want || len(o.Conflicts)+len(o.Backwards) > 0 {
					t.Fatalf("seed %d, n=%d, %v: %d leads, terms with two leaders %v, backwards %v: %v", seed, n,
						strings.Join(plan, "; "), o.leader(), o.Conflicts, o.Backwards, o.last())
				}
				agreed := time.Duration(o.Agreements[len(o.Agreements)-1].Agreed)
				if agreed > calm+b.algorithm.Grace(of(n, b.option)) {
					t.Errorf("seed %d, n=%d, %v: all agree only at %v", seed, n, strings.Join(plan, "; "), agreed)
				}
			}
		})
	}
}

// The announcement of a leader overtakes the announcement of the lower one that led meanwhile: a node that
// heard the lower one last asks the higher one, and follows it again.
func TestAnnouncementsCross(t *testing.T) {
	for _, algo := range []*algorithm.Algorithm{&bullyAlgorithm, &fastBullyAlgorithm,
		&bullySecondNetworkAlgorithm} {
		s := scenario{algorithm: algo, config: nodes.Config{N: 3}, duration: 4 * time.Second,
			faults: faults(t, "kill: 2, at: 1s, for: 800ms",
				"delay: 2s, between: 1>0, kind: coordinator, at: 1s, for: 1s")}
		o := s.simulated(t)
		if told := o.told(0); o.leader() != 2 || !strings.Contains(told, "0 follows 2; 0 follows 1; 0 follows 2") {
			t.Errorf("%s: %d leads at the end: %s", algo.Name, o.leader(), told)
		}
	}
}

// If requests to the disk and its answers come twice, no node takes the lock twice.
func TestTheDiskStandsCopies(t *testing.T) {
	for n := 2; n < 6; n++ {
		s := scenario{algorithm: &bullySharedDiskAlgorithm, config: nodes.Config{N: n}, duration: 3 * time.Second,
			faults: faults(t, "duplicate: 100%, for: 1s")}
		if o := s.simulated(t); o.leader() != nodes.ID(n-1) || len(o.Agreements) != 1 || o.sent["lock"] != 1 {
			t.Errorf("%d nodes: %d leads after %d elections, %v", n, o.leader(), len(o.Agreements), o.sent)
		}
	}
}

// disaster returns faults that are over after 6.5 seconds: crashes and, if all is true, pauses and cuts.
// Each node goes down or stands still once at most.
func disaster(r *rand.Rand, n int, all bool) (plan []string) {
	hit := map[int]bool{}
	for range 1 + r.IntN(5) {
		when := fmt.Sprintf("at: %dms, for: %dms", 1000+r.IntN(4000), 1+r.IntN(1500))
		id, what := r.IntN(n), r.IntN(4)
		if !all {
			what = 0
		}
		switch {
		case what < 2:
			if sort := []string{"kill", "pause"}[what]; !hit[id] {
				hit[id] = true
				plan = append(plan, fmt.Sprintf("%s: %d, %s", sort, id, when))
			}
		default:
			network := []string{"", ", network: 0"}[r.IntN(2)]
			plan = append(plan, fmt.Sprintf("cut: '%s', %s%s", cutOf(r, n), when, network))
		}
	}
	return plan
}

// cutOf returns a cut of n nodes into two groups, one way or both ways.
func cutOf(r *rand.Rand, n int) string {
	at := 1 + r.IntN(n-1)
	var groups [2][]string
	for i, id := range r.Perm(n) {
		group := 0
		if i >= at {
			group = 1
		}
		groups[group] = append(groups[group], fmt.Sprint(id))
	}
	return strings.Join(groups[0], ",") + []string{"/", ">"}[r.IntN(2)] + strings.Join(groups[1], ",")
}
