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

// Elector returns the elector that an algorithm of such a configuration follows, for a run of such delays:
// see nodes.ParseInstance.
func Elector(c nodes.Config, d nodes.Delays) (nodes.Instance, error) {
	in, err := nodes.ParseInstance("scheme of election", election.Table, c.Elect, c.N, d)
	if err != nil {
		return in, fmt.Errorf("elect: %w", err)
	}
	return in, nil
}

// Beside returns what runs beside an algorithm of such a configuration: the elector that it follows, if it
// follows one, and the failure detector that a text names, as detector.Parse reads it; empty: none.
func Beside(c nodes.Config, detects string) (all []nodes.Instance, err error) {
	if c.Elect != "" {
		in, err := Elector(c, nodes.Delays{})
		if err != nil {
			return nil, err
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
