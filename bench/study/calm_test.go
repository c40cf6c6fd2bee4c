package study

import (
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"turnstile/algorithms/catalog"
	"turnstile/algorithms/mutex"
	"turnstile/internal/soak"
	"turnstile/nodes/algorithm"
)

// Without faults, no sound algorithm is violated, or inconclusive without a note before the run, for any
// number of nodes, latency, hold and load.
func TestCalm(t *testing.T) {
	const fewest, batch = 300, 60
	g := CalmOf(catalog.Table{}.Algorithms(), soak.Pick(9, CalmNodes, CalmNodes))
	most := soak.Pick(30, g.Cells(), g.Cells())
	spare := soak.Pick(time.Hour, 90*time.Second, 1000*time.Hour) / time.Duration(runtime.GOMAXPROCS(0))
	began, made := time.Now(), 0
	for made < most && (made < fewest || time.Since(began) < spare) {
		results, err := g.Run(t.Context(), &Experiment{Seed: 1}, made, min(most, made+batch))
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range results {
			if r.Wrong != "" {
				t.Errorf("%v: %s", r, r.Wrong)
			}
		}
		made += len(results)
	}
	t.Logf("%d of %d cells in %v", made, g.Cells(), time.Since(began).Round(time.Second))
}

// The grid finds an algorithm whose timeouts do not follow its delays, in some of its cells.
func TestCalmFindsShortTimeouts(t *testing.T) {
	for _, name := range []string{"token-ring-regenerating", "suzuki-kasami-ft", "ricart-agrawala-ft"} {
		spec, err := mutex.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		rigid := *spec
		rigid.Options = nil
		for _, o := range spec.Options {
			o.Bound = nil
			rigid.Options = append(rigid.Options, o)
		}
		const most, batch = 150, 10
		g, violated, made := CalmOf([]*algorithm.Algorithm{&rigid}, 3), false, 0
		for ; made < most && !violated; made += batch {
			results, err := g.Run(t.Context(), &Experiment{Seed: 1}, made, made+batch)
			if err != nil {
				t.Fatal(err)
			}
			violated = slices.ContainsFunc(results, func(r *Result) bool {
				return strings.HasPrefix(r.Wrong, "VIOLATED without faults")
			})
		}
		if !violated {
			t.Errorf("%s: none of %d cells shows it", name, made)
		}
	}
}

// A cell is drawn once, and eventually all are.
func TestCalmDrawsEachCellOnce(t *testing.T) {
	g := CalmOf(mutex.Table, CalmNodes)
	seen := map[int]bool{}
	for _, i := range g.order(7) {
		seen[i] = true
	}
	if len(seen) != g.Cells() || g.order(7)[0] == g.order(8)[0] {
		t.Errorf("%d of %d cells", len(seen), g.Cells())
	}
}

// Algorithms take turns, so that any number of runs is divided evenly among them.
func TestCalmIsSharedOut(t *testing.T) {
	g, runs := CalmOf(catalog.Table{}.Algorithms(), CalmNodes), map[*algorithm.Algorithm]int{}
	order := g.order(3)[:g.Fewest()]
	for _, i := range order {
		runs[g.cells[i].spec]++
	}
	for _, algo := range (catalog.Table{}).Algorithms() {
		if want := CalmForEach; algo.Flaw == nil && runs[algo] < want {
			t.Errorf("%s has %d of %d runs, want %d", algo.Name, runs[algo], len(order), want)
		}
	}
}
