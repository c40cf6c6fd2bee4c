package study

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"time"

	"turnstile/algorithms/catalog"
	"turnstile/algorithms/detector"
	"turnstile/bench"
	"turnstile/chaos"
	"turnstile/chaos/effect"
	"turnstile/internal/chance"
	"turnstile/judge/check"
	"turnstile/judge/leadership"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/history"
	"turnstile/nodes/workload"
	"turnstile/option"
)

// A Reproduced is a published figure of an algorithm, with the value that simulated runs measured.
type Reproduced struct {
	algorithm.Claim
	Spec      *algorithm.Algorithm
	known     catalog.Table // algorithms that may run beside Spec
	Config    nodes.Config
	Load      workload.Load
	Published algorithm.Range
	Measured  float64
	Error     float64 // standard error if the figure is a mean; otherwise zero
	Holds     bool    // the figure is judged, and agrees with the published one
}

// Judged reports whether the figure has a verdict.
func (r *Reproduced) Judged() bool { return r.Within != algorithm.Beside }

// Reproduce measures the published figures of the algorithms. It returns the measured figures, and how many
// figures the algorithms list in all. If ctx is done, it returns the error of ctx.
func (e *Experiment) Reproduce(ctx context.Context) (figures []*Reproduced, listed int, err error) {
	var all []*Reproduced
	for _, spec := range e.Algorithms {
		for _, claim := range spec.Published {
			for _, config := range claim.Configs() {
				all = append(all, &Reproduced{Claim: claim, Spec: spec, known: e.Known, Config: config})
			}
		}
	}
	one := func(ctx context.Context, number int) *Result {
		r := all[number]
		result := &Result{Job: &bench.Job{Spec: r.Spec, Simulated: true}, Figure: r}
		if result.Err = r.reproduce(ctx, e.Seed); r.Judged() && !r.Holds {
			result.Wrong = "it is off"
		}
		return result
	}
	results := e.each(ctx, runtime.GOMAXPROCS(0), len(all), 0, len(all), one)
	for _, r := range made(results) {
		if r.Err != nil {
			f := r.Figure
			return nil, len(all), fmt.Errorf("%s of %s, %d nodes: %w", f.Figure, f.Spec.Name, f.Config.N, r.Err)
		}
		figures = append(figures, r.Figure)
	}
	return figures, len(all), e.ended(ctx)
}

// Ratio returns measured / published, for the middle of the published range.
func (r *Reproduced) Ratio() float64 {
	if math.IsInf(r.Published.Max, 1) {
		return math.NaN()
	}
	return r.Measured / ((r.Published.Min + r.Published.Max) / 2)
}

// reproduce measures the figure.
func (r *Reproduced) reproduce(ctx context.Context, seed uint64) error {
	return kinds[r.Spec.Kind].reproduce(r, ctx, seed)
}

// reproduceEntries measures a figure about entries.
func (r *Reproduced) reproduceEntries(ctx context.Context, seed uint64) error {
	const least = 10 * time.Microsecond // a hold that is negligible next to a hop
	c, spec, config := &r.Claim, r.Spec, r.Config
	r.Published, r.Load = c.Value(config), workload.Load(cmp.Or(c.Load, string(workload.Saturated)))
	o := bench.Options{Config: spec.Explicit(config), Entries: r.entries(), Seed: seed,
		Multicast: c.Multicast, Latency: chance.Constant(algorithm.Hop),
		Detector: option.NoDetector, Workload: workload.Workload{Load: r.Load, Think: chance.Constant(c.Think),
			Hold: chance.Constant(max(c.Hold, least))}}
	if c.Take != "" {
		if err := o.Workload.Take.Set(c.Take); err != nil {
			return err
		}
	}
	var costs settledCosts
	t, err := r.tried(ctx, o, spec, eachEvent(func(e history.Event) {
		if e.Kind == history.Settled {
			costs = append(costs, float64(e.Value))
		}
	}))
	if err != nil {
		return err
	}
	if t.Verdict.Outcome == check.Violated {
		return fmt.Errorf("the run is violated: %s", t.Verdict.Reason)
	}
	m := t.Measures
	switch c.Figure {
	case algorithm.MessagesPerEntry:
		r.Measured, _ = m.MessagesPerEntry.Value()
		if c.Within == algorithm.Mean {
			r.Measured, r.Error = costs.mean(5 * config.N)
		}
	case algorithm.PublishesPerEntry:
		r.Measured, _ = m.PublishesPerEntry.Value()
	case algorithm.SynchronizationDelayHops:
		r.Measured = m.SynchronizationDelay.Hist.Mean() / float64(algorithm.Hop)
	case algorithm.ClientDelayHops:
		r.Measured = m.Wait.Hist.Mean() / float64(algorithm.Hop)
	case algorithm.Utilisation:
		r.Measured, _ = m.Utilisation.Value()
	case algorithm.EntriesPerSecond:
		r.Measured, _ = m.EntriesPerS.Value()
	}
	r.Holds = r.holds()
	return nil
}

