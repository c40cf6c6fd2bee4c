package bench

import (
	"context"
	"fmt"

	"turnstile/bench/check"
	"turnstile/bench/measure"
	"turnstile/chaos"
	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/results"
)

// A Tried is what came of a trial of which nothing was stored.
type Tried struct {
	Verdict  check.Verdict
	Measures *measure.Measures
	Faults   []chaos.Fault      // as TrialRecord has them
	Rows     []results.FaultRow // what the faults did
}

// Try makes one trial on virtual time, that of the seed in o, and stores nothing of it.
func Try(ctx context.Context, spec *nodes.Spec, o Options) (*Tried, error) {
	asked, err := o.validSimulation(spec)
	if err != nil {
		return nil, err
	}
	asked.Interrupt = ctx.Done()
	faults, _ := o.resolve(spec, 0, o.Seed, true) // they were valid above
	header := history.Header{Nodes: o.total(spec)}
	j := judgementOf(header, o.Workload.Load, setting(o, true, spec, faults))
	result, err := simulateWatched(ctx, *asked, stuckAfter, j)
	if err == nil {
		err = result.Cut
	}
	if err != nil {
		return nil, fmt.Errorf("simulating: %w", err)
	}
	j.lead()
	t := &Tried{Verdict: j.checks.Verdict(), Measures: &j.measures.Measures, Faults: cameTo(asked)}
	if j.faults != nil {
		t.Rows = j.faults.Rows(faultIn(t.Faults), t.Measures.Leaders)
	}
	return t, nil
}
