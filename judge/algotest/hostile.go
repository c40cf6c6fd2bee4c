package algotest

import (
	"strconv"
	"testing"

	"turnstile/internal/soak"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/explore"
	"turnstile/nodes/workload"
)

// Hostile returns two explorations of two clients of an algorithm. In both, links reorder messages and one
// timer expires early; in the first a node crashes and restarts, in the second a message arrives twice.
// Neither breaks an assumption of the algorithm's safety.
func Hostile(of *algorithm.Algorithm) []explore.Space {
	c := of.Explicit(nodes.Config{N: 2})
	tolerates := func(a nodes.Assumption) bool { return of.SafeIn(c)&a == 0 }
	o := explore.Space{Spec: of, Config: c, Entries: 2, Reordering: tolerates(nodes.FIFO),
		Take:   workload.Take{Least: 1, Most: of.Units.Takes(c.Capacity())},
		States: soak.Pick[uint64](2000, 60_000, 4_000_000), Memory: 2 << 30}
	if len(of.Timers) > 0 {
		o.Timeouts = 1
	}
	crash, double := o, o
	if tolerates(nodes.NoCrash) {
		crash.Crashes, crash.Restarts = 1, true
	}
	if tolerates(nodes.NoDuplication) {
		double.Duplicates = 1
	}
	return []explore.Space{crash, double}
}

// ExploreHostile demands that the hostile explorations of the sound algorithms of a table find no violation.
// The two of each algorithm, sound or not, are made at the same time, so that the race detector finds what
// machines share.
func ExploreHostile(t *testing.T, table []*algorithm.Algorithm) {
	for _, of := range table {
		t.Run(of.Name, func(t *testing.T) {
			for i, o := range Hostile(of) {
				t.Run(strconv.Itoa(i), func(t *testing.T) {
					t.Parallel()
					x := Explore(t, o)
					if v := x.Violation; v != nil && of.Flaw == nil {
						t.Errorf("%s: %s\n%v", v.Check, v.Says, v.Schedule)
					}
					t.Logf("%d states, %s", x.States, x.Bound)
				})
			}
		})
	}
}

// FindUsually demands that one of the usual explorations of a cluster of that many nodes finds each mutant,
// in as many states as turnstile.Check allows.
func FindUsually(t *testing.T, n int, mutants []Mutant) {
	for _, m := range mutants {
		t.Run(m.Rule, func(t *testing.T) {
			for i, o := range explore.Usual(m.Algorithm, m.Algorithm.Explicit(nodes.Config{N: n})) {
				o.States = 1 << 17
				x := Explore(t, o)
				t.Logf("space %d: %d states, %s", i, x.States, x.Bound)
				if x.Violation != nil {
					return
				}
			}
			t.Error("no exploration finds it")
		})
	}
}
