package check

import (
	"testing"
)

// What is known of a finding by the name of its check is the same for runs of each kind.
func TestChecksOfOneNameAreAlike(t *testing.T) {
	for _, c := range Exclusion.checks {
		other := Election.check(c.name)
		if other == nil {
			continue
		}
		if c.about != other.about || c.leaves != other.leaves || c.split != other.split {
			t.Errorf("%s: %v and %v", c.name, c, *other)
		}
	}
	for _, p := range Problems {
		for _, c := range p.checks {
			if c.about == 0 || c.judge == nil || p.check(c.was) != nil {
				t.Errorf("%s of %s is about nothing, judges nothing, or was called like another", c.name, p.Name)
			}
		}
	}
}

// Verdicts that were stored when two checks had one name have the names of today.
func TestStoredVerdictsAreRenamed(t *testing.T) {
	stored := func() *Verdict {
		return &Verdict{Findings: []Finding{{Check: "register"}, {Check: "agreement"}, {}}}
	}
	clients, electors := stored(), stored()
	Exclusion.Rename(clients)
	Election.Rename(electors)
	if f := clients.Findings; f[0].Check != "register" || f[1].About() != aboutBooks || f[2].Check != "" {
		t.Errorf("of clients: %+v", f)
	}
	if f := electors.Findings; f[1].About() != aboutProgress {
		t.Errorf("of electors: %+v", f)
	}
}
