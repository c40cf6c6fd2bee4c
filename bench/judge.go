package bench

import (
	"turnstile/bench/check"
	"turnstile/bench/measure"
	"turnstile/bench/section"
	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/workload"
)

// costUnder returns what an algorithm that costs c was published to cost under a load.
func costUnder(l workload.Load, c nodes.Cost) nodes.Range {
	switch l {
	case workload.Saturated:
		return c.Saturated
	case workload.One:
		return c.One
	case workload.Sequential:
		return c.Sequential
	}
	return c.Any
}

// setting tells the checks what they must know of a run.
func setting(o Options, spec *nodes.Spec) check.Setting {
	cost := published(o, spec)
	return check.Setting{
		Config: o.Config, Algorithm: o.Algorithm, Codec: spec.Codec(), Cost: cost, CostKnown: known(cost),
		Identities: spec.Identities, Circulates: spec.Circulates, Open: o.Workload.Load == workload.Open,
		Expected: o.Entries, Safe: spec.Safe, Live: spec.Live,
	}
}

// A judgement folds the history of a trial into its measures and its verdict.
type judgement struct {
	*section.Fold
	measures *measure.Fold
	checks   *check.Fold
}

// judgementOf returns a fold for a trial whose history has such a header.
func judgementOf(h history.Header, load workload.Load, s check.Setting) judgement {
	sections := check.Sections(h, s)
	return judgement{sections, measure.New(sections, load), check.New(sections, s)}
}
