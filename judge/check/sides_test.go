package check

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"turnstile/judge/section"
	"turnstile/nodes"
)

// naiveSide follows whom a node reaches, node by node.
func naiveSide(m *model, from nodes.ID, at int64) int {
	side := []nodes.ID{from}
	for i := 0; i < len(side); i++ {
		for id := range nodes.ID(m.Config.N) {
			if !slices.Contains(side, id) && m.wasUp(id, at) && !m.separated(side[i], id, at) {
				side = append(side, id)
			}
		}
	}
	return min(len(side), m.Config.N/2+1)
}

// naiveSince returns since when a node has been in the minority in which it is at a time.
func naiveSince(m *model, id nodes.ID, at, began int64) int64 {
	for at > began && 2*naiveSide(m, id, at-1) <= m.Config.N {
		at--
	}
	return at
}

// randomFaults draws cuts into groups, into rings and of one node, and deaths.
func randomFaults(r *rand.Rand) *model {
	n := 2 + r.IntN(7)
	m := &model{Setting: Setting{Config: nodes.Config{N: n}}, sections: &section.Fold{}}
	for number := range r.IntN(4) {
		groups, victim := r.Perm(n), nodes.ID(r.IntN(n))
		f := Fault{
			Part:      func(id, _ nodes.ID) int { return groups[id] % 3 },
			Separates: func(a, b, _ nodes.ID) bool { return groups[a]%3 != groups[b]%3 },
		}
		switch r.IntN(3) {
		case 0:
			f.Part = nil
			f.Separates = func(a, b, _ nodes.ID) bool {
				apart := max(groups[a]-groups[b], groups[b]-groups[a])
				return min(apart, n-apart) > 1
			}
		case 1:
			f.Part = func(id, victim nodes.ID) int {
				if id == victim {
					return 1
				}
				return 0
			}
			f.Separates = func(a, b, victim nodes.ID) bool { return a != b && (a == victim || b == victim) }
		}
		from := r.Int64N(40)
		m.Faults = append(m.Faults, f)
		m.sections.Faults = append(m.sections.Faults, section.Fault{Number: uint32(number + 1), From: from,
			To: from + r.Int64N(30), Victim: victim})
	}
	for range r.IntN(4) {
		from := r.Int64N(40)
		d := section.Death{Node: nodes.ID(r.IntN(n + 1)), From: from, Back: from + r.Int64N(30)}
		if r.IntN(3) == 0 {
			d.Back = math.MaxInt64
		}
		m.sections.Deaths = append(m.sections.Deaths, d)
	}
	return m
}

// What is remembered of sides is what looking at every node each time finds.
func TestSidesAreThoseOfEveryNode(t *testing.T) {
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 33))
		m := randomFaults(r)
		s := sides{model: m}
		for range 30 {
			id, at := nodes.ID(r.IntN(m.Config.N)), r.Int64N(70)
			want := naiveSide(m, id, at)
			if got := min(s.when(at).side(id), m.Config.N/2+1); got != want {
				t.Fatalf("seed %d: at %d, the side of %d has %d nodes, not %d", seed, at, id, got, want)
			}
			if 2*want > m.Config.N {
				continue
			}
			if got, want := s.minoritySince(id, at, 2), naiveSince(m, id, at, 2); at >= 2 && got != want {
				t.Fatalf("seed %d: at %d, %d is in a minority since %d, not %d", seed, at, id, got, want)
			}
		}
	}
}