// tried simulates a run, whose options need not be complete, since it is not stored.
func (r *Reproduced) tried(ctx context.Context, o bench.Options, algo *algorithm.Algorithm,
	folds ...history.Fold) (
	*bench.Tried, error) {
	d, err := bench.NewDraft(r.known, o, algo, true)
	if err != nil {
		return nil, err
	}
	return bench.Simulate(ctx, d.Unchecked(), folds...)
}

// eachEvent is called for each event of a run.
type eachEvent func(history.Event)

// Add implements history.Fold.
func (each eachEvent) Add(e history.Event) { each(e) }

// Close implements history.Fold.
func (eachEvent) Close([]*history.NodeLog) {}

// entries returns how many entries the run makes.
func (r *Reproduced) entries() uint64 {
	switch r.Within {
	case algorithm.Mean:
		return 20_000
	case algorithm.Steady, algorithm.Fitted:
		return 5000
	}
	return uint64(max(1000, 20*r.Config.N))
}

// rounded is the relative error of figures that are read from a histogram or a window.
var rounded = map[algorithm.Figure]float64{algorithm.SynchronizationDelayHops: 0.005,
	algorithm.ClientDelayHops: 0.005,
	algorithm.Utilisation:     0.005, algorithm.EntriesPerSecond: 0.005}

// holds reports whether the measured figure agrees with the published one. Histograms keep three digits, and
// the window of a run leaves out its first and last entries.
func (r *Reproduced) holds() bool {
	slack := 0.0
	switch {
	case !r.Judged():
		return false
	case r.Within == algorithm.Mean:
		slack = 4 * r.Error
	case r.Within == algorithm.Steady:
		slack = 0.01 * r.Published.Max
	case r.Within == algorithm.Fitted:
		slack = 0.03 * r.Published.Max
	default:
		slack = rounded[r.Figure] * r.Published.Max
	}
	return algorithm.Between(r.Published.Min-slack, r.Published.Max+slack).Has(r.Measured)
}

// settledCosts are the numbers of messages of single requests.
type settledCosts []float64

// mean returns the mean without the first burnIn costs, and its standard error. The error is computed from
// the means of fifty groups, since the cost of a request depends on the one before.
func (costs settledCosts) mean(burnIn int) (mean, standardError float64) {
	if len(costs) <= burnIn {
		return math.NaN(), 0
	}
	costs = costs[burnIn:]
	const groups = 50
	size := len(costs) / groups
	var sum, squares float64
	for b := range groups {
		group := 0.0
		for _, x := range costs[b*size : (b+1)*size] {
			group += x
		}
		group /= float64(size)
		sum, squares = sum+group, squares+group*group
	}
	mean = sum / groups
	variance := max(0, squares/groups-mean*mean) * groups / (groups - 1)
	return mean, math.Sqrt(variance / groups)
}

// reproduceDetection measures a figure about a failure detector. The detector runs beside clients that
// request nothing.
func (r *Reproduced) reproduceDetection(ctx context.Context, seed uint64) error {
	r.Published, r.Load = r.Claim.Value(r.Config), workload.Closed
	runs := 1
	if r.Figure == algorithm.PeriodsToProbe {
		runs = 500
	}
	return r.meanOf(runs, func(run int) (float64, error) {
		if r.Figure == algorithm.PeriodsToProbe {
			return r.periodsToProbe(ctx, bench.TrialSeed(seed, run+1))
		}
		return r.messagesPerMember(ctx, seed)
	})
}

// messagesPerMember returns how many messages a member sends per period, over a hundred periods in which all
// members are in step.
func (r *Reproduced) messagesPerMember(ctx context.Context, seed uint64) (float64, error) {
	const periods = 100
	n, period := r.Config.N, detector.Period(r.detector())
	d, err := r.detectionRun(ctx, periods*period+period/2, seed, 0)
	return float64(d.sent) / float64(periods*n), err
}

