package election

import (
	"testing"
	"time"

	"turnstile/chaos"
	"turnstile/chaos/effect"
	"turnstile/internal/soak"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

// A merge of groups of g1 and g2 nodes takes an invitation, an acceptance and a Ready of each but the new
// coordinator: 3(g1+g2-1). A look for other coordinators takes 2(N-1).
func TestInvitationCostsWhatIsPublished(t *testing.T) {
	for _, n := range []int{1, 2, 3, 5, 9, 32} {
		s := scenario{algorithm: &invitationAlgorithm, config: nodes.Config{N: n}, duration: 50 * time.Millisecond}
		o := s.simulated(t)
		if asked := o.sent["areyoucoordinator"] + o.sent["coordinates"]; asked != uint64(2*(n-1)*n) {
			t.Errorf("n=%d: %d messages of %d coordinators that look for others", n, asked, n)
		}
		s.duration = 5 * time.Second
		o = s.simulated(t)
		if got := o.messages(); got != uint64(3*(n-1)) || o.leader() != nodes.ID(n-1) {
			t.Errorf("n=%d: %d messages of a merge of all by %d: %v", n, got, o.leader(), o.sent)
		}
	}
	o := cutInTwo(t, &invitationAlgorithm, 0).simulated(t)
	if got := o.messages(); got != cutInTwoCosts {
		t.Errorf("%d messages, not %d: %v", got, cutInTwoCosts, o.sent)
	}
}

// cutInTwoCosts counts the messages of three merges: of all nodes; of nodes 0 to 2, which have lost node 4;
// and of the two groups. In the last, node 4 also invites nodes 0 and 1, not knowing that they have left.
const cutInTwoCosts = 3*4 + 3*2 + 3*4 + 2

// cutInTwo is a cut between nodes 0 to 2 and nodes 3 and 4.
func cutInTwo(t testing.TB, algo *algorithm.Algorithm, later time.Duration) scenario {
	return scenario{algorithm: algo, config: nodes.Config{N: 5},
		faults: []chaos.Fault{parted(t, "0-2/3-4", 2*time.Second+later, 3*time.Second)}}
}

// Under any faults but amnesia: no two lead in one term, no node goes back to a lower one, and in the end
// all live nodes are one group.
func TestInvitationSurvivesFaults(t *testing.T) {
	for _, n := range []int{2, 3, 5, 8} {
		for seed := range soak.Pick[uint64](3, 12, 1000) {
			if says := inviteFault(t, &invitationAlgorithm, nodes.Config{N: n}, seed+1); says != "" {
				t.Fatalf("n=%d, seed %d: %s", n, seed+1, says)
			}
		}
	}
}

// A node that forgets its count may give a group the number of an earlier one, so the algorithm assumes no
// amnesia.
func TestInvitationNeedsItsMemory(t *testing.T) {
	for seed := range uint64(200) {
		s := scenario{algorithm: &invitationAlgorithm, config: nodes.Config{N: 2}, seed: seed + 1,
			faults: []chaos.Fault{
				killed(1, time.Second, chaos.When{}, 100*time.Millisecond)}}
		s.faults[0].Effect.(*effect.Kill).Forget = true
		if o := s.simulated(t); len(o.Conflicts)+len(o.Backwards) > 0 {
			return
		}
	}
	t.Error("nothing goes wrong if a node forgets its count")
}
