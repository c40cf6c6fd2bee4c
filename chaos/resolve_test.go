package chaos

import (
	"slices"
	"strings"
	"testing"
	"time"

	"turnstile/nodes"
)

// A plan and a seed give the same faults, and another seed others.
func TestSeedsResolve(t *testing.T) {
	s, faults := scene(t, "suzuki-kasami"), read(t, everyKind...)
	s.Brokers = 3
	one, err := Resolve(faults, s, 1)
	again, wrong := Resolve(faults, s, 1)
	other, failed := Resolve(faults, s, 2)
	if err != nil || wrong != nil || failed != nil {
		t.Fatal(err, wrong, failed)
	}
	if !same(one, again) || same(one, other) {
		t.Error("equal seeds give other faults, or other seeds the same")
	}
	for i := range one {
		if one[i].Seed == 0 || slices.ContainsFunc(one[:i], func(f Fault) bool {
			return f.Seed == one[i].Seed
		}) {
			t.Errorf("%v has the seed %d, as another has", &one[i], one[i].Seed)
		}
	}
}

// A fault with the key every comes at these times, and draws its victims anew each time, even with a seed.
func TestRepeatedFaults(t *testing.T) {
	const repeated = "pause: random, at: 100ms, every: 200ms, for: 50ms, jitter: 100ms, repeat: 9"
	for _, text := range []string{repeated, repeated + ", seed: 5"} {
		all, err := Resolve(read(t, text), scene(t, "ricart-agrawala"), 7)
		if err != nil || len(all) != 9 {
			t.Fatalf("%d faults: %v", len(all), err)
		}
		who := map[string]bool{}
		for i, f := range all {
			low := time.Duration(100+200*i) * time.Millisecond
			if f.At < low || f.At > low+100*time.Millisecond || f.For != 50*time.Millisecond ||
				len(f.target().List) != 1 {
				t.Errorf("fault %d is %v", i, &f)
			}
			who[f.target().String()] = true
		}
		if len(who) < 2 {
			t.Errorf("%s: always the same victim: %v", text, who)
		}
	}
	all, err := Resolve(read(t, "pause: 1, at: 100ms, every: 1s, for: 500ms"), scene(t, "ricart-agrawala"), 7)
	if err != nil || len(all) != 3 { // at 100ms, 1.1s and 2.1s
		t.Errorf("as often as fits: %v %v", all, err)
	}
}

// Groups have the sizes that their words say, and nobody is in one twice.
func TestSizesOfGroups(t *testing.T) {
	s := scene(t, "central") // it has one server besides the clients
	for n := 3; n <= 9; n++ {
		s.Config.N = n
		for text, want := range map[string]int{"minority": (n - 1) / 2, "majority": n/2 + 1, "random:3": 3,
			"all": n + 1, "half": (n + 1) / 2, "random": 1, "coordinator": 1} {
			for seed := range uint64(5) {
				all, err := Resolve(read(t, "pause: "+text+", for: 1ms"), s, seed)
				if err != nil {
					t.Fatal(err)
				}
				g := all[0].target().List
				if sorted := slices.Compact(slices.Sorted(slices.Values(g))); len(g) != want ||
					len(sorted) != want {
					t.Errorf("of %d clients %s are %v", n, text, g)
				}
			}
		}
		if n < 4 {
			continue
		}
		all, err := Resolve(read(t, "cut: bridge, for: 1ms", "cut: ring, for: 1ms",
			"cut: majority, for: 1ms"), s, 1)
		if err != nil {
			t.Fatal(err)
		}
		bridge, ring, majority := all[0].cut(), all[1].cut(), all[2].cut()
		if a, b := len(bridge.Sides()[0]), len(bridge.Sides()[1]); a+b != n-1 || max(a, b)-min(a, b) > 1 {
			t.Errorf("the bridge of %d clients is %v", n, bridge)
		}
		if a, b := len(majority.Sides()[0]), len(majority.Sides()[1]); min(a, b) != (n-1)/2 || a+b != n+1 {
			t.Errorf("the majority of %d clients and a server is %v", n, majority)
		}
		members, err := nodes.ParseGroup(strings.TrimPrefix(ring.String(), "ring:"))
		if err != nil || len(members) != n {
			t.Errorf("the ring of %d clients is %v", n, ring)
		}
		for _, from := range members {
			reached := 0
			for _, to := range members {
				if !ring.Separates(from, to) {
					reached++ // itself included
				}
			}
			if reached <= n/2 {
				t.Errorf("in a ring of %d node %d reaches %d", n, from, reached)
			}
		}
	}
}

// One fault less changes nothing of the others, so that a plan can be shrunk.
func TestFaultsAreIndependent(t *testing.T) {
	s := scene(t, "suzuki-kasami")
	for seed := range uint64(40) {
		p := RandomPlan(s, seed)
		all, err := Resolve(p.Faults, s, seed)
		if err != nil {
			t.Fatalf("random:%d: %v", seed, err)
		}
		for i := range all {
			fewer := slices.Delete(slices.Clone(all), i, i+1)
			again, err := Resolve(fewer, s, 99)
			if err != nil || !same(again, fewer) {
				t.Errorf("random:%d without fault %d: %v", seed, i, err)
			}
		}
	}
}

// A plan that is drawn suits every run that it is drawn for.
func TestRandomPlansSuitTheirRuns(t *testing.T) {
	for _, algorithm := range []string{"ricart-agrawala", "central"} {
		s := scene(t, algorithm)
		for seed := range uint64(400) {
			s.Config.N = 1 + int(seed%7)
			s.Measured = time.Duration(1+seed) * 10 * time.Millisecond
			if _, err := Resolve(RandomPlan(s, seed).Faults, s, seed); err != nil {
				t.Errorf("random:%d for %d nodes and %v: %v", seed, s.Config.N, s.Measured, err)
			}
		}
	}
}
