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
			if c.about == 0 || c.judge == nil {
				t.Errorf("%s of %s is about nothing, or judges nothing", c.name, p.Name)
			}
		}
	}
}
