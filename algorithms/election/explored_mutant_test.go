package election

import (
	"cmp"
	"fmt"
	"os"
	"strings"
	"testing"
	"text/tabwriter"

	"turnstile/internal/soak"
	"turnstile/judge/algotest"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

// A mutated is a mutant of an algorithm.
type mutated struct {
	algorithm *algorithm.Algorithm // the scheme
	algotest.Mutant
}

// mutants returns the mutants that simulations find, in the tests of their schemes.
func mutants() (all []mutated) {
	add := func(algo *algorithm.Algorithm, mutants ...algotest.Mutant) {
		for _, m := range mutants {
			all = append(all, mutated{algo, m})
		}
	}
	for _, m := range ringMutants() {
		scheme, rule, _ := strings.Cut(m.rule, ": ")
		algo, err := Find(scheme)
		if err != nil {
			panic(err) // a rule of ringMutants begins with a wrong name
		}
		add(algo, algotest.Mutant{Rule: rule, Algorithm: m.algorithm})
	}
	for _, m := range raftMutants {
		add(&raftAlgorithm, algotest.Mutant{Rule: m.rule, Algorithm: algotest.Rebuilt(&raftAlgorithm, m.mutate)})
	}
	add(&bullyFourPhaseAlgorithm, fourMutants...)
	add(&invitationAlgorithm, inviteMutants...)
	for _, m := range bullyMutants() {
		spec := *m.algorithm
		if m.new != nil {
			spec.New = m.new
		} else {
			spec.NewServer = func(c nodes.Config, _ nodes.ID) nodes.Machine { return m.disk(c) }
		}
		add(m.algorithm, algotest.Mutant{Rule: m.name, Algorithm: &spec})
	}
	return all
}

// foundByCall says which check a mutant fails and in how many steps, in a call of docs/explored.md with up to
// 120,000 states. Other mutants take more states, or show only with more nodes or steps, or in timed runs.
var foundByCall = map[string]string{
	"le-lann: any candidate leads whose identity is back":           "leaders, 6 steps",
	"chang-roberts: a lower identity is passed on":                  "leaders, 6 steps",
	"chang-roberts: who takes part stops a higher identity":         "agreement, 3 steps",
	"chang-roberts: an identity of an election that is over counts": "agreement, 8 steps",
	"hirschberg-sinclair: a lower probe is passed on":               "leaders, 3 steps",
	"franklin: who gives up drops what it has kept":                 "agreement, 9 steps",
	"franklin: rounds are not told apart":                           "agreement, 9 steps",
	"dolev-klawe-rodeh: the second value is one's own":              "agreement, 5 steps",
	"itai-rodeh: the highest leads, whoever else has drawn it":      "leaders, 4 steps",
	"itai-rodeh-async: equals pass unmarked":                        "leaders, 6 steps",
	"raft-election: who has voted votes again":                      "terms, 6 steps",
	"raft-election: half of the votes will do":                      "terms, 4 steps",
	"bully-four-phase: nobody acts on silence":                      "agreement, 7 steps",
	"invitation: a late invitation is accepted":                     "terms, 9 steps",
	"invitation: the count is not saved":                            "terms, 5 steps",
	"bully: announces itself without waiting":                       "leaders, 8 steps",
	"bully-majority: counts no votes":                               "terms, 3 steps",
	"bully-majority: half is a majority":                            "terms, 3 steps",
	"bully-shared-disk: leads without the lock":                     "terms, 8 steps",
	"bully-shared-disk: a disk that does not count terms":           "terms, 12 steps",
}

// foundLater is the same for mutants that take more than 20,000 states in all.
var foundLater = map[string]string{
	"raft-election: what was saved is not read":              "terms, 10 steps",
	"bully-four-phase: higher nodes are not asked":           "leaders, 72 steps",
	"bully: does not answer":                                 "leaders, 17 steps",
	"bully: does not rejoin":                                 "agreement, 16 steps",
	"bully: forgets to check on a leader that was suspected": "agreement, 27 steps",
	"fast-bully: nominates once":                             "agreement, 18 steps",
	"bully-majority: saves no epoch":                         "terms, 12 steps",
	"bully-majority: votes twice in an epoch":                "terms, 7 steps",
}

// explored runs the calls on the page for the scheme of a mutant, until a promise is broken. It returns the
// check that fails, in how many steps, and how many states the calls took; empty: no promise is broken.
func (m *mutated) explored(t *testing.T, all []explored, most uint64) (says string, states uint64) {
	for _, e := range all {
		o := e.options(t)
		if o.Spec != m.algorithm || o.Demand || e.states() > most {
			continue
		}
		o.Spec, o.States = m.Algorithm, 3*most
		x := algotest.Explore(t, o)
		states += x.States
		if x.Violation != nil {
			return found(x), states
		}
	}
	return "", states
}

// The explorations that find nothing wrong with schemes do find what is wrong with their mutants. make
// mutants prints what they find of each.
func TestMutantsAreExplored(t *testing.T) {
	text, err := os.ReadFile(exploredPage)
	if err != nil {
		t.Fatal(err)
	}
	all, some := calls(strings.Split(string(text), "\n")), soak.Pick(true, true, false)
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(out, "SCHEME\tWHAT IS CHANGED\tEXPLORED TO\tSTATES")
	for _, m := range mutants() {
		name := m.algorithm.Name + ": " + m.Rule
		want := cmp.Or(foundByCall[name], foundLater[name])
		if foundByCall[name] == "" && some {
			continue
		}
		says, states := m.explored(t, all, 120_000)
		if says != want {
			t.Errorf("%s, %s: %q, not %q", m.algorithm.Name, m.Rule, says, want)
		}
		if says == "" {
			says, states = m.explored(t, all, 300_000)
		}
		fmt.Fprintf(out, "%s\t%s\t%s\t%d\n", m.algorithm.Name, m.Rule, cmp.Or(says, "-"), states)
	}
	if !some {
		out.Flush()
	}
}
