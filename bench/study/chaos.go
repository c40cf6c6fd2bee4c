package study

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"turnstile/judge/check"
	"turnstile/nodes"
)

// A Campaign says which runs are made under plans that are drawn.
type Campaign struct {
	Experiment
	Simulated int // how many plans are carried out in simulations
	Real      int // and on processes
}

// A Class is what became of a run.
type Class int

// The classes. Expected is what stalled, or passed somebody over, outside its model; Inconclusive is
// all else that is neither valid nor violated, under- and overloaded runs included.
const (
	Valid Class = iota
	Expected
	Inconclusive
	ViolatedInside
	ViolatedOutside
	failed // the run could not be made
)

// classes is how many classes there are.
const classes = int(failed) + 1

// Inside reports whether the run ended inside the model of its algorithm: no assumption that it rests on was
// broken, or none is any more, and what went wrong meanwhile has no excuse.
func (r *Result) Inside() bool {
	return r.Err == nil && r.Verdict.Broken == 0 && !r.Verdict.OutsideModel
}

// Caught reports whether the run shows what is known to be wrong with its algorithm.
func (r *Result) Caught() bool {
	return r.Verdict.Violates(r.Spec.Broken().Check)
}

// Takes returns about how long Run takes, on a machine with nothing else to do.
func (c *Campaign) Takes() time.Duration {
	sum := simulating(c.Simulated)
	for number := range c.Real {
		if one, err := c.draw(number, true); err == nil {
			sum += one.Options.Warmup + one.Options.Duration
		}
	}
	return sum
}

// Run makes the runs, the simulated ones first. If ctx is done, it returns what there is, with the error of
// ctx.
func (c *Campaign) Run(ctx context.Context) ([]*Result, error) {
	all := c.Simulated + c.Real
	making := func(real bool) func(int) *Case {
		return func(number int) *Case { return c.drawn(number, real) }
	}
	results := c.run(ctx, runtime.GOMAXPROCS(0), c.Simulated, 0, all, making(false))
	results = append(results, c.run(ctx, 1, c.Real, c.Simulated, all, making(true))...)
	return made(results), ctx.Err()
}

// drawn returns the case of a number.
func (c *Campaign) drawn(number int, real bool) *Case {
	j, err := c.draw(number, real)
	return &Case{Job: j, Err: err, Expect: (*Result).expectModel}
}

// Class returns what became of the run.
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

// excusable reports whether a finding of a run inside the model of its algorithm may be inconclusive. It may
// if one of these is the reason: a fault found no victim; nobody requested; fairness alone was not judged,
// since one node was slower; a fault ended so late that nodes need not agree on a leader yet; no node that
// was to campaign was up; or leaders crashed too fast for another to be elected.
func excusable(f *check.Finding) bool {
	return f.ShowsLittle() || f.About() == check.AboutFairness && f.OutsideModel || f.Excused
}

// givesUpOrder reports whether options of a run take back what the row promises of the order of service: then
// who comes last may wait for ever.
func (r *Result) givesUpOrder() bool {
	_, usual := r.Spec.Exclusion().Promised(r.Spec.Explicit(nodes.Config{N: r.Options.Config.N}))
	_, promised := r.Spec.Exclusion().Promised(r.Options.Config)
	return usual && !promised
}

// expectModel expects of a run what the model of its algorithm promises. What is known to be broken may do
// what it likes.
func (r *Result) expectModel() {
	if r.Leaders != nil {
		r.Elected, r.Leaders = uint64(r.Leaders.Elected()), nil // campaigns are large
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
		if f.Outcome != check.Valid && !excusable(f) {
			r.Wrong = fmt.Sprintf("not valid inside its model: %s: %s", f.Check, f.Says)
			return
		}
	}
}
