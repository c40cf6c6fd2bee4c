package mutex

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"turnstile/internal/soak"
	"turnstile/judge/algotest"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/history"
	"turnstile/nodes/workload"
)

// A mutant is a sound algorithm with one rule changed. The checks have to catch it: a check that lets one
// pass is decoration.
type mutant struct {
	rule  string               // what was changed
	sound *algorithm.Algorithm // what is changed: an algorithm or a variant
	spec  algorithm.Algorithm
	fails string // the check that catches it, or several: exclusion, progress, capacity, identities, panic

	// The conditions under which the mutant fails, and the sound algorithm does not.
	config   nodes.Config
	copies   bool          // messages arrive twice
	restarts bool          // nodes crash and come up again
	crashes  bool          // a node crashes
	losses   bool          // messages are lost
	suspects bool          // nodes are suspected wrongly
	cut      bool          // two nodes are cut off, for longer than it takes until all know
	lasting  bool          // entries last for longer than it takes until all know of a crash
	entries  int           // of a run; zero: a few
	alone    bool          // requests are made one at a time
	hold     time.Duration // that a client is inside; zero: a short time
}

// mutants returns all of them.
func mutants() []mutant {
	return slices.Concat(centralMutants(), causalMutants(), failoverMutants(), lamportMutants(),
		ricartMutants(),
		ricartRetryingMutants(), ricartViewMutants(), ringMutants(), regeneratingMutants(),
		suzukiMutants(), suzukiFTMutants(), ricartTokenMutants(), raymondMutants(), naimiMutants(),
		neilsenMutants(), maekawaMutants(), majorityMutants(), agrawalMutants(), minorityMutants(),
		lamportDeferredMutants(), petersonMutants(), ticketMutants(),
		bakeryMutants(), bakeryRankedMutants(), bakeryReadsMutants(), bakerySkippingMutants(),
		carvalhoMutants(),
		singhalMutants(), backoffMutants(), ricartRankedMutants(), ricartMulticastMutants(),
		semaphoreMutants(), raymondKMutants(), multiCopyMutants(), centralLeaseMutants())
}

// mutantsOf returns a function that makes mutants of an algorithm: it takes the rule that is changed, the
// check that catches it, and what makes the mutant of the sound machine, of type M.
func mutantsOf[M any](algo *algorithm.Algorithm, c nodes.Config) func(string, string,
	func(M) nodes.Machine) mutant {
	return func(rule, fails string, wrap func(M) nodes.Machine) mutant {
		return mutant{rule: rule, sound: algo, spec: *algotest.Rebuilt(algo, wrap), fails: fails, config: c}
	}
}

// These have a mutant meet a fault.
func (m mutant) copied() mutant    { m.copies = true; return m }
func (m mutant) restarted() mutant { m.restarts = true; return m }
func (m mutant) crashed() mutant   { m.crashes = true; return m }
func (m mutant) lost() mutant      { m.losses = true; return m }
func (m mutant) suspected() mutant { m.suspects = true; return m }
func (m mutant) slow() mutant      { m.lasting = true; return m }

// holding has clients be inside for so long.
func (m mutant) holding(hold time.Duration) mutant { m.hold = hold; return m }

// at has a mutant run with a value of an option.
func (m mutant) at(name, value string) mutant { m.config = m.config.With(name, value); return m }

// after has a mutant run for so many entries.
func (m mutant) after(entries int) mutant { m.entries = entries; return m }

// unfair reports whether the mutant only passes over somebody.
func (m mutant) unfair() bool { return m.fails == "fairness" }

// wasteful has a mutant serve one request at a time, and so many that one of them wastes a message.
func (m mutant) wasteful() mutant { m.alone = true; return m.after(150) }

// tired is the timer of a node that waits only for a short time, and then asks again or waits no more.
var tired = nodes.Timer{Kind: 1}

const tiredAfter = 5 * time.Millisecond

// algorithm returns the name of the algorithm in Table that m, or the variant that m changes, comes from.
func (m mutant) algorithm() (name string) {
	for _, algo := range Table {
		if strings.HasPrefix(m.sound.Name, algo.Name) && len(algo.Name) > len(name) {
			name = algo.Name
		}
	}
	return name
}

