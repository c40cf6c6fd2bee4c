package election

import (
	"testing"

	"turnstile/judge/algotest"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

// Nodes 0 and 1 of a ring of three campaign. By the rules of the paper, the election takes 5 messages and the
// announcement 3. By the rules in the printed order they take 9 and 6, since node 2 is elected twice.
func TestTheOrderOfTheRules(t *testing.T) {
	for _, test := range []struct {
		algorithm *algorithm.Algorithm
		c         nodes.Config
		want      map[string]int
	}{
		{&changRobertsAlgorithm, nodes.Config{N: 3}, map[string]int{"election": 5, "elected": 3}},
		{&changRobertsPrintedAlgorithm, nodes.Config{N: 3}.With("announce", "circulate"),
			map[string]int{"election": 9, "elected": 6}},
		{&changRobertsPrintedAlgorithm, nodes.Config{N: 3}, map[string]int{"election": 9}},
	} {
		h := clusterByHand(t, test.algorithm, test.c, rng(1))
		h.campaign(0, 1)
		h.deliver(t, 0, 1)
		before := h.sent["election"]
		h.deliver(t, 1, 2)
		h.rest()
		h.sentOf(t, test.algorithm.Name, test.want)
		if fault := h.fault(); (fault == "") != (test.want["elected"] > 0) {
			t.Errorf("%s: %s: %v", test.algorithm.Name, fault, h.believe)
		}
		if stopped := before == 2; stopped != (test.algorithm == &changRobertsAlgorithm) {
			t.Errorf("%s: node 1, which has sent its own, stopped the lower identity: %v", test.algorithm.Name,
				stopped)
		}
	}
}

// As printed, only the leader learns the outcome, and no node that has taken part begins another election.
func TestAsPrintedThereIsOneElection(t *testing.T) {
	for _, announce := range []string{"none", "circulate"} {
		for _, n := range []int{2, 3, 5} {
			h := clusterByHand(t, &changRobertsPrintedAlgorithm, nodes.Config{N: n}.With("announce", announce), rng(1))
			h.campaign(0)
			h.rest()
			last := nodes.ID(n - 1)
			if h.believe[last] != last || (h.agreed() == last) != (announce == "circulate") {
				t.Errorf("n=%d, announce %s: %v", n, announce, h.believe)
			}
			clear(h.sent)
			h.campaign(everyone(n)...)
			if len(h.sent) > 0 {
				t.Errorf("n=%d, announce %s: a second election sends %v", n, announce, h.sent)
			}
		}
	}
}

// As printed, if all n nodes of a ring campaign, the highest identity goes round n times, and so does the
// announcement.
func TestAsPrintedItCostsMore(t *testing.T) {
	for _, n := range []int{1, 2, 4, 9} {
		c := nodes.Config{N: n}.With("announce", "circulate")
		h := clusterByHand(t, &changRobertsPrintedAlgorithm, c, rng(1))
		h.campaign(everyone(n)...)
		h.rest()
		want := n*(n-1)/2 + n*n // each message comes to the highest node, and then carries its identity round
		if n == 1 {
			want = 0
		}
		if h.sent["election"] != want || n > 1 && h.sent["elected"] != n*n || h.agreed() != nodes.ID(n-1) {
			t.Errorf("n=%d: %v, not %d; %v", n, h.sent, want, h.believe)
		}
	}
}

// changRepaired is Chang and Roberts' on a ring that closes behind a node that is down.
type changRepaired struct{ changRoberts }

// Suspect implements nodes.Suspecter.
func (c *changRepaired) Suspect(env *nodes.Env, peer nodes.ID) {
	if c.next == peer {
		c.next = (peer + 1) % nodes.ID(env.N())
	}
}

var changRepairedAlgorithm = algotest.Rebuilt(&changRobertsAlgorithm, func(c changRoberts) nodes.Machine {
	return &changRepaired{c}
})

// The highest node is down while its identity is on its way, and the ring is
// closed behind it. Nobody takes the identity off, so it goes round for ever. If the ring stays open, as in
// chang-roberts, the identity is lost. The list of ring-list stops, since it names the nodes that it has
// passed.
func TestTheIdentityOfTheDead(t *testing.T) {
	h := clusterByHand(t, changRepairedAlgorithm, nodes.Config{N: 3}, rng(1))
	h.campaign(2)
	h.crash(2)
	h.feed(1, nodes.Input{Kind: nodes.Suspect, From: 2})
	h.rest()
	if !h.runaway || h.agreed() != nodes.None {
		t.Errorf("the identity of the dead goes round for ever: %v, %v leads", h.runaway, h.leaders())
	}

	h = clusterByHand(t, &changRobertsAlgorithm, nodes.Config{N: 3}, rng(1))
	h.campaign(2)
	h.crash(2)
	h.rest()
	if h.sent["election"] != 3 || len(h.leaders()) > 0 { // the third goes to the dead node
		t.Errorf("sent %v, not 3 messages; %v lead", h.sent, h.leaders())
	}

	h = clusterByHand(t, &ringListAlgorithm, nodes.Config{N: 3}, rng(1))
	h.campaign(2)
	h.crash(2)
	h.feed(1, nodes.Input{Kind: nodes.Suspect, From: 2})
	h.feed(0, nodes.Input{Kind: nodes.Suspect, From: 2})
	h.rest()
	if h.runaway || h.agreed() != 1 {
		t.Errorf("node 1 does not lead, but %v", h.believe)
	}
}
