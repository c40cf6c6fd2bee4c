package bench

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"turnstile/bench/check"
	"turnstile/chaos"
	"turnstile/internal/chance"
	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/sim"
	"turnstile/nodes/workload"
)

// reproduceElections makes the runs that a claim about elections is about.
func (r *Reproduced) reproduceElections(ctx context.Context, seed uint64) error {
	r.Published, r.Load = r.Claim.Value(r.Config), workload.Campaign
	runs := max(1, r.Election.Runs)
	var sum, squares float64
	for run := range runs {
		x, err := r.electionRun(ctx, run, trialSeed(seed, run+1))
		if err != nil {
			return err
		}
		sum, squares = sum+x, squares+x*x
	}
	n := float64(runs)
	r.Measured = sum / n
	if runs > 1 {
		r.Error = math.Sqrt(max(0, squares/n-r.Measured*r.Measured) / (n - 1))
	}
	r.Holds = r.holds()
	return nil
}

// electionRun makes one of them, and counts its messages.
func (r *Reproduced) electionRun(ctx context.Context, run int, seed uint64) (float64, error) {
	trial, row, config := r.Election, r.Spec, r.Spec.Explicit(r.Config)
	if trial.Vary != nil {
		trial.Vary(&config, run)
	}
	o := Options{Algorithm: row.Name, Config: config, Seed: seed, Detector: NoDetector,
		Duration: cmp.Or(trial.Lasts, 10*time.Second), Latency: chance.Constant(nodes.Hop),
		Workload: workload.Workload{Load: workload.Campaign, Initiators: workload.Initiators(trial.Initiators)}}
	if trial.Campaigns != nil {
		o.Workload.Initiators = workload.TheseInitiate(trial.Campaigns(config)...)
	}
	if trial.Down != nil {
		o.Faults = []chaos.Fault{{Kill: chaos.Target{Nodes: trial.Down(config)}, For: trial.Back}}
	}
	asked, err := simulation(o, row, seed)
	if err != nil {
		return 0, err
	}
	asked.Interrupt = ctx.Done()
	j := judgementOf(history.Header{}, workload.Campaign, setting(o, true, row, o.Faults))
	result, err := sim.Run(*asked, j)
	if err == nil {
		err = result.Cut
	}
	if err != nil {
		return 0, err
	}
	if v := j.checks.Verdict(); v.Outcome == check.Violated && row.Broken == "" {
		return 0, fmt.Errorf("run %d is violated: %s", run+1, v.Reason)
	}
	var count float64
	codec := row.Codec()
	for kind := range codec.Kinds() {
		if trial.Kinds == nil && codec.Kind(kind).Heartbeat ||
			trial.Kinds != nil && !slices.Contains(trial.Kinds, codec.Name(kind)) {
			continue
		}
		count += float64(j.measures.Measures.Messages.Kinds[kind].Sent)
	}
	if trial.Per != nil {
		count /= trial.Per(config)
	}
	return count, nil
}
