package bench

import (
	"testing"

	"turnstile/nodes"
)

func TestPublishedFiguresAreReproduced(t *testing.T) {
	for _, c := range Claims() {
		r, err := c.Reproduce(1)
		if err != nil {
			t.Fatal(err)
		}
		if !r.Holds {
			t.Errorf("%s of %s at n=%d, %s: %v, and %v is published", c.Figure, c.Algorithm, c.N, c.Load,
				r.Measured, c.Published)
		}
	}
}

// Each claim would be found off if it said a little more or a little less.
func TestWrongClaimsAreOff(t *testing.T) {
	for i, c := range Claims() {
		if i%5 != 0 || !c.Published.Exact() || c.Published.Min == 0 {
			continue
		}
		for _, factor := range []float64{0.93, 1.07} {
			wrong := c
			wrong.Published = nodes.Exactly(c.Published.Min * factor)
			r, err := wrong.Reproduce(1)
			if err != nil {
				t.Fatal(err)
			}
			if r.Holds {
				t.Errorf("%s of %s at n=%d, %s: %v passes for %v", c.Figure, c.Algorithm, c.N, c.Load,
					r.Measured, wrong.Published)
			}
		}
	}
}
