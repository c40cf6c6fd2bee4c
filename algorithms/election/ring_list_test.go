package election

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"turnstile/chaos"
	"turnstile/internal/soak"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/workload"
)

// listByHand returns a cluster of ring-list. The nodes of down have crashed, and all others suspect them.
func listByHand(t testing.TB, c nodes.Config, down ...nodes.ID) *byHand {
	h := clusterByHand(t, &ringListAlgorithm, c, rng(1))
	for _, dead := range down {
		h.crash(dead)
		for id := range nodes.ID(c.N) {
			if h.up[id] {
				h.feed(id, nodes.Input{Kind: nodes.Suspect, From: dead})
			}
		}
	}
	return h
}

// With the leader dead an election takes 2(N-1) messages, k times as many if k nodes campaign at once, and
// one more to the dead node if no node suspects it yet. With multicast, one broadcast announces the result.
func TestRingListCostsWhatIsPublished(t *testing.T) {
	for _, n := range []int{2, 3, 4, 5, 9, 16, 32} {
		last := nodes.ID(n - 1)
		for k := 1; k < n; k++ {
			h := listByHand(t, nodes.Config{N: n}, last)
			h.campaign(everyone(k)...)
			h.rest()
			want := map[string]int{"election": k * (n - 1), "coordinator": k * (n - 1)}
			if n == 2 {
				want = nil // a single node sends nothing
			}
			h.sentOf(t, fmt.Sprintf("n=%d, %d campaign", n, k), want)
			if h.agreed() != last-1 || h.wrong != "" {
				t.Errorf("n=%d, %d campaign: %v, %s", n, k, h.believe, h.wrong)
			}
		}
		h := clusterByHand(t, &ringListAlgorithm, nodes.Config{N: n}, rng(1))
		h.crash(last)
		h.campaign(0)
		h.rest()
		h.feed(last-1, nodes.Input{Kind: nodes.Suspect, From: last})
		h.rest()
		if want := 2*(n-1) + 1; n > 2 && sum(h.sent) != want || h.agreed() != last-1 {
			t.Errorf("n=%d, the crash unknown: %v, not %d; %v", n, h.sent, want, h.believe)
		}
		h = listByHand(t, nodes.Config{N: n}.With("announce", "multicast"), last)
		h.campaign(0)
		h.rest()
		want := map[string]int{"election": n - 1, "result": n - 1} // deliveries, one to the dead
		if n == 2 {
			want = map[string]int{"result": 1}
		}
		h.sentOf(t, fmt.Sprintf("n=%d, multicast", n), want)
		if h.agreed() != last-1 {
			t.Errorf("n=%d, multicast: %v", n, h.believe)
		}
	}
}

// The highest or the lowest identity leads, wherever it stands.
func TestRingListElectsTheHighestOrTheLowest(t *testing.T) {
	for ids, want := range map[string]map[string]nodes.ID{
		"2,9,4,0,7": {"highest": 1, "lowest": 3}, "5,1,2,3,4": {"highest": 0, "lowest": 1},
	} {
		for wins, leader := range want {
			h := listByHand(t, nodes.Config{N: 5}.With("ids", ids).With("wins", wins))
			h.campaign(2)
			h.rest()
			if h.agreed() != leader {
				t.Errorf("ids %s, the %s wins: %v", ids, wins, h.believe)
			}
			c := nodes.Config{N: 5}.With("ids", ids).With("wins", wins)
			for id := range nodes.ID(5) {
				if id != leader && ringListAlgorithm.Elector.RankOf(c, id) > ringListAlgorithm.Elector.RankOf(c, leader) {
					t.Errorf("ids %s, the %s wins: node %d ranks above node %d", ids, wins, id, leader)
				}
			}
		}
	}
}

// A list whose initiator has died ends where it finds a node for the second time.
func TestAListWithoutItsInitiator(t *testing.T) {
	h := clusterByHand(t, &ringListAlgorithm, nodes.Config{N: 4}, rng(1))
	h.campaign(1)
	h.deliver(t, 1, 2)
	h.crash(1)
	h.deliver(t, 2, 3)
	h.deliver(t, 3, 0)
	h.rest() // node 0 has sent it to the dead
	if h.feed(0, nodes.Input{Kind: nodes.Suspect, From: 1}); len(h.flights) != 1 {
		t.Fatalf("node 0 sends %v", h.flights)
	}
	h.rest()
	if h.agreed() != 3 {
		t.Errorf("node 3 does not lead: %v", h.believe)
	}
}