// Every mutant is caught, by the check that it is there for. The table that shows it is what `make mutants`
// prints.
func TestMutantsOfAlgorithms(t *testing.T) {
	var all []*hunted
	t.Cleanup(func() { writeTable(os.Stdout, all) })
	for _, m := range mutants() {
		t.Run(m.algorithm()+"/"+m.rule, func(t *testing.T) {
			h := &hunted{}
			all = append(all, h)
			t.Parallel()
			var err error
			if *h, err = m.try(budget); err != nil {
				t.Fatal(err)
			}
			if !h.fits(h.by) {
				t.Errorf("it is caught by %s", h.caughtBy())
			}
		})
	}
}

// One that survives is noticed, and so is one that is caught for another reason than it states.
func TestSurvivorsAreNoticed(t *testing.T) {
	m := mutants()[0]
	m.fails = "cost"
	for want, m := range map[string]mutant{"NOTHING": m.unchanged(), "exclusion, NOT cost": m} {
		h, err := m.try(100)
		if err != nil || h.fits(h.by) || h.caughtBy() != want {
			t.Errorf("it is caught by %s (%v), want %s", h.caughtBy(), err, want)
		}
	}
}

// Where its mutants fail, the sound algorithm does not: what is caught is the mutation.
func TestAlgorithmsPassWhereTheirMutantsFail(t *testing.T) {
	tried := map[string]bool{}
	for _, m := range mutants() {
		name := fmt.Sprintf("%s/%s, %+v, %v, %s", m.algorithm(), m.sound.Name, m.config, m.hold, m.met())
		if tried[name] {
			continue
		}
		tried[name] = true
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := m.unchanged().hunt(soak.Pick[uint64](5, 30, 3000))
			if err != nil {
				t.Fatal(err)
			}
			if c.by != "" {
				t.Errorf("seed %d: %s: %s", c.seed, c.by, c.says)
			}
		})
	}
}

func TestMutantsDiffer(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range mutants() {
		if seen[m.sound.Name+m.rule] {
			t.Errorf("%s has two mutants in which %s", m.sound.Name, m.rule)
		}
		seen[m.sound.Name+m.rule] = true
	}
	if len(seen) < 20 {
		t.Errorf("there are %d mutants, and at least 20 are wanted", len(seen))
	}
}

// A counter that misses all messages of one kind, at senders and receivers alike, violates the identities of
// message counts. FAILED, PLACE and FREED have only upper bounds: the order of requests decides their number.
func TestUncountedKindsAreNoticed(t *testing.T) {
	for _, algo := range Table {
		m := mutant{sound: algo, spec: *algo, config: nodes.Config{N: 4}}
		for kind, name := range algotest.StackOf(algo, m.config).Codec().Names() {
			if algo.Flaw != nil || slices.Contains([]string{"failed", "place", "freed"}, name) {
				continue
			}
			h := algotest.History(t, m.options(1))
			if by, says := m.fault(h, workload.Saturated, 1); by != "" {
				t.Fatalf("%s: %s: %s", algo.Name, by, says)
			}
			if history.Sum(h.Logs).Kinds[kind].Sent == 0 {
				continue // it is not sent without faults
			}
			for _, l := range h.Logs {
				*l.Instance(0).Kind(uint8(kind)) = history.KindTotals{}
			}
			h.Events = slices.DeleteFunc(h.Events, func(e history.Event) bool {
				return e.Kind == history.Sent && int(e.Count) == kind
			})
			if by, _ := m.fault(h, workload.Saturated, 1); by != "identities" && by != "cost" {
				t.Errorf("%s, %s messages not counted: caught by %q", algo.Name, name, by)
			}
		}
	}
}

// A waste tells a mutant when to waste a message: once in a while, like an error that hides in the range that
// was published.
type waste struct{ count uint64 }

func (w *waste) now() bool {
	w.count++
	return w.count%25 == 0
}
