package plans

import (
	"slices"
	"testing"
	"time"

	"turnstile/algorithms/catalog"
	"turnstile/algorithms/mutex"
	"turnstile/bench"
	"turnstile/chaos"
	"turnstile/chaos/effect"
	"turnstile/internal/chance"
	"turnstile/judge/check"
	"turnstile/nodes/algorithm"
	"turnstile/option"
)

// Shrinking many faults leaves the faults that make a run fail: a node that dies for good, among two
// dozen other faults.
func TestShrinkFindsTheFaultThatMatters(t *testing.T) {
	spec, err := mutex.Find("ricart-agrawala")
	if err != nil {
		t.Fatal(err)
	}
	o := options("ricart-agrawala", 5)
	for i := range 12 {
		o.Faults = append(o.Faults, fault(t, "pause: 1-2, for: 5ms", time.Duration(i)*20*time.Millisecond),
			fault(t, "delay: exponential:1ms, for: 10ms", time.Duration(i)*20*time.Millisecond))
	}
	o.Faults = slices.Insert(o.Faults, 7, fault(t, "kill: 3", 100*time.Millisecond))
	s, err := Shrink(t.Context(), job(t, spec, o))
	if err != nil {
		t.Fatal(err)
	}
	want := Failure{"progress", check.Inconclusive, true}
	if s.Failure != want || s.From != 25 || len(s.Faults) != 1 ||
		effect.TargetOf(s.Faults[0].Effect).String() != "3" {
		t.Fatalf("%+v", s)
	}
	repeats(t, s, o)
}

// job returns the job of a simulated run.
func job(t *testing.T, spec *algorithm.Algorithm, o bench.Options) *bench.Job {
	t.Helper()
	j, err := bench.Resolve(catalog.Table{}, o, spec, true)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// repeats checks that a run under the file of a shrunken plan fails for the same reason as before.
func repeats(t *testing.T, s *Shrunk, o bench.Options) {
	t.Helper()
	text, err := s.File("a comment")
	if err != nil {
		t.Fatal(err)
	}
	p, err := chaos.ReadPlan("shrunk.yaml", []byte(text))
	if err != nil {
		t.Fatalf("%v:\n%s", err, text)
	}
	spec, err := (catalog.Table{}).Find(o.Algorithm)
	if err != nil {
		t.Fatal(err)
	}
	o.Faults = p.Faults
	again, err := bench.Simulate(t.Context(), job(t, spec, o))
	if err != nil {
		t.Fatal(err)
	}
	if again.Verdict.Reason != s.Reason {
		t.Errorf("%s\n%s, and was %s", text, again.Verdict.Reason, s.Reason)
	}
}

// No fault of a shrunken plan can be left out.
func TestShrinkLeavesNothingOver(t *testing.T) {
	spec, err := mutex.Find("maekawa")
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(20) {
		c, err := (&Source{Algorithms: []*algorithm.Algorithm{spec}, Seed: 3}).Job(int(2*seed+1), false)
		if err != nil {
			t.Fatal(err)
		}
		s, err := Shrink(t.Context(), c)
		if err != nil || s == nil {
			if err != nil {
				t.Fatal(err)
			}
			continue
		}
		repeats(t, s, c.Options)
		for i := range s.Faults { // the failure needs each fault
			o := c.Options
			o.Faults = slices.Delete(slices.Clone(s.Faults), i, i+1)
			if again, err := bench.Simulate(t.Context(), job(t, spec, o)); err != nil {
				t.Fatal(err)
			} else if failureOf(&again.Verdict) == s.Failure {
				t.Errorf("seed %d: without %v it fails as well", c.Options.Seed, &s.Faults[i])
			}
		}
	}
}

// options returns the options of a run of a second.
func options(algorithm string, n int) bench.Options {
	o := option.Defaults()
	o.Algorithm, o.Config.N, o.Duration, o.Warmup = algorithm, n, measured, measured/10
	o.Latency, o.Workload.Hold = chance.Constant(time.Millisecond), chance.Constant(100*time.Microsecond)
	return o
}

func fault(t *testing.T, text string, at time.Duration) chaos.Fault {
	t.Helper()
	f, err := chaos.ParseFault(text)
	if err != nil {
		t.Fatal(err)
	}
	f.At = at
	return f
}
