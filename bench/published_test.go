package bench

import (
	"testing"

	"turnstile/internal/soak"
	"turnstile/nodes"
	"turnstile/nodes/mutex"
)

// Of what is published of each row, small clusters reproduce it. That all do, `orchestrator validate` shows,
// which a script of cmd/orchestrator runs.
func TestRowsReproduceWhatIsPublished(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	for _, row := range mutex.Table {
		t.Run(row.Name, func(t *testing.T) {
			t.Parallel()
			all, err := Reproduce(t.Context(), []*nodes.Spec{small(row)}, 1, nil)
			if err != nil {
				t.Fatal(err)
			}
			if len(all) < len(row.Published) {
				t.Errorf("%d figures are reproduced, and %d are published", len(all), len(row.Published))
			}
			for _, r := range all {
				reproduces(t, r)
			}
		})
	}
}

// small returns a row whose claims are about small clusters, or about the smallest that they are about.
func small(row *nodes.Spec) *nodes.Spec {
	most := soak.Pick(4, 4, 1000)
	r := *row
	r.Published = nil
	for _, claim := range row.Published {
		var sizes []int
		for _, c := range claim.Configs() {
			if sizes == nil || c.N <= most {
				sizes = append(sizes, c.N)
			}
		}
		claim.Sizes = sizes
		r.Published = append(r.Published, claim)
	}
	return &r
}

// reproduces wants a figure to be as published, and to be found off if a little more or a little less were.
func reproduces(t *testing.T, r *Reproduced) {
	t.Helper()
	if !r.Holds {
		t.Errorf("%s at n=%d, %s: %v, and %v is published", r.Figure, r.Config.N, r.Load, r.Measured, r.Published)
	}
	for _, factor := range []float64{0.93, 1.07} {
		wrong := *r
		wrong.Published = nodes.Exactly(r.Published.Min * factor)
		if r.Published.Exact() && r.Published.Min != 0 && wrong.holds() {
			t.Errorf("%s at n=%d, %s: %v passes for %v", r.Figure, r.Config.N, r.Load, r.Measured, wrong.Published)
		}
	}
}
