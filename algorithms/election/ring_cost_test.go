package election

import (
	"fmt"
	"math"
	"math/bits"
	"testing"
	"time"

	"turnstile/internal/soak"
	"turnstile/judge/algotest"
	"turnstile/judge/check"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

// sentOf checks how many messages of each kind were sent; want has the numbers by the names of the kinds.
func (h *byHand) sentOf(t testing.TB, what string, want map[string]int) {
	t.Helper()
	for kind := range h.stack.Codec().Kinds() {
		if name := h.stack.Codec().Name(kind); h.sent[name] != want[name] {
			t.Errorf("%s: %v, not %v", what, h.sent, want)
			return
		}
	}
}

// Le Lann's takes N messages for each candidate.
func TestLeLannCostsWhatIsPublished(t *testing.T) {
	for _, n := range []int{2, 4, 5, 9, 16, 32} {
		for k := 1; k <= n; k++ {
			h := ringRun(t, &leLannAlgorithm, n, "random:7", everyone(k)...)
			h.sentOf(t, fmt.Sprintf("%d of %d campaign", k, n), map[string]int{"identity": k * n, "elected": n})
			best := 0
			ids, _ := identities(n, "random:7")
			for id := range k {
				if ids[id] > ids[best] {
					best = id
				}
			}
			if h.agreed() != nodes.ID(best) {
				t.Errorf("%d of %d campaign: node %d leads, not %d", k, n, h.agreed(), best)
			}
		}
	}
}

// Chang and Roberts' takes 2N-1 messages at best and N(N+1)/2 at worst if all campaign, and 2N-1 if one does
// whose predecessor is the highest; and N to announce the leader.
func TestChangRobertsCostsWhatIsPublished(t *testing.T) {
	for _, n := range []int{2, 3, 4, 5, 9, 16, 32, 100} {
		last := nodes.ID(n - 1)
		for _, test := range []struct {
			ids        string
			initiators []nodes.ID
			want       int
		}{
			{"increasing", everyone(n), 2*n - 1},
			{"decreasing", everyone(n), n * (n + 1) / 2},
			{"increasing", []nodes.ID{0}, 2*n - 1}, // its predecessor is node n-1, the highest
			{"increasing", []nodes.ID{last}, n},
		} {
			h := ringRun(t, &changRobertsAlgorithm, n, test.ids, test.initiators...)
			h.sentOf(t, fmt.Sprintf("n=%d, %s, %v", n, test.ids, test.initiators),
				map[string]int{"election": test.want, "elected": n})
		}
	}
}

// Over all rings of N nodes it takes N*H(N) messages on average: 50 over the 6 rings of four, 274 over the 24
// rings of five.
func TestChangRobertsCostsItsMeanOverAllRings(t *testing.T) {
	for n, want := range map[int]int{1: 0, 2: 3, 3: 11, 4: 50, 5: 274} {
		total, counts := 0, map[int]int{}
		allRings(n, func(ids []int) {
			h := ringRun(t, &changRobertsAlgorithm, n, idsOf(ids), everyone(n)...)
			total += h.sent["election"]
			counts[h.sent["election"]]++
		})
		if total != want {
			t.Errorf("n=%d: %d messages over all rings, not %d", n, total, want)
		}
		if n == 4 && (counts[7] != 1 || counts[8] != 3 || counts[9] != 1 || counts[10] != 1) {
			t.Errorf("n=4: rings by messages %v, not one of 7, three of 8, one of 9 and one of 10", counts)
		}
	}
}

// A mean of draws.
type mean struct{ count, sum, squares float64 }

func (m *mean) add(x float64) {
	m.count++
	m.sum += x
	m.squares += x * x
}

// near demands that it is within four standard errors of what is expected.
func (m *mean) near(t testing.TB, what string, want float64) {
	t.Helper()
	got := m.sum / m.count
	standard := math.Sqrt((m.squares/m.count - got*got) / (m.count - 1))
	if math.Abs(got-want) > 4*standard {
		t.Errorf("%s: %.4f on average, not %.4f: four standard errors are %.4f", what, got, want, 4*standard)
	}
	t.Logf("%s: %.4f on average of %.0f, expected %.4f, standard error %.4f", what, got, m.count, want, standard)
}

// The published bounds of the electors that take O(N log N) messages hold for all rings of up to six nodes,
// for larger ones in some orders, and for any initiators.
func TestRingsCostNoMoreThanIsPublished(t *testing.T) {
	for _, test := range []struct {
		algorithm *algorithm.Algorithm
		kinds     []string // that are counted
		most      func(n int) int
	}{
		{&hirschbergSinclairAlgorithm, []string{"probe", "reply"}, func(n int) int {
			return 8*n + 8*int(math.Ceil(float64(n)*math.Log2(float64(n))))
		}},
		{&franklinAlgorithm, []string{"identity", "elected"}, func(n int) int { return 2*n*floorLog(n) + 3*n }},
		{&dolevKlaweRodehAlgorithm, []string{"value"}, func(n int) int { return 2*n*floorLog(n) + n }},
	} {
		worst := map[int]int{}
		try := func(n int, ids string, initiators ...nodes.ID) {
			h := ringRun(t, test.algorithm, n, ids, initiators...)
			got := 0
			for _, kind := range test.kinds {
				got += h.sent[kind]
			}
			worst[n] = max(worst[n], got)
			if got > test.most(n) {
				t.Errorf("%s: n=%d, ids %s, initiators %v: %d messages, more than %d", test.algorithm.Name, n, ids,
					initiators,
					got, test.most(n))
			}
		}
		for n := 1; n <= 6; n++ {
			allRings(n, func(ids []int) {
				try(n, idsOf(ids), everyone(n)...)
				try(n, idsOf(ids), 0)
				try(n, idsOf(ids), nodes.ID(n-1), nodes.ID(n/2))
			})
		}
		for _, n := range []int{7, 8, 9, 16, 31, 32, 33, 64, 100} {
			for seed := range soak.Pick(5, 30, 1000) {
				try(n, fmt.Sprintf("random:%d", seed), everyone(n)...)
				try(n, fmt.Sprintf("random:%d", seed), nodes.ID(seed%n))
			}
			for _, ids := range []string{"increasing", "decreasing", idsOf(alternating(n)), idsOf(bitReversed(n))} {
				try(n, ids, everyone(n)...)
			}
		}
		for _, n := range []int{4, 5, 9, 16, 32} {
			t.Logf("%s: n=%d: %d messages at worst, published %d", test.algorithm.Name, n, worst[n], test.most(n))
		}
	}
}

// On any ring, an election that all begin at once takes exactly as many messages as the order of the
// identities says, if every message takes the same time; and never more than is published.
func TestRingsCostWhatTheOrderOfTheIdentitiesTakes(t *testing.T) {
	for _, algo := range []*algorithm.Algorithm{&leLannAlgorithm, &changRobertsAlgorithm,
		&hirschbergSinclairAlgorithm, &franklinAlgorithm,
		&dolevKlaweRodehAlgorithm} {
		try := func(n int, ids, latency string) {
			c := nodes.Config{N: n}.With(idsOption.Name, ids)
			s := scenario{algorithm: algo, config: c, network: algotest.NetworkOf(latency), duration: 20 * time.Second}
			v, sent := s.verdict(t)
			cost := algo.Elector.Costs(c)
			if sent != cost.AtOnce || sent > cost.Most || v.Outcome != check.Valid {
				t.Errorf("%s, n=%d, ids %s, latency %s: %d messages, not %d, and %d at most; %v: %s", algo.Name, n, ids,
					latency, sent, cost.AtOnce, cost.Most, v.Outcome, v.Reason)
			}
		}
		for n := 1; n <= soak.Pick(4, 5, 7); n++ {
			allRings(n, func(ids []int) { try(n, idsOf(ids), "1ms") })
		}
		for _, n := range []int{7, 8, 9, 16, 33} {
			for _, ids := range []string{"random:1", "random:2", "increasing", "decreasing", idsOf(alternating(n)),
				idsOf(bitReversed(n))} {
				try(n, ids, "0s")
				try(n, ids, "7ms")
			}
		}
	}
}

// alternating has high and low identities by turns, so that the most candidates remain.
func alternating(n int) []int {
	ids := make([]int, n)
	for i := range ids {
		ids[i] = i / 2
		if i%2 == 1 {
			ids[i] = n - 1 - i/2
		}
	}
	return ids
}

// bitReversed is an order in which every other remaining candidate stays in each round.
func bitReversed(n int) []int {
	width := bits.Len(uint(n - 1))
	var order, ids []int
	for i := range 1 << width {
		if r := int(bits.Reverse(uint(i)) >> (bits.UintSize - width)); width == 0 || r < n {
			order = append(order, r)
		}
	}
	ids = make([]int, n)
	for rank, at := range order {
		ids[at] = n - 1 - rank
	}
	return ids
}

// In itai-rodeh, where all draw again, an election takes N(N-1) messages a round. The mean number of rounds
// is within four standard errors of the one in the PRISM model checker's case study.
func TestItaiRodehTakesThePublishedRounds(t *testing.T) {
	for n, rounds := range map[int]map[int]float64{
		3: {2: 4.0 / 3, 3: 9.0 / 8, 4: 16.0 / 15, 5: 25.0 / 24, 6: 36.0 / 35, 8: 64.0 / 63},
		4: {2: 2, 3: 27.0 / 20, 4: 32.0 / 27, 5: 125.0 / 112, 6: 27.0 / 25, 8: 256.0 / 245},
		5: {2: 16.0 / 5, 3: 27.0 / 20, 4: 256.0 / 225, 5: 625.0 / 584, 6: 432.0 / 415, 8: 4096.0 / 4025},
		6: {2: 16.0 / 3, 3: 3.0 / 2, 4: 512.0 / 429, 5: 3125.0 / 2844, 6: 1296.0 / 1225, 8: 16384.0 / 15981},
	} {
		for k, want := range rounds {
			c := nodes.Config{N: n}.With(drawsOption.Name, fmt.Sprint(k))
			h := clusterByHand(t, &itaiRodehAlgorithm, c, rng(uint64(n*k)))
			var m mean
			for range soak.Pick(200, 500, 100_000) { // elections one after the other
				clear(h.sent)
				h.campaign(everyone(n)...)
				h.rest()
				if h.fault() != "" || h.sent["draw"]%(n*(n-1)) != 0 {
					t.Fatalf("n=%d, K=%d: %s, %v", n, k, h.fault(), h.sent)
				}
				m.add(float64(h.sent["draw"] / (n * (n - 1))))
				h.handled = 0
			}
			m.near(t, fmt.Sprintf("n=%d, K=%d: rounds", n, k), want)
		}
	}
}

// itai-rodeh-async takes O(N log N) messages on average: at most 2N more than the mean of Chang-Roberts,
// N*H(N). After a round, only the nodes with the highest draw go on.
func TestItaiRodehAsyncCostsOrderNLogN(t *testing.T) {
	for _, n := range []int{2, 4, 9, 16, 32, 64} {
		h := clusterByHand(t, &itaiRodehAsyncAlgorithm, nodes.Config{N: n}, rng(uint64(n)))
		total, times := 0, soak.Pick(50, 300, 10_000)
		for range times {
			clear(h.sent)
			h.campaign(everyone(n)...)
			h.rest()
			if h.fault() != "" || h.sent["elected"] != n {
				t.Fatalf("n=%d: %s, %v", n, h.fault(), h.sent)
			}
			total += h.sent["candidate"]
			h.handled = 0
		}
		harmonic := 0.0
		for i := 1; i <= n; i++ {
			harmonic += 1 / float64(i)
		}
		got := float64(total) / float64(times) / float64(n)
		t.Logf("n=%d: %.3f messages a node, H(N) is %.3f", n, got, harmonic)
		if got > harmonic+2 {
			t.Errorf("n=%d: %.3f messages a node, more than %.3f", n, got, harmonic+2)
		}
	}
}
