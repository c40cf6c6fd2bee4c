package sim

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// A queue returns events by time, and at one time in the order in which they were added, for any distances
// and any mixture of adding and taking.
func TestQueueSorts(t *testing.T) {
	type planned struct {
		at int64
		nr uint32
	}
	random := rand.New(rand.NewPCG(1, 2))
	q, now, nr := newQueue(), int64(0), uint32(0)
	var want []planned
	for round := range 20_000 {
		for range random.IntN(5) {
			at := now + random.Int64N(1<<random.IntN(40)) // often now, or a time that another event has
			nr++
			q.add(at).input.Gen = nr
			want = append(want, planned{at, nr})
		}
		slices.SortStableFunc(want, func(a, b planned) int { return int(a.at - b.at) })
		if q.size != len(want) || q.empty() != (len(want) == 0) {
			t.Fatalf("round %d: there are %d events, not %d", round, q.size, len(want))
		}
		for range min(len(want), random.IntN(5)) {
			at, e := q.take()
			if got := (planned{at, e.input.Gen}); got != want[0] {
				t.Fatalf("round %d: the first is %v, not %v", round, got, want[0])
			}
			now, want = at, want[1:]
		}
	}
}