// periodsToProbe returns how many periods after the crash of node 0 a member first probes node 0. If members
// are in step, the first period that begins after the crash counts 1. Otherwise the result is the time from
// the crash to that probe, in periods. The failed probe shows by the suspicion at the end of its period.
func (r *Reproduced) periodsToProbe(ctx context.Context, seed uint64) (float64, error) {
	period := detector.Period(r.detector())
	// If members are in step, the crash is in their first period, when no ping is in transit any more.
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

// detector returns the failure detector of the figure.
func (r *Reproduced) detector() algorithm.Instance {
	return algorithm.Instance{Algorithm: r.Spec, Config: r.Spec.Explicit(r.Config)}
}

// detectionRun makes a run in which node 0 crashes at a given time; 0: it does not crash.
func (r *Reproduced) detectionRun(ctx context.Context, lasts time.Duration, seed uint64,
	crash time.Duration) (d detected, err error) {
	spec, err := r.known.Find("ricart-agrawala")
	if err != nil {
		return d, err
	}
	o := bench.Options{Config: nodes.Config{N: r.Config.N}, Seed: seed, Duration: lasts,
		Detector: r.detector().String(), Latency: chance.Constant(algorithm.Hop),
		Workload: workload.Workload{Load: workload.Closed, Think: chance.Constant(2 * lasts)}}
	if crash > 0 {
		o.Faults = []chaos.Fault{{Effect: &effect.Kill{Who: effect.Target{List: nodes.Group{0}}},
			Schedule: chaos.Schedule{At: crash}}}
	}
	_, err = r.tried(ctx, o, spec, &d)
	return d, err
}

// detected folds what failure detectors did in a run.
type detected struct {
	suspected int64  // when a node was first suspected; 0: never
	sent      uint64 // messages that were sent
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

// reproduceElections measures a figure about elections.
func (r *Reproduced) reproduceElections(ctx context.Context, seed uint64) error {
	r.Published, r.Load = r.Claim.Value(r.Config), workload.Campaign
	return r.meanOf(max(1, r.Election.Runs), func(run int) (float64, error) {
		return r.electionRun(ctx, run, bench.TrialSeed(seed, run+1))
	})
}

// meanOf measures the figure as the mean over some runs, and judges it.
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
		if r.Figure.Share() { // a rare case may occur in no run: use the variance of the published share
			variance = r.Published.Max * (1 - r.Published.Max)
		}
		r.Error = math.Sqrt(variance / n)
	}
	r.Holds = r.holds()
	return nil
}

// electionRun makes a run, and returns its figure. It doubles the duration until the figure is known.
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
		Duration: cmp.Or(trial.Lasts, 10*time.Second), Latency: chance.Constant(algorithm.Hop),
		Workload: workload.Workload{Load: workload.Campaign, Initiators: workload.Initiators(trial.Initiators)}}
	if trial.Campaigns != nil {
		o.Workload.Initiators = workload.TheseInitiate(trial.Campaigns(config)...)
	}
	if trial.Down != nil {
		if down := trial.Down(config); len(down) > 0 {
			o.Faults = append(o.Faults, chaos.Fault{Effect: &effect.Kill{Who: effect.Target{List: down}},
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

// simulateElections makes a run, and returns the figure if it is known at the end.
func (r *Reproduced) simulateElections(ctx context.Context, o bench.Options) (x float64, known bool,
	err error) {
	var late [nodes.MaxKinds]uint64 // by kind: messages that the algorithm sends from Election.From on
	t, err := r.tried(ctx, o, r.Spec, eachEvent(func(e history.Event) {
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
	case algorithm.SplitVotes:
		return share(!ledInTerm(leaders, 1)), true, nil
	case algorithm.ElectionTime, algorithm.LateElections:
		took, known := r.tookToElect(leaders)
		if r.Figure == algorithm.LateElections {
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

// share returns 1 if a run counts towards a share of runs, and otherwise 0.
func share(counts bool) float64 {
	if counts {
		return 1
	}
	return 0
}

// ledInTerm reports whether any node led in a term.
func ledInTerm(l *leadership.Fold, term uint64) bool {
	return slices.ContainsFunc(l.Beliefs, func(b leadership.Belief) bool { return b.Term == term && b.Leads() })
}

// tookToElect returns how long the election took until the leader declared itself: the first election, or the
// one after the crash.
func (r *Reproduced) tookToElect(l *leadership.Fold) (took time.Duration, known bool) {
	for _, e := range l.Agreements {
		if r.Election.Crash[1] == 0 || e.Cause.What == leadership.LeaderCrashed {
			return time.Duration(e.Declared - e.Begun), true
		}
	}
	return 0, false
}

// messages returns how many messages count towards the figure, given the number sent of each kind.
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
