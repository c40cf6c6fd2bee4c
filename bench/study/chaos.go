package study

import (
	"context"
	"runtime"
	"time"

	"turnstile/bench/plans"
	"turnstile/judge/check"
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
	return r.Err == nil && plans.Inside(&r.Verdict)
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
	case v.Worst().Expected, v.Worst().About() == check.AboutFairness &&
		(v.OutsideModel || plans.GivesUpOrder(r.Job)):
		return Expected
	}
	return Inconclusive
}

// expectModel expects what the model of the algorithm promises. It expects nothing of a flawed algorithm.
func (r *Result) expectModel() {
	if r.Leaders != nil {
		r.Elected, r.Leaders = uint64(r.Leaders.Elected()), nil // saves memory, since campaigns have many runs
	}
	r.Faults = nil
	if r.Err != nil {
		r.Wrong = r.Says
	} else {
		r.Wrong = plans.Wrong(r.Job, &r.Verdict)
	}
}
