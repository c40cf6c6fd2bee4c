package mutants

import (
	"os"
	"slices"
	"strings"
	"testing"

	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/mutex"
	"turnstile/nodes/sim"
)

// Every mutant is caught, by the check that it is there for. The table that shows it is what `make mutants`
// prints.
func TestMutants(t *testing.T) {
	wrong, err := WriteTable(os.Stdout, mutex.Mutants())
	if err != nil {
		t.Fatal(err)
	}
	if wrong > 0 {
		t.Errorf("%d mutants are not caught, or not by the check that should", wrong)
	}
}

// One that survives is noticed, and so is one that is caught for another reason than it states.
func TestSurvivorsAreNoticed(t *testing.T) {
	m := mutex.Mutants()[0]
	m.Check = "cost"
	var b strings.Builder
	wrong, err := WriteTable(&b, []mutex.Mutant{Sound(m), m})
	table := b.String()
	if err != nil || wrong != 2 || !strings.Contains(table, "NOTHING") || !strings.Contains(table, "NOT cost") {
		t.Errorf("%d are wrong (%v):\n%s", wrong, err, table)
	}
}

// Where its mutants fail, the sound algorithm does not: what is caught is the mutation.
func TestSoundAlgorithmsPass(t *testing.T) {
	for _, m := range mutex.Mutants() {
		c, err := Hunt(Sound(m), 60)
		if err != nil {
			t.Fatal(err)
		}
		if c.By != "" {
			t.Errorf("%s (%s): seed %d: %s: %s", m.Of, m.Name, c.Seed, c.By, c.Says)
		}
	}
}

func TestMutantsDiffer(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range mutex.Mutants() {
		if seen[m.Of+m.Name] {
			t.Errorf("%s has two mutants in which %s", m.Of, m.Name)
		}
		seen[m.Of+m.Name] = true
	}
	if len(seen) < 20 {
		t.Errorf("there are %d mutants, and at least 20 are wanted", len(seen))
	}
}

// A counter that misses all messages of one kind, at senders and at receivers alike, is noticed by what is
// known of their numbers. Of FAILED nothing is: how many there are depends on who asks when.
func TestUncountedKindsAreNoticed(t *testing.T) {
	for _, row := range mutex.Table {
		m := mutex.Mutant{Spec: *row, Config: nodes.Config{N: 4}}
		for kind, name := range row.Codec().Names() {
			if row.Broken != "" || name == "failed" {
				continue
			}
			r, err := sim.Run(options(m, 1))
			if err != nil {
				t.Fatal(err)
			}
			if by, says := fault(m, r.History); by != "" {
				t.Fatalf("%s: %s: %s", row.Name, by, says)
			}
			h := &history.History{Logs: r.History.Logs} // one that is not in order yet
			for _, l := range h.Logs {
				*l.Instance(0).Kind(uint8(kind)) = history.KindTotals{}
				l.Events = slices.DeleteFunc(l.Events, func(e history.Event) bool {
					return e.Kind == history.Sent && int(e.Count) == kind
				})
			}
			if by, _ := fault(m, h); by != "identities" && by != "cost" {
				t.Errorf("%s, %s messages not counted: caught by %q", row.Name, name, by)
			}
		}
	}
}
