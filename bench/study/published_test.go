package study

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"turnstile/algorithms/detector"
	"turnstile/algorithms/election"
	"turnstile/algorithms/mutex"
	"turnstile/internal/soak"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

// Small clusters reproduce the published figures of each algorithm. The command `orchestrator validate`,
// which a script runs, reproduces the figures of all clusters.
func TestAlgorithmsReproduceWhatIsPublished(t *testing.T) {
	for _, spec := range mutex.Table {
		t.Run(spec.Name, func(t *testing.T) {
			t.Parallel()
			all := reproduce(t, small(spec))
			if len(all) < len(spec.Published) {
				t.Errorf("%d figures are reproduced, and %d are published", len(all), len(spec.Published))
			}
			for _, r := range all {
				if r.Judged() {
					reproduces(t, r)
				}
			}
		})
	}
}

// The same holds for detectors. A mean disagrees with a value that is a quarter greater or less.
func TestDetectorsReproduceWhatIsPublished(t *testing.T) {
	for _, spec := range detector.Table {
		all := reproduce(t, small(spec))
		for _, r := range all {
			if r.Within == algorithm.Exact {
				reproduces(t, r)
				continue
			}
			for _, factor := range []float64{0.75, 1, 1.25} {
				as := *r
				as.Published = algorithm.Exactly(r.Published.Min * factor)
				if got, want := as.holds(), r.Judged() && factor == 1; got != want {
					t.Errorf("%s at n=%d: %v holds for %v: %v", r.Figure, r.Config.N, r.Measured, as.Published, got)
				}
			}
		}
	}
}

// small returns an algorithm whose claims are about small clusters, or about the smallest possible.
func small(of *algorithm.Algorithm) *algorithm.Algorithm {
	most := soak.Pick(4, 4, 1000)
	algo := *of
	algo.Published = nil
	for _, claim := range of.Published {
		var sizes []int
		for _, c := range claim.Configs() {
			if sizes == nil || c.N <= most {
				sizes = append(sizes, c.N)
			}
		}
		claim.Sizes = sizes
		algo.Published = append(algo.Published, claim)
	}
	return &algo
}

// reproduces requires a figure to agree with the published value, and to disagree with a value that is 7%
// greater or less.
func reproduces(t *testing.T, r *Reproduced) {
	t.Helper()
	if !r.Holds {
		t.Errorf("%s at n=%d, %s: %v, and %v is published", r.Figure, r.Config.N, r.Load, r.Measured, r.Published)
	}
	for _, factor := range []float64{0.93, 1.07} {
		wrong := *r
		wrong.Published = algorithm.Exactly(r.Published.Min * factor)
		if r.Published.Exact() && r.Published.Min != 0 && wrong.holds() {
			t.Errorf("%s at n=%d, %s: %v passes for %v", r.Figure, r.Config.N, r.Load, r.Measured, wrong.Published)
		}
	}
}

// Times and shares of elections agree with the published values, and disagree with greater values.
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
		if claim.Within == algorithm.Beside {
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
		wrong.Published = algorithm.Exactly(factor * r.Published.Min)
		if r.Published.Min > 0.1 && wrong.holds() {
			t.Errorf("%s, %s: %v +- %v passes for %v", r.Figure, r.Source, r.Measured, r.Error, wrong.Published)
		}
	}
}

// A run that ends before the election is repeated for longer, and counts with the time of the election.
func TestRunsLastUntilSomebodyIsElected(t *testing.T) {
	raft, err := election.Find("raft")
	if err != nil {
		t.Fatal(err)
	}
	for _, claim := range raft.Published {
		if claim.Figure != algorithm.ElectionTime {
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
func reproduced(t *testing.T, spec *algorithm.Algorithm, claim algorithm.Claim) *Reproduced {
	t.Helper()
	one := *spec
	one.Published = []algorithm.Claim{claim}
	return reproduce(t, &one)[0]
}

// reproduce makes the runs of all claims of an algorithm.
func reproduce(t *testing.T, spec *algorithm.Algorithm) []*Reproduced {
	t.Helper()
	e := of(spec)
	all, listed, err := e.Reproduce(t.Context())
	if err != nil || len(all) != listed {
		t.Fatalf("%d of %d figures: %v", len(all), listed, err)
	}
	return all
}

// starting never returns from its start.
type starting struct{ nodes.Mutex }

func (*starting) Start(*nodes.Env) {
	for {
		time.Sleep(time.Millisecond) // so that the test can end
	}
}

// An interruption of Reproduce takes effect though a handler does not return.
func TestPublishedFiguresEndThoughAHandlerIsStuck(t *testing.T) {
	for name, election := range map[string]*algorithm.Trial{"mutual exclusion": nil, "election": {}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := *mutex.Table[0]
			spec.New = func(nodes.Config) nodes.Machine { return &starting{} }
			spec.Published = []algorithm.Claim{{Figure: algorithm.MessagesPerEntry, Sizes: []int{2},
				Election: election,
				Value:    func(nodes.Config) algorithm.Range { return algorithm.Exactly(0) }}}
			ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
			defer cancel()
			over := make(chan error, 1)
			go func() {
				e := of(&spec)
				_, _, err := e.Reproduce(ctx)
				over <- err
			}()
			select {
			case err := <-over:
				if !errors.Is(err, ctx.Err()) {
					t.Error(err)
				}
			case <-time.After(20 * time.Second):
				t.Error("the run goes on")
			}
		})
	}
}
