package mutants

import (
	"os"
	"strings"
	"testing"

	"turnstile/nodes/mutex"
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
	survivor, err := Sound(m)
	if err != nil {
		t.Fatal(err)
	}
	m.Check = "cost"
	var b strings.Builder
	wrong, err := WriteTable(&b, []mutex.Mutant{survivor, m})
	table := b.String()
	if err != nil || wrong != 2 || !strings.Contains(table, "NOTHING") || !strings.Contains(table, "NOT cost") {
		t.Errorf("%d are wrong (%v):\n%s", wrong, err, table)
	}
}

// Where its mutants fail, the sound algorithm does not: what is caught is the mutation.
func TestSoundAlgorithmsPass(t *testing.T) {
	for _, m := range mutex.Mutants() {
		sound, err := Sound(m)
		if err != nil {
			t.Fatal(err)
		}
		c, err := Hunt(sound, 60)
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