// shake crashes and restarts nodes at random moments. Messages and the reports of detectors come in a random
// order. At the end, all messages arrive, detectors report all changes, and the remaining timers run out.
func (h *byHand) shake(r *rand.Rand, crashes, campaigns int) {
	n := h.stack.N()
	suspects := make([][]bool, n) // by node and suspected peer
	for id := range suspects {
		suspects[id] = make([]bool, n)
	}
	tell := func(id, peer int) bool { // what its detector has to say of a peer
		if !h.up[id] || suspects[id][peer] != h.up[peer] || id == peer {
			return false
		}
		suspects[id][peer] = !suspects[id][peer]
		kind := nodes.Trust
		if suspects[id][peer] {
			kind = nodes.Suspect
		}
		h.feed(nodes.ID(id), nodes.Input{Kind: kind, From: nodes.ID(peer)})
		return true
	}
	for steps := 0; steps < 40*n || crashes+campaigns > 0; steps++ {
		id := nodes.ID(r.IntN(n))
		switch dice := r.IntN(12); {
		case dice == 0 && campaigns > 0:
			if campaigns--; h.up[id] {
				h.campaign(id)
			}
		case dice == 1 && crashes > 0:
			if crashes--; h.up[id] {
				h.crash(id)
			} else {
				clear(suspects[id])
				h.restart(id)
				for other := range n { // a restart is found at once, a crash sometime
					tell(other, int(id))
				}
			}
		case dice < 5:
			tell(int(id), r.IntN(n))
		case len(h.flights) > 0:
			f := h.flights[r.IntN(len(h.flights))]
			h.arrive(slices.IndexFunc(h.flights, func(g flight) bool { return g.from == f.from && g.to == f.to }))
		}
	}
	for moved := true; moved && !h.runaway; {
		h.rest()
		moved = false
		for id := range n {
			for peer := range n {
				moved = tell(id, peer) || moved
			}
		}
		for id := range nodes.ID(n) {
			for timer, gen := range h.nodes[id].Timers(0) {
				if h.up[id] && len(h.flights) == 0 && !moved {
					h.feed(id, nodes.Input{Kind: nodes.Timeout, Timer: timer, Gen: gen})
					moved = true
					break
				}
			}
		}
	}
}

// No two lead as long as no live node is suspected, and all agree when detectors have reported all changes.
func TestRingListElectsOneLeader(t *testing.T) {
	for _, announce := range []string{"circulate", "multicast"} {
		for seed := range soak.Pick[uint64](300, 800, 200_000) {
			h := listTrial(t, &ringListAlgorithm, announce, seed)
			if fault := h.listFault(); fault != "" {
				t.Fatalf("%s, seed %d: %s: %v, up %v", announce, seed, fault, h.believe, h.up)
			}
		}
	}
}

// A balloted is a ringList, or a mutant of it.
type balloted interface{ highestBallot() listBallot }

func (l *ringList) highestBallot() listBallot { return l.ballot }

// listTrial is a run drawn from a seed.
func listTrial(t testing.TB, algo *algorithm.Algorithm, announce string, seed uint64) *byHand {
	r := rng(seed)
	c := nodes.Config{N: 1 + r.IntN(6)}.With("announce", announce).With("ids", fmt.Sprintf("random:%d", seed))
	h := clusterByHand(t, algo, c, r)
	h.shake(r, r.IntN(8), 1+r.IntN(4))
	return h
}

// listFault returns what is wrong at the end of a run; "": nothing. Some node must have campaigned.
func (h *byHand) listFault() string {
	if h.wrong != "" || h.runaway {
		return h.fault()
	}
	silent := true // no live node has heard of an election
	ids, _ := identities(h.stack.N(), h.stack.Instances()[0].Config.Value(idsOption))
	best := -1
	for id := range h.up {
		silent = silent && (!h.up[id] || h.nodes[id].Machine(0).(balloted).highestBallot().Epoch == 0)
		if h.up[id] && (best < 0 || ids[id] > ids[best]) {
			best = id
		}
	}
	switch leader := h.agreed(); {
	case silent || best < 0:
		return ""
	case leader == nodes.None:
		return noneLeads
	case leader != nodes.ID(best):
		return wrongLeads
	}
	return ""
}

// On virtual time: the leader crashes again and again, and its successor is found in less than a second; it
// takes over again when it is back.
func TestRingListSurvivesItsLeaders(t *testing.T) {
	for _, n := range []int{2, 3, 5, 9, 32} {
		s := scenario{algorithm: &ringListAlgorithm, config: nodes.Config{N: n},
			initiators: workload.LowestInitiates,
			duration:   45 * time.Second}
		for crash := range 10 {
			s.faults = append(s.faults, killed(nodes.ID(n-1), time.Duration(1+4*crash)*time.Second, chaos.When{},
				2*time.Second))
		}
		o := s.simulated(t)
		o.leads(t, nodes.ID(n-1))
		found := 0
		for _, e := range o.Agreements {
			if e.Leader == nodes.ID(n-2) {
				found++
			}
			if length := time.Duration(e.Agreed - e.Begun); length > time.Second {
				t.Errorf("n=%d: an election took %v: %+v", n, length, e)
			}
		}
		if found < 10 {
			t.Errorf("n=%d: of ten successors %d were found", n, found)
		}
	}
}

// Under any faults that it tolerates, all agree in the end. No two lead unless a live node is taken for
// dead, as heartbeats do with a node that stands still.
func TestRingListInStorms(t *testing.T) {
	for _, n := range []int{3, 5, 8} {
		for seed := range soak.Pick[uint64](3, 10, 1000) {
			for name, s := range map[string]scenario{
				"storm":   storm(&ringListAlgorithm, nodes.Config{N: n}, seed+1, true),
				"crashes": crashes(&ringListAlgorithm, nodes.Config{N: n}, seed+1),
			} {
				scene := &chaos.Scene{Spec: s.algorithm, Config: s.algorithm.Explicit(s.config), Measured: s.duration,
					Simulated: true}
				if _, err := chaos.Resolve(s.faults, scene, s.seed); err != nil {
					continue // such as too many that stand still at once
				}
				for _, s.detector = range []string{"", "perfect"} {
					o := s.simulated(t)
					up := o.up()
					if s.detector != "" && len(o.Overlaps) > 0 || o.leader() == nodes.None && !up.Empty() {
						t.Errorf("n=%d, %s %d: two led %v; %d leads at the end: %+v", n, name, seed+1, o.Overlaps,
							o.leader(), o.last())
					}
				}
			}
		}
	}
}
