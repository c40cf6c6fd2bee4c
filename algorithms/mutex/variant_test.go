package mutex

import (
	"slices"
	"testing"

	"turnstile/judge/algotest"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/explore"
)

// variants are sound forms of algorithms in Table. Table does not list them. If an algorithm lacks the rule
// in question, a mutant is made from a variant, or a schedule is compared with it.
var variants = []*algorithm.Algorithm{&lamportSavingAlgorithm, &ricartSavingAlgorithm,
	&suzukiRetryingAlgorithm,
	&suzukiRepeatingAlgorithm, &suzukiSavingAlgorithm, &suzukiModuloAlgorithm}

// variantOf returns a variant of an algorithm: wrap makes each machine of the variant from one of the
// algorithm. The variant may have one more kind of message, which its nodes save.
func variantOf[M any](algo *algorithm.Algorithm, name string, wrap func(M) nodes.Machine,
	saved ...nodes.MessageKind) algorithm.Algorithm {
	v := *algotest.Rebuilt(algo, wrap)
	v.Name, v.Aliases, v.Messages = name, nil, append(slices.Clone(v.Messages), saved...)
	return v
}

// Variants are sound: among two nodes nothing goes wrong, in whatever order things happen, a copy, a crash
// and a restart among them.
func TestVariantsAreSound(t *testing.T) {
	for _, v := range variants {
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			for _, o := range []explore.Space{
				{Entries: 2},
				{Entries: 1, Duplicates: 1, Crashes: 1, Restarts: true},
			} {
				o.Spec, o.Config, o.States = v, nodes.Config{N: 2}, 50_000
				o.Reordering = v.Safe&nodes.FIFO == 0
				x := algotest.Explore(t, o)
				switch {
				case x.Violation != nil:
					t.Errorf("%s: %s\n%v", x.Violation.Check, x.Violation.Says, x.Violation.Schedule)
				case !x.Exhausted || !x.Progress || x.Entries == 0:
					t.Errorf("it is not known to be sound after %d states and %d entries", x.States, x.Entries)
				}
			}
		})
	}
}

// Nothing is wrong with a sound algorithm in the hostile explorations.
func TestAlgorithmsAreExploredWithFaults(t *testing.T) { algotest.ExploreHostile(t, Table) }
