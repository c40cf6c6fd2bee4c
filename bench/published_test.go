package bench

import (
	"slices"
	"testing"

	"time"

	"turnstile/internal/soak"
	"turnstile/nodes"
	"turnstile/nodes/detector"
	"turnstile/nodes/election"
	"turnstile/nodes/mutex"
)

// Of what is published of each row, small clusters reproduce it. That all do, `orchestrator validate` shows,
// which a script of cmd/orchestrator runs.
func TestRowsReproduceWhatIsPublished(t *testing.T) {
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

// Of the detectors, too. A mean is found off if a quarter more or less were published.
func TestDetectorsReproduceWhatIsPublished(t *testing.T) {
	for _, row := range detector.Table {
		all, err := Reproduce(t.Context(), []*nodes.Spec{small(row)}, 1, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range all {
			if r.Within == nodes.Exact {
				reproduces(t, r)
				continue
			}
			for _, factor := range []float64{0.75, 1, 1.25} {
				as := *r
				as.Published = nodes.Exactly(r.Published.Min * factor)
				if got, want := as.holds(), r.Judged() && factor == 1; got != want {
					t.Errorf("%s at n=%d: %v holds for %v: %v", r.Figure, r.Config.N, r.Measured, as.Published, got)
				}
			}
		}
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

// Times and shares of elections are as published, and are found off if others were.
func TestDrawnElectionsReproduceWhatIsPublished(t *testing.T) {
	t.Parallel()
	raft, err := election.Find("raft")
	if err != nil {
		t.Fatal(err)
	}
	every := soak.Pick(3, 1, 1)
	for i, claim := range raft.Published {
		trial := *claim.Election
		if !slices.Contains(claim.Sizes, 5) || trial.Runs < 2 || i%every > 0 {
			continue
		}
		trial.Runs = soak.Pick(200, 200, 2000)
		if claim.Within == nodes.Beside {
			trial.Runs = soak.Pick(200, 200, 20_000) // docs/running.md has what they show
		}
		claim.Election, claim.Sizes = &trial, []int{5}
		r := reproduced(t, raft, claim)
		t.Logf("%s, %s: %v +- %v, and %v is published", r.Figure, r.Source, r.Measured, r.Error, r.Published)
		if r.Holds != r.Judged() {
			t.Errorf("%s, %s: %v +- %v, and %v is published", r.Figure, r.Source, r.Measured, r.Error, r.Published)
		}
		factor := 1.25
		if r.Figure.Share() {
			factor = 2
		}
		wrong := *r
		wrong.Published = nodes.Exactly(factor * r.Published.Min)
		if r.Published.Min > 0.1 && wrong.holds() {
			t.Errorf("%s, %s: %v +- %v passes for %v", r.Figure, r.Source, r.Measured, r.Error, wrong.Published)
		}
	}
}

// A run that ends before anybody is elected counts with the time that the election does take.
func TestRunsLastUntilSomebodyIsElected(t *testing.T) {
	raft, err := election.Find("raft")
	if err != nil {
		t.Fatal(err)
	}
	for _, claim := range raft.Published {
		if claim.Figure != nodes.ElectionTime {
			continue
		}
		trial := *claim.Election
		trial.Runs, claim.Election = 5, &trial
		long := reproduced(t, raft, claim)
		trial.Lasts = trial.Crash[1] + 10*time.Millisecond
		if short := reproduced(t, raft, claim); short.Measured != long.Measured || short.Measured == 0 {
			t.Errorf("%s: %v ms, and %v of runs that are too short", claim.Source, long.Measured, short.Measured)
		}
	}
}

// reproduced makes the runs of a claim about a cluster of one size.
func reproduced(t *testing.T, row *nodes.Spec, claim nodes.Claim) *Reproduced {
	t.Helper()
	one := *row
	one.Published = []nodes.Claim{claim}
	all, err := Reproduce(t.Context(), []*nodes.Spec{&one}, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	return all[0]
}
