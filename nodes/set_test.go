package nodes

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// A Set does what a map would.
func TestSetIsASet(t *testing.T) {
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 0))
		var s Set
		model := map[ID]bool{}
		for range 300 {
			id := ID(rng.IntN(200))
			switch rng.IntN(4) {
			case 0:
				if s.Add(id) == model[id] {
					t.Fatalf("Add(%d) is wrong", id)
				}
				model[id] = true
			case 1:
				if s.Remove(id) != model[id] {
					t.Fatalf("Remove(%d) is wrong", id)
				}
				delete(model, id)
			case 2:
				if s.Has(id) != model[id] {
					t.Fatalf("Has(%d) is wrong", id)
				}
			case 3:
				other := SetOf(id)
				if s.Meets(other) != model[id] || other.Meets(s) != model[id] {
					t.Fatalf("Meets(%d) is wrong", id)
				}
			}
			checkSet(t, s, model)
		}
		s.Clear()
		checkSet(t, s, nil)
	}
}

func checkSet(t *testing.T, s Set, model map[ID]bool) {
	t.Helper()
	members := slices.Collect(s.All())
	if s.Len() != len(model) || s.Empty() != (len(model) == 0) || len(members) != len(model) ||
		!slices.IsSorted(members) {
		t.Fatalf("%v has %d members, want %v", s, s.Len(), model)
	}
	for _, id := range members {
		if !model[id] {
			t.Fatalf("%v has %d", s, id)
		}
	}
}

func TestEveryone(t *testing.T) {
	for n := range 200 {
		s := Everyone(n)
		if s.Len() != n || s.Has(ID(n)) || n > 0 && !s.Has(ID(n-1)) || len(slices.Collect(s.All())) != n {
			t.Errorf("Everyone(%d) is %v", n, s)
		}
	}
}

func TestSetCloneIsApart(t *testing.T) {
	s := SetOf(1, 2)
	c := s.Clone()
	c.Remove(1)
	c.Add(64)
	if s.String() != "{1 2}" || c.String() != "{2 64}" {
		t.Errorf("%v and %v", s, c)
	}
}

func TestSetHasNotNone(t *testing.T) {
	s := Everyone(70)
	if s.Has(None) || s.Remove(None) || s.Has(1000) {
		t.Error("it has a node that is not there")
	}
	for id := range s.All() {
		if id == 3 {
			break // All must allow a loop to break
		}
	}
}
