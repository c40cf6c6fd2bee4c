package bench

import (
	"time"

	"turnstile/bench/check"
	"turnstile/bench/measure"
	"turnstile/bench/section"
	"turnstile/chaos"
	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/workload"
	"turnstile/results"
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

// setting tells the checks what they must know of a trial with such faults.
func setting(o Options, simulated bool, spec *nodes.Spec, faults []chaos.Fault) check.Setting {
	cost, network := published(o, spec), o.network()
	s := check.SettingOf(o.stack(spec))
	s.Cost, s.CostKnown = cost, known(cost)
	s.Real = !simulated
	if s.Real {
		s.Slack = unhurried + time.Duration(o.Config.N)*unhurriedPerNode
	}
	for _, short := range o.TooShort(spec) {
		s.NeverHolds |= nodes.Timing
		s.Live |= nodes.Timing // whatever happens, it may elect nobody
		if short.Spec.Detector {
			s.NeverHolds |= nodes.PerfectDetector | nodes.EventualDetector
		}
	}
	s.Delay, s.Bounded = network.Bound()
	s.Even = simulated && network.Constant()
	s.Open, s.Alone = o.Workload.Load == workload.Open, o.alone()
	s.Expected, s.Faults, s.Promise = o.Entries, checked(faults), promise(o, simulated, spec)
	return s
}

// alone reports whether requests are made one at a time.
func (o *Options) alone() bool {
	return o.Workload.Load == workload.Sequential || o.Workload.Load == workload.One
}

// What a run of real processes is spared of a promise of fairness, since a process may wait for a processor.
const (
	tolerance = 10 // times the promised bypass
	// What a request may take to be known beside the latency of its messages.
	unhurried        = time.Second
	unhurriedPerNode = 10 * time.Millisecond
)

// promise returns what a run is held to of the order in which its algorithm serves. It is exact where all
// messages take the same time, which they do in simulations alone.
func promise(o Options, simulated bool, spec *nodes.Spec) check.Promise {
	network := o.network()
	p := check.PromiseOf(spec, o.Config, network.Longest())
	switch {
	case !simulated:
		p.Times, p.Slack = tolerance, unhurried+time.Duration(o.Config.N)*unhurriedPerNode
	case !network.Constant() || o.faulty():
		p.Times = tolerance
	}
	return p
}

// A judgement folds the history of a trial into its measures and its verdict.
type judgement struct {
	*section.Fold
	measures *measure.Fold
	faults   *measure.FaultFold // nil: no fault was asked for
	checks   *check.Fold
}

// judgementOf returns a fold for a trial whose history has such a header.
func judgementOf(h history.Header, load workload.Load, s check.Setting) judgement {
	sections := check.Sections(h, s)
	j := judgement{Fold: sections, measures: measure.New(sections, load), checks: check.New(sections, s)}
	if len(s.Faults) > 0 {
		j.faults = measure.NewFaults(sections, s.Epoch)
	}
	return j
}

// lead adds the measures of a run about leaders, once all is folded.
func (j *judgement) lead() {
	if leaders := j.checks.Leaders(); leaders != nil {
		m := &j.measures.Measures
		m.Leaders = measure.NewLeaders(leaders)
		if m.Leaders.Only = j.checks.Kind == check.Election; m.Leaders.Only {
			m.Leaders.Messages = results.Count(m.Messages.Sent)
		}
	}
}
