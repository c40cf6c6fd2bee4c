package bench

import (
	"math"
	"time"

	"turnstile/chaos"
	"turnstile/internal/chance"
	"turnstile/internal/figure"
	"turnstile/judge/check"
	"turnstile/judge/measure"
	"turnstile/judge/section"
	"turnstile/judge/spacetime"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/foreign"
	"turnstile/nodes/history"
	"turnstile/nodes/workload"
)

// costUnder returns the published cost under a load.
func costUnder(l workload.Load, c algorithm.Cost) algorithm.Range {
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

// Setting returns what the checks need to know of a trial with these faults.
func (j *Job) Setting(faults []chaos.Fault) check.Setting {
	cost, _ := j.PublishedCost()
	s := check.SettingOf(j.Stack)
	s.Cost, s.CostKnown = cost, cost.Known()
	s.Apart = foreign.Silent(j.Config)
	s.Real, s.Asked = !j.Simulated, j.AsksProcess()
	s.Measured, s.Covers = s.Real, j.covers()
	for _, short := range j.TooShort() {
		s.NeverHolds |= nodes.Timing
		s.Live |= nodes.Timing // with too short a timeout, an elector may never elect
		if short.Spec.Kind == nodes.Detection {
			s.NeverHolds |= nodes.PerfectDetector | nodes.EventualDetector
		}
	}
	s.Delay, s.Bounded = j.Bound()
	s.Even = j.Simulated && j.Even()
	s.Recovers = j.Servers.Recovers
	s.Open, s.Alone = j.Workload.Load == workload.Open, j.Alone()
	s.Fills, s.Work = j.fills(&s), j.Workload.Work
	s.Expected, s.Faults, s.Promise = j.Entries, CheckedFaults(faults, j.namesNobody()), j.promise()
	return s
}

// covers returns a function that reports whether the timeouts cover delays that are longer by late; nil: no
// timeout is known that must cover delays.
func (j *Job) covers() func(late time.Duration) bool {
	short := func(late time.Duration) bool {
		d := j.Delays()
		d.Message += late
		return len(j.Stack.Short(d)) > 0
	}
	if !short(24 * time.Hour) {
		return nil
	}
	return func(late time.Duration) bool { return !short(late) }
}

// fills reports whether the load must at some time take all units of the resource: every client requests
// again at once, and all requests take the same number of units, which divides the capacity. A free unit is
// taken within one gap: the time until all nodes know of a request, and one message. If a hold is longer than
// N gaps, no client leaves before all units are taken. With several resources, too few clients may want the
// same one at a time.
func (j *Job) fills(s *check.Setting) bool {
	w, capacity := &j.Workload, j.Config.Capacity()
	shortest, _, known := w.Hold.Bounds()
	sizes := w.Take.Sizes(capacity)
	if capacity == 1 || j.ResourceCount() > 1 || len(sizes) > 1 || capacity%sizes[0] != 0 {
		return false
	}
	promise := j.promise()
	gap := promise.Known + promise.Slack + s.Delay
	return w.Load == workload.Saturated && s.Bounded && known && shortest > time.Duration(j.Config.N)*gap
}

// tolerance is how many times the promised bypass may be exceeded by real processes, which wait for CPUs.
const tolerance = 10

// promise returns the bound on bypass by which the run is judged. A run may exceed the bound by a tolerance,
// except a simulation without faults whose messages all take the same time and wait for no application.
func (j *Job) promise() check.Promise {
	p := check.PromiseOf(j.Spec, j.Config, j.Longest())
	switch {
	case !j.Simulated:
		p.Times, p.Slack = tolerance, time.Duration(2*j.Config.N)*history.LateFrom
	case !j.Even() || j.Faulty():
		p.Times = tolerance
	}
	return p
}

// A Judgement folds the history of a trial into its measures and its verdict.
type Judgement struct {
	*section.Fold
	Measures *measure.Fold
	OfFaults *measure.FaultFold // nil: no faults were asked for
	Checks   *check.Fold
	extract  *spacetime.Fold // extract of the whole run of a lock, if all messages are recorded; otherwise nil
}

// Judge returns a fold that judges a trial of the job, given the header of its history.
func (j *Job) Judge(h history.Header, s check.Setting) Judgement {
	sections := check.Sections(h, s)
	made := Judgement{Fold: sections, Measures: measure.New(sections, j.Workload.Load),
		Checks: check.New(sections, s)}
	if j.ResourceCount() > 1 {
		made.Measures.ByResource()
	}
	if len(s.Faults) > 0 {
		made.OfFaults = measure.NewFaults(sections, s.Epoch)
	}
	if j.Trace && len(j.Stack.Mutexes()) > 0 {
		made.extract = spacetime.New(h, j.Stack, section.Window{To: math.MaxInt64})
	}
	return made
}

// Add implements history.Fold.
func (j Judgement) Add(e history.Event) {
	j.Fold.Add(e)
	if j.extract != nil {
		j.extract.Add(e)
	}
}

// Close implements history.Fold.
func (j Judgement) Close(logs []*history.NodeLog) {
	j.Fold.Close(logs)
	if j.extract == nil {
		return
	}
	j.extract.Close(logs)
	if n, known := j.extract.Inversions(); known {
		j.Measures.Measures.OrderInversions = figure.Count(uint64(n))
	}
}

// Lead adds the figures of a run about leaders. Call it after the fold is closed.
func (j *Judgement) Lead() {
	if leaders := j.Checks.Leaders(); leaders != nil {
		j.Measures.Measures.AddLeaders(leaders, j.Checks.Resources == 0)
	}
}

// Predict returns the utilisation and the entries per second that theory expects under a saturated load: each
// entry takes its hold and a synchronization delay of delay hops, each of the injected latency. They are
// unknown unless the number of hops is exact, the latency constant, the resource has one unit, no message
// waits for an application, and the holds have a mean.
func Predict(o Options, delay algorithm.Range) (utilisation, entriesPerS figure.Figure) {
	several := o.Config.Capacity() > 1 || o.ResourceCount() > 1
	if o.Workload.Load != workload.Saturated || o.Config.N < 2 || several || !delay.Exact() || delay.Min <= 0 ||
		o.Latency.Zero() || !o.Even() || o.Workload.Hold.Mean() == chance.Longest {
		return figure.Figure{}, figure.Figure{}
	}
	hold := o.Workload.Hold.Mean().Seconds()
	cycle := hold + delay.Min*o.Latency.Mean().Seconds()
	return figure.Ratio(hold, cycle), figure.Ratio(1, cycle)
}

// PublishedCost returns the published cost under the run's load, for holds of length 0, and what the renewals
// of holds add to it. Real processes may renew late, so their minimum is 0.
func (j *Job) PublishedCost() (cost, renewals algorithm.Range) {
	published, _ := j.Stack.Published()
	if published.Cost == nil {
		return algorithm.Unbounded(0), algorithm.Range{}
	}
	of := published.Cost(j.Config)
	if of.Renewal > 0 {
		shortest, longest, bounded := j.Workload.Hold.Bounds()
		if renewals = algorithm.Unbounded(0); bounded {
			renewals.Max = of.Renewals(longest).Max
		}
		if j.Simulated {
			renewals.Min = of.Renewals(shortest).Min
		}
	}
	return costUnder(j.Workload.Load, of), renewals
}

// Silence returns after how many seconds without entries a textbook implementation considers the holder lost.
// It is unknown unless the run injects a bounded latency and the holds are bounded too. The time that a
// message waits for an application (--receive) counts as latency.
func (j *Job) Silence() figure.Figure {
	latency, known := j.Bound()
	_, hold, over := j.Workload.Hold.Bounds()
	if j.Spec.Exclusion().Silence.Of == nil || !known || !over || j.Latency.Zero() || !j.Regions.None() {
		return figure.Figure{}
	}
	return figure.Number(j.Spec.Exclusion().Silence.Of(j.Config, latency, hold).Seconds())
}
