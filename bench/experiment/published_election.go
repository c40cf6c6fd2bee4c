package experiment

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"turnstile/bench"
	"turnstile/bench/option"
	"turnstile/chaos"
	"turnstile/chaos/effect"
	"turnstile/internal/chance"
	"turnstile/judge/check"
	"turnstile/judge/leadership"
	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/row"
	"turnstile/nodes/workload"
)

// reproduceElections makes the runs that a claim about elections is about.
func (r *Reproduced) reproduceElections(ctx context.Context, seed uint64) error {
	r.Published, r.Load = r.Claim.Value(r.Config), workload.Campaign
	return r.meanOf(max(1, r.Election.Runs), func(run int) (float64, error) {
		return r.electionRun(ctx, run, bench.TrialSeed(seed, run+1))
	})
}

// meanOf measures the figure as the mean of so many runs, and judges it.
func (r *Reproduced) meanOf(runs int, measured func(run int) (float64, error)) error {
	var sum, squares float64
	for run := range runs {
		x, err := measured(run)
		if err != nil {
			return fmt.Errorf("run %d: %w", run+1, err)
		}
		sum, squares = sum+x, squares+x*x
	}
	n := float64(runs)
	r.Measured = sum / n
	if runs > 1 {
		variance := max(0, squares/n-r.Measured*r.Measured) * n / (n - 1)
		if r.Figure.Share() { // a rare case may not be among the runs
			variance = r.Published.Max * (1 - r.Published.Max)
		}
		r.Error = math.Sqrt(variance / n)
	}
	r.Holds = r.holds()
	return nil
}

// electionRun makes one of them, and returns its figure.
func (r *Reproduced) electionRun(ctx context.Context, run int, seed uint64) (float64, error) {
	o, err := r.trial(run, seed)
	if err != nil {
		return 0, err
	}
	const doublings = 10
	for range doublings {
		x, known, err := r.simulateElections(ctx, o)
		if known || err != nil {
			return x, err
		}
		o.Duration *= 2
	}
	return 0, fmt.Errorf("nobody is elected within %v", o.Duration/2)
}

// trial returns the options of a run.
func (r *Reproduced) trial(run int, seed uint64) (bench.Options, error) {
	trial, config := r.Election, r.Spec.Explicit(r.Config)
	if trial.Vary != nil {
		trial.Vary(&config, run)
	}
	o := bench.Options{Config: config, Seed: seed,
		Detector: cmp.Or(trial.Detector, option.NoDetector),
		Duration: cmp.Or(trial.Lasts, 10*time.Second), Latency: chance.Constant(row.Hop),
		Workload: workload.Workload{Load: workload.Campaign, Initiators: workload.Initiators(trial.Initiators)}}
	if trial.Campaigns != nil {
		o.Workload.Initiators = workload.TheseInitiate(trial.Campaigns(config)...)
	}
	if trial.Down != nil {
		if down := trial.Down(config); len(down) > 0 {
			o.Faults = append(o.Faults, chaos.Fault{Effect: &effect.Kill{Who: effect.Target{Nodes: down}},
				Schedule: chaos.Schedule{For: trial.Back}})
		}
	}
	if from, to := trial.Crash[0], trial.Crash[1]; to > 0 {
		later := chance.Dice(seed).Unit(chance.Roll{Purpose: chance.ForJitter}) * float64(to-from)
		o.Faults = append(o.Faults,
			chaos.Fault{Effect: &effect.Kill{Who: effect.Target{Word: "leader"}},
				Schedule: chaos.Schedule{At: from + time.Duration(later)}})
	}
	if trial.Latency != "" {
		if err := o.Latency.Set(trial.Latency); err != nil {
			return o, err
		}
	}
	return o, nil
}

// simulateElections makes a run, and returns the figure, if that is known when it ends.
func (r *Reproduced) simulateElections(ctx context.Context, o bench.Options) (x float64, known bool,
	err error) {
	var late [nodes.MaxKinds]uint64 // messages of each kind that the algorithm sends from some time on
	t, err := tried(ctx, o, r.Spec, eachEvent(func(e history.Event) {
		if e.Kind == history.Sent && e.Instance == 0 && e.At >= int64(r.Election.From) && e.At < int64(o.Duration) {
			late[e.Count]++
		}
	}))
	if err != nil {
		return 0, false, err
	}
	if t.Verdict.Outcome == check.Violated && r.Spec.Flaw == nil {
		return 0, false, fmt.Errorf("it is violated: %s", t.Verdict.Reason)
	}
	leaders := t.Led
	switch r.Figure {
	case row.SplitVotes:
		return share(!ledInTerm(leaders, 1)), true, nil
	case row.ElectionTime, row.LateElections:
		took, known := r.tookToElect(leaders)
		if r.Figure == row.LateElections {
			return share(took > r.Election.Late), known, nil
		}
		return float64(took) / float64(time.Millisecond), known, nil
	}
	sent := func(kind int) uint64 { return t.Measures.Kinds[kind].Sent }
	if r.Election.From > 0 {
		sent = func(kind int) uint64 { return late[kind] }
	}
	return r.messages(o.Config, sent), true, nil
}

// share is what a run contributes to a share of runs.
func share(counts bool) float64 {
	if counts {
		return 1
	}
	return 0
}

// ledInTerm reports whether anybody led in a term.
func ledInTerm(l *leadership.Fold, term uint64) bool {
	return slices.ContainsFunc(l.Beliefs, func(b leadership.Belief) bool { return b.Term == term && b.Leads() })
}

// tookToElect returns how long the election took that the figure is about, the first or the one after the
// crash, until the leader declared itself.
func (r *Reproduced) tookToElect(l *leadership.Fold) (took time.Duration, known bool) {
	for _, e := range l.Agreements {
		if r.Election.Crash[1] == 0 || e.Cause.What == leadership.LeaderCrashed {
			return time.Duration(e.Declared - e.Begun), true
		}
	}
	return 0, false
}

// messages returns how many messages count, by how many of each kind were sent.
func (r *Reproduced) messages(c nodes.Config, sent func(kind int) uint64) (count float64) {
	trial, codec := r.Election, r.Spec.Codec()
	for kind := range codec.Kinds() {
		if trial.Kinds == nil && codec.Kind(kind).Heartbeat ||
			trial.Kinds != nil && !slices.Contains(trial.Kinds, codec.Name(kind)) {
			continue
		}
		count += float64(sent(kind))
	}
	if trial.Per != nil {
		count /= trial.Per(c)
	}
	return count
}
