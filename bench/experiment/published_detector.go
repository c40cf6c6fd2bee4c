package experiment

import (
	"context"
	"fmt"
	"time"

	"turnstile/bench"
	"turnstile/chaos"
	"turnstile/chaos/effect"
	"turnstile/internal/chance"
	"turnstile/nodes"
	"turnstile/nodes/catalog"
	"turnstile/nodes/detector"
	"turnstile/nodes/history"
	"turnstile/nodes/row"
	"turnstile/nodes/workload"
)

// reproduceDetection makes the runs that a claim about a failure detector is about. It runs beside clients
// that request nothing.
func (r *Reproduced) reproduceDetection(ctx context.Context, seed uint64) error {
	r.Published, r.Load = r.Claim.Value(r.Config), workload.Closed
	runs := 1
	if r.Figure == row.PeriodsToProbe {
		runs = 500
	}
	return r.meanOf(runs, func(run int) (float64, error) {
		if r.Figure == row.PeriodsToProbe {
			return r.periodsToProbe(ctx, bench.TrialSeed(seed, run+1))
		}
		return r.messagesPerMember(ctx, seed)
	})
}

// messagesPerMember returns how many messages a member sends per period, in the hundred periods that begin
// in a run where all members are in step.
func (r *Reproduced) messagesPerMember(ctx context.Context, seed uint64) (float64, error) {
	const periods = 100
	n, period := r.Config.N, detector.Period(r.detector())
	d, err := r.detectionRun(ctx, periods*period+period/2, seed, 0)
	return float64(d.sent) / float64(periods*n), err
}

// periodsToProbe returns in which period after the crash of node 0 some member probes it for the first
// time. If members are in step, the first period that begins after the crash counts 1. Otherwise it is the
// time from the crash to that probe, in periods. A probe that fails is known by the suspicion that follows
// when its period is over.
func (r *Reproduced) periodsToProbe(ctx context.Context, seed uint64) (float64, error) {
	period := detector.Period(r.detector())
	// In the first period of members in step, when no ping of that period is still on its way.
	draw := chance.Dice(seed).Unit(chance.Roll{Purpose: chance.ForJitter})
	crash := period + period/10 + time.Duration(draw*float64(period)*8/10)
	since := crash + period
	if r.Config.Options["in-step"] == "yes" {
		since = 2 * period
	}
	for lasts := 4 * period; lasts < 1000*period; lasts *= 2 {
		d, err := r.detectionRun(ctx, lasts, seed, crash)
		if err != nil || d.suspected > 0 {
			return float64(d.suspected-int64(since)) / float64(period), err
		}
	}
	return 0, fmt.Errorf("nobody has suspected the node that crashed at %v", crash)
}

// detector returns the failure detector of the claim.
func (r *Reproduced) detector() row.Instance {
	return row.Instance{Row: r.Spec, Config: r.Spec.Explicit(r.Config)}
}

// detectionRun makes a run in which node 0 crashes, unless at 0.
func (r *Reproduced) detectionRun(ctx context.Context, lasts time.Duration, seed uint64,
	crash time.Duration) (d detected, err error) {
	spec, err := catalog.Find("ricart-agrawala")
	if err != nil {
		return d, err
	}
	o := bench.Options{Config: nodes.Config{N: r.Config.N}, Seed: seed, Duration: lasts,
		Detector: r.detector().String(), Latency: chance.Constant(row.Hop),
		Workload: workload.Workload{Load: workload.Closed, Think: chance.Constant(2 * lasts)}}
	if crash > 0 {
		o.Faults = []chaos.Fault{{Effect: &effect.Kill{Who: effect.Target{Nodes: effect.Group{0}}},
			Schedule: chaos.Schedule{At: crash}}}
	}
	_, err = tried(ctx, o, spec, &d)
	return d, err
}

// A detected is what a run shows of its failure detectors.
type detected struct {
	suspected int64  // when somebody suspected a node for the first time; 0: nobody has
	sent      uint64 // messages
}

// Add implements history.Fold.
func (d *detected) Add(e history.Event) {
	if e.Kind == history.Suspected && d.suspected == 0 {
		d.suspected = e.At
	}
}

// Close implements history.Fold.
func (d *detected) Close(logs []*history.NodeLog) {
	for _, k := range history.Sum(logs).Kinds {
		d.sent += k.Sent
	}
}
