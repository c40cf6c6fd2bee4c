// Package catalog lists the rows of all kinds of algorithms, for those that take any, and finds what runs
// beside them.
package catalog

import (
	"fmt"
	"slices"

	"turnstile/nodes"
	"turnstile/nodes/detector"
	"turnstile/nodes/election"
	"turnstile/nodes/mutex"
)

// All returns the rows of mutual exclusion and of election, in the order of their tables.
func All() []*nodes.Spec { return slices.Concat(mutex.Table, election.Table) }

// Find returns the row of the algorithm that goes by name or has it as an alias.
func Find(name string) (*nodes.Spec, error) { return nodes.Find("algorithm", All(), name) }

// Beside returns what runs beside an algorithm of such a configuration: the elector that it follows, if it
// follows one, and the failure detector that a text names, as detector.Parse reads it; empty: none.
func Beside(c nodes.Config, detects string) (all []nodes.Instance, err error) {
	if c.Elect != "" {
		in, err := nodes.ParseInstance("scheme of election", election.Table, c.Elect, c.N)
		if err != nil {
			return nil, fmt.Errorf("elect: %w", err)
		}
		all = append(all, in)
	}
	if detects != "" {
		in, err := detector.Parse(detects, c.N)
		if err != nil {
			return nil, fmt.Errorf("detector: %w", err)
		}
		all = append(all, in)
	}
	return all, nil
}
