// Package algotest has helpers for the tests of all tables of algorithms: it plays their stories, makes and
// hunts mutants of their algorithms, and runs them over networks with faults. It depends on no table, as
// testing/fstest depends on no file system.
package algotest

import (
	"regexp"
	"slices"
	"testing"
	"time"

	"turnstile/chaos"
	"turnstile/chaos/effect"
	"turnstile/internal/chance"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/explore"
	"turnstile/nodes/history"
	"turnstile/nodes/sim"
)

// Rebuilt returns a copy of an algorithm in which wrap replaces the machines of type M.
func Rebuilt[M any](of *algorithm.Algorithm, wrap func(M) nodes.Machine) *algorithm.Algorithm {
	replace := func(m nodes.Machine) nodes.Machine {
		if sound, ok := any(m).(*M); ok {
			return wrap(*sound)
		}
		return m
	}
	algo := *of
	algo.New = func(c nodes.Config) nodes.Machine { return replace(of.New(c)) }
	if of.NewServer != nil {
		algo.NewServer = func(c nodes.Config, id nodes.ID) nodes.Machine { return replace(of.NewServer(c, id)) }
	}
	return &algo
}

// A Mutant is an algorithm with one rule changed.
type Mutant struct {
	Rule      string
	Algorithm *algorithm.Algorithm
}

// MutantsOf returns a function that makes mutants of an algorithm: it takes the changed rule, and a function
// that makes the mutant from the sound machine, of type M.
func MutantsOf[M any](of *algorithm.Algorithm) func(rule string, wrap func(M) nodes.Machine) Mutant {
	return func(rule string, wrap func(M) nodes.Machine) Mutant { return Mutant{rule, Rebuilt(of, wrap)} }
}

// Hunt demands that every mutant of an algorithm is caught by one of the seeds 1 to seeds, and the algorithm
// itself by no seed. fault returns what is wrong under a seed, or "".
func Hunt(t *testing.T, of *algorithm.Algorithm, mutants []Mutant, seeds uint64,
	fault func(t testing.TB, algo *algorithm.Algorithm, seed uint64) string) {
	for _, m := range append(slices.Clip(mutants), Mutant{"", of}) {
		caught, seed := "", uint64(0)
		for caught == "" && seed < seeds {
			seed++
			caught = fault(t, m.Algorithm, seed)
		}
		if t.Logf("%s: seed %d: %s", m.Rule, seed, caught); (caught == "") != (m.Rule == "") {
			t.Errorf("%q: caught by %q", m.Rule, caught)
		}
	}
}

// StackOf returns the stack of an algorithm, with further instances beside it.
func StackOf(of *algorithm.Algorithm, c nodes.Config, beside ...algorithm.Instance) *algorithm.Stack {
	s, err := algorithm.Assemble(algorithm.Instance{Algorithm: of, Config: c}, beside...)
	if err != nil {
		panic(err) // a bug in a test
	}
	return s
}

// Over sets the options of a run to a network with faults.
func Over(o *sim.Options, network *chaos.Network, faults ...chaos.Fault) {
	measured := time.Hour
	if o.Duration > 0 {
		measured = o.Duration
	}
	of := o.Stack.Instances()[0]
	scene := &chaos.Scene{Spec: of.Algorithm, Config: of.Config, Stack: o.Stack, Measured: measured,
		Simulated: true}
	resolved, err := chaos.Resolve(faults, scene, o.Seed)
	if err != nil {
		panic(err) // a bug in a test
	}
	s, err := network.Simulated(resolved, scene, o.Seed)
	if err != nil {
		panic(err)
	}
	o.FaultDriver, o.Latency, o.Shaper = s.FaultDriver, s.Latency, s.Shaper
}

// History returns the history of a run.
func History(t testing.TB, o sim.Options) *history.History {
	t.Helper()
	h := &history.History{}
	if _, err := sim.Run(o, h); err != nil {
		t.Fatal(err)
	}
	return h
}

// Explore returns the result of an exploration.
func Explore(t testing.TB, o explore.Space) *explore.Result {
	t.Helper()
	x, err := explore.Run(o)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// Cut parses a cut.
func Cut(text string) effect.Cut {
	cut, err := effect.ParseCut(text)
	if err != nil {
		panic(err) // a bug in a test
	}
	return cut
}

// Drawn parses a distribution of times.
func Drawn(text string) chance.Distribution {
	d, err := chance.ParseDistribution(text)
	if err != nil {
		panic(err) // a bug in a test
	}
	return d
}

// NetworkOf returns a network with a latency.
func NetworkOf(latency string) *chaos.Network { return &chaos.Network{Latency: Drawn(latency)} }

// Node returns a node of an algorithm that has not started.
func Node(of *algorithm.Algorithm, n int, id nodes.ID) *nodes.Node {
	return nodes.NewNode(StackOf(of, nodes.Config{N: n}).Stack, id, 0, nil)
}

// Named demands that the names of algorithms are unique and well formed, and that their summaries are
// sentences.
func Named(t *testing.T, table []*algorithm.Algorithm) {
	t.Helper()
	taken := map[string]string{}
	for _, algo := range table {
		for _, name := range append([]string{algo.Name}, algo.Aliases...) {
			if taken[name] != "" {
				t.Errorf("%s and %s are both called %s", taken[name], algo.Name, name)
			}
			taken[name] = algo.Name
			if !regexp.MustCompile(`^[a-z0-9-]+$`).MatchString(name) {
				t.Errorf("%q is not a name: it must have small letters, digits and - only", name)
			}
		}
		if err := algo.Check(); err != nil {
			t.Error(err)
		}
		if !regexp.MustCompile(`^[A-Z][^.]+\.$`).MatchString(algo.Summary) {
			t.Errorf("%s: the summary %q is not a sentence", algo.Name, algo.Summary)
		}
	}
}
