package bench

import (
	"testing"

	"turnstile/nodes"
	"turnstile/nodes/mutex"
)

func TestPublishedFiguresAreReproduced(t *testing.T) {
	all, err := Reproduce(mutex.Table, 1)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 127 {
		t.Errorf("%d figures are compared, which is fewer than there were", len(all))
	}
	for _, r := range all {
		if !r.Holds {
			t.Errorf("%s of %s at n=%d, %s: %v, and %v is published", r.Figure, r.Spec.Name, r.Config.N, r.Load,
				r.Measured, r.Published)
		}
		// It would be found off if a little more or a little less were published.
		for _, factor := range []float64{0.93, 1.07} {
			wrong := *r
			wrong.Published = nodes.Exactly(r.Published.Min * factor)
			if r.Published.Exact() && r.Published.Min != 0 && wrong.holds() {
				t.Errorf("%s of %s at n=%d, %s: %v passes for %v", r.Figure, r.Spec.Name, r.Config.N, r.Load,
					r.Measured, wrong.Published)
			}
		}
	}
}
