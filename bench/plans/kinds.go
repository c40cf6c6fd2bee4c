// Package plans draws runs under random plans of faults, says whether their verdicts are as the model of the
// algorithm promises, and shrinks the plan of a run that failed to the faults that make it fail.
package plans

import (
	"turnstile/bench"
	"turnstile/judge/check"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/workload"
)

// A kind says how the runs of one kind of algorithms are drawn.
type kind struct {
	// load draws the load of a run. It returns the stack if plans depend on it.
	load  func(d *drawn, o *bench.Options, spec *algorithm.Algorithm, real bool) (*algorithm.Stack, error)
	works []workload.Work // the kinds of work, which take turns
}

// kindOf returns the kind of an algorithm.
func kindOf(spec *algorithm.Algorithm) kind { return nodes.OfKind(kinds, check.ProblemOf(spec).Kind) }

// kinds maps the kind of algorithms to how their runs are drawn.
var kinds = map[nodes.Kind]kind{
	nodes.MutualExclusion: {(*drawn).entries,
		[]workload.Work{workload.Account, workload.File, workload.Printer, workload.Shares}},
	nodes.Election: {(*drawn).elections, []workload.Work{workload.Account}},
}
