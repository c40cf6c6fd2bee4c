package study

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"turnstile/judge/check"
	"turnstile/nodes"
)

// A Campaign makes runs under randomly drawn plans.
type Campaign struct {
	Experiment
	Simulated int // number of plans for simulations
	Real      int // number of plans for runs of processes
}

// A Class is the kind of outcome of a run.
type Class int

// The classes. A run is Expected if it stalled, or passed over a client, outside the model. It is
// Inconclusive if it is in no other class; this includes under- and overloaded runs.
const (
	Valid Class = iota
	Expected
	Inconclusive
	ViolatedInside
	ViolatedOutside
	failed // the run could not be made
)

// classes is the number of classes.
const classes = int(failed) + 1

// Inside reports whether the run ended inside the model of its algorithm: no assumption is broken at its end,
// and no failure is due to an assumption that was broken before.
func (r *Result) Inside() bool {
	return r.Err == nil && r.Verdict.Broken == 0 && !r.Verdict.OutsideModel
}

// Caught reports whether the run shows the known flaw of its algorithm.
func (r *Result) Caught() bool {
	return r.Verdict.Violates(r.Spec.Broken().Check)
}

// Takes returns about how long Run takes on an otherwise idle machine.
func (c *Campaign) Takes() time.Duration {
	sum := simulating(c.Simulated)
	for number := range c.Real {
		if one, err := c.draw(number, true); err == nil {
			sum += one.Options.Warmup + one.Options.Duration
		}
	}
	return sum
}

// Run makes the runs, the simulated ones first. If ctx is done, it returns the results so far, with the error
// of ctx.
func (c *Campaign) Run(ctx context.Context) ([]*Result, error) {
	all := c.Simulated + c.Real
	making := func(real bool) func(int) *Case {
		return func(number int) *Case { return c.drawn(number, real) }
	}
	results := c.run(ctx, runtime.GOMAXPROCS(0), c.Simulated, 0, all, making(false))
	results = append(results, c.run(ctx, 1, c.Real, c.Simulated, all, making(true))...)
	return made(results), c.ended(ctx)
}

// drawn returns the case with a number.
func (c *Campaign) drawn(number int, real bool) *Case {
	j, err := c.draw(number, real)
	return &Case{Job: j, Err: err, Expect: (*Result).expectModel}
}

// Class returns the class of the run.
func (r *Result) Class() Class {
	switch v := &r.Verdict; {
	case r.Err != nil:
		return failed
	case v.Outcome == check.Valid:
		return Valid
	case v.Outcome == check.Violated && v.OutsideModel:
		return ViolatedOutside
	case v.Outcome == check.Violated:
		return ViolatedInside
	case v.Worst().Expected, v.Worst().About() == check.AboutFairness && (v.OutsideModel || r.givesUpOrder()):
		return Expected
	}
	return Inconclusive
}

// mayBeInconclusive reports whether a finding of a run inside its model may be inconclusive. It may for one
// of these reasons: a fault found no victim; no client requested; fairness alone was not judged, since one
// node was slower; a fault ended so late that the nodes need not agree on a leader yet; every node that was
// to campaign was down; or leaders crashed too often for another to be elected.
func mayBeInconclusive(f *check.Finding) bool {
	return f.ShowsLittle() || f.About() == check.AboutFairness && f.OutsideModel || f.ByRun
}

// givesUpOrder reports whether options of a run withdraw the algorithm's promise of an order of service: then
// a client may wait for ever.
func (r *Result) givesUpOrder() bool {
	_, usual := r.Spec.Exclusion().Promised(r.Spec.Explicit(nodes.Config{N: r.Options.Config.N}))
	_, promised := r.Spec.Exclusion().Promised(r.Options.Config)
	return usual && !promised
}

// expectModel expects what the model of the algorithm promises. It expects nothing of a flawed algorithm.
func (r *Result) expectModel() {
	if r.Leaders != nil {
		r.Elected, r.Leaders = uint64(r.Leaders.Elected()), nil // saves memory, since campaigns have many runs
	}
	switch r.Faults = nil; {
	case r.Err != nil:
		r.Wrong = r.Says
		return
	case r.Spec.Flaw != nil:
		return
	case r.Class() == ViolatedInside:
		r.Wrong = "VIOLATED inside its model: " + r.Verdict.Reason
		return
	case !r.Inside():
		return
	}
	for i := range r.Verdict.Findings {
		f := &r.Verdict.Findings[i]
		if f.About() == check.AboutFairness && r.givesUpOrder() {
			continue
		}
		if f.Outcome != check.Valid && !mayBeInconclusive(f) {
			r.Wrong = fmt.Sprintf("not valid inside its model: %s: %s", f.Check, f.Says)
			return
		}
	}
}
