package mutex

import (
	"testing"
	"time"

	"turnstile/internal/chance"
	"turnstile/internal/soak"
	"turnstile/judge/algotest"
	"turnstile/judge/check"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/sim"
	"turnstile/nodes/workload"
)

// byClock numbers its requests by a logical clock, and not by how many it has made.
type byClock struct{ ricartRanked }

func (b *byClock) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if q, is := m.(ricartRequest); is {
		b.last = max(b.last, q.Clock>>rankedAgain)
	}
	b.ricartRanked.Receive(env, from, m)
}

// inPriority judges a run in which clients ask at times of their own, and some more often than others.
func inPriority(t *testing.T, of *algorithm.Algorithm, n int, seed uint64) (f check.Finding) {
	t.Helper()
	c := of.Explicit(nodes.Config{N: n}.With("priority", "fewest"))
	o := sim.Options{Stack: algotest.StackOf(of, c), Seed: seed, Entries: uint64(40 * n),
		Workload: workload.Workload{Load: workload.Closed, Think: algotest.Drawn("exponential:6ms"),
			Hold: chance.Constant(3 * time.Millisecond)}}
	algotest.Over(&o, algotest.NetworkOf("uniform:0s,1ms"))
	s := check.SettingOf(o.Stack)
	s.Bounded, s.Delay = true, time.Millisecond
	for _, f := range check.Judge(algotest.History(t, o), s).Findings {
		if f.Check == "priority" {
			return f
		}
	}
	t.Fatal("the priority is not judged")
	return f
}

// Once a request is known to all, no node enters before it that has made more.
func TestFewestComeFirst(t *testing.T) {
	for seed := range soak.Pick[uint64](5, 50, 5000) {
		if f := inPriority(t, &ricartAgrawalaAlgorithm, 2+int(seed%6), seed); f.Outcome != check.Valid {
			t.Errorf("seed %d: %s", seed, f.Says)
		}
	}
}

// Another order is found out.
func TestAnotherOrderThanFewestIsFound(t *testing.T) {
	for name, of := range map[string]*algorithm.Algorithm{
		"by ID": algotest.Rebuilt(&ricartAgrawalaAlgorithm, func(r ricartRanked) nodes.Machine {
			r.by = byID
			return &r
		}),
		"by clock": algotest.Rebuilt(&ricartAgrawalaAlgorithm,
			func(r ricartRanked) nodes.Machine { return &byClock{r} }),
	} {
		violated := false
		for seed := range uint64(5) {
			violated = violated || inPriority(t, of, 5, seed).Outcome == check.Violated
		}
		if !violated {
			t.Errorf("%s: not found", name)
		}
	}
}
