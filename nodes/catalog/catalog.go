// Package catalog lists the rows of all kinds of algorithms, for those that take any.
package catalog

import (
	"slices"

	"turnstile/nodes"
	"turnstile/nodes/election"
	"turnstile/nodes/mutex"
)

// All returns the rows of mutual exclusion and of election, in the order of their tables.
func All() []*nodes.Spec { return slices.Concat(mutex.Table, election.Table) }

// Find returns the row of the algorithm that goes by name or has it as an alias.
func Find(name string) (*nodes.Spec, error) { return nodes.Find(All(), name) }
