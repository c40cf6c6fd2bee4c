package election

import (
	"testing"
	"time"

	"turnstile/chaos"
	"turnstile/chaos/effect"
	"turnstile/internal/chance"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/workload"
)

// agreeAfter demands, for each of some seeds, that in the end all agree, although messages or nodes failed.
func agreeAfter(t *testing.T, s scenario, seeds uint64) {
	t.Helper()
	s.config, s.initiators, s.duration = nodes.Config{N: 5}, workload.AllInitiate, 6*time.Second
	for s.seed = 1; s.seed <= seeds; s.seed++ {
		if o := s.simulated(t); o.leader() == nodes.None {
			t.Errorf("%s, seed %d: %v", s.algorithm.Name, s.seed, o.last())
		}
	}
}

// The announcement of a nominated node crosses the announcement of a higher node that has come up again. Some
// nodes hear the higher node first, then the nominated one, which has already given way to the higher node.
func TestAnnouncementsOfFastBullyCross(t *testing.T) {
	kills := chaos.Fault{Effect: &effect.Kill{Who: effect.Target{Word: "random", Many: 1}, Forget: true},
		Schedule: chaos.Schedule{At: 2 * time.Millisecond, For: time.Millisecond,
			Every: 50 * time.Millisecond, Repeat: 10}}
	agreeAfter(t, scenario{algorithm: &fastBullyAlgorithm, faults: []chaos.Fault{kills}}, 50)
}

// Late messages make some nodes follow a node that leads no more, though it is up; in the end all agree.
func TestNobodyFollowsForEverWhoLeadsNoMore(t *testing.T) {
	for _, test := range []struct {
		algorithm *algorithm.Algorithm
		delay     string
	}{{&bullySharedDiskAlgorithm, "uniform:0s,400ms"}, {&fastBullyAlgorithm, "uniform:0s,800ms"},
		{&bullySecondNetworkAlgorithm, "uniform:0s,800ms"}} {
		delay, err := chance.ParseDistribution(test.delay)
		if err != nil {
			t.Fatal(err)
		}
		agreeAfter(t, scenario{algorithm: test.algorithm,
			faults: []chaos.Fault{{Effect: &effect.Delay{Later: delay},
				Schedule: chaos.Schedule{For: time.Second}}}}, 60)
	}
}

// A late message of a node that leads no more comes to a node that has answered the ELECTION of another node.
func TestLateWordsOfAnEarlierLeader(t *testing.T) {
	for _, late := range []nodes.Message{fastCoordinator{}, bullyRejoin{}} {
		h := clusterByHand(t, &fastBullyAlgorithm, fastBullyAlgorithm.Explicit(nodes.Config{N: 4}), nil)
		h.campaign(3)
		h.rest()
		h.send(flight{0, 1, bullyElection{}})
		h.deliver(t, 0, 1)
		h.send(flight{2, 1, late})
		h.deliver(t, 2, 1)
		if h.believe[1] != 2 {
			t.Fatalf("%T: node 1 follows %d", late, h.believe[1])
		}
		h.rest()
		if h.agreed() != 3 {
			t.Errorf("%T: %v", late, h.believe)
		}
	}
}
