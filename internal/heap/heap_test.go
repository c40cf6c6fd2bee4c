package heap

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Pop removes the least value, after any additions, removals and changes.
func TestPopTakesTheLeast(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	h := New(func(a, b *int) bool { return *a < *b })
	var held []int
	for range 5000 {
		if len(held) == 0 || rng.IntN(3) > 0 {
			x := rng.IntN(1000)
			h.Push(x)
			held = append(held, x)
			continue
		}
		if rng.IntN(4) == 0 { // the first becomes another
			x := rng.IntN(1000)
			held[slices.Index(held, *h.First())] = x
			*h.First() = x
			h.Fix()
		}
		at := slices.Index(held, slices.Min(held))
		if got := h.Pop(); got != held[at] {
			t.Fatalf("%d is taken, and %d is the least", got, held[at])
		}
		held = slices.Delete(held, at, at+1)
	}
}
