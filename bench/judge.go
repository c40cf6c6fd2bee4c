package bench

import (
	"fmt"
	"math"
	"strings"
	"time"

	"turnstile/bench/option"
	"turnstile/chaos"
	"turnstile/chaos/effect"
	"turnstile/internal/chance"
	"turnstile/internal/figure"
	"turnstile/judge/check"
	"turnstile/judge/leadership"
	"turnstile/judge/measure"
	"turnstile/judge/section"
	"turnstile/judge/spacetime"
	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/row"
	"turnstile/nodes/workload"
	"turnstile/results"
)

// costUnder returns what an algorithm that costs c was published to cost under a load.
func costUnder(l workload.Load, c row.Cost) row.Range {
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
func (j *Job) setting(faults []chaos.Fault) check.Setting {
	cost, _ := j.published()
	s := check.SettingOf(j.Stack)
	s.Cost, s.CostKnown = cost, known(cost)
	s.Real, s.Asked = !j.Simulated, j.AsksProcess()
	if s.Real {
		s.Slack = unhurried + time.Duration(j.Config.N)*unhurriedPerNode
	}
	for _, short := range j.TooShort() {
		s.NeverHolds |= nodes.Timing
		s.Live |= nodes.Timing // whatever happens, it may elect nobody
		if short.Spec.Kind == nodes.Detection {
			s.NeverHolds |= nodes.PerfectDetector | nodes.EventualDetector
		}
	}
	s.Delay, s.Bounded = j.Bound()
	s.Even = j.Simulated && j.Even()
	s.Recovers = j.Servers.Recovers
	s.Open, s.Alone = j.Workload.Load == workload.Open, j.Alone()
	s.Fills, s.Work = j.fills(&s), j.Workload.Work
	s.Expected, s.Faults, s.Promise = j.Entries, checked(faults), j.promise()
	return s
}

// fills reports whether the load demands that all units of the resource are taken at some time: every client
// requests again at once, all requests take the same number of units, and that divides the capacity. A free
// unit is taken within one gap: the time until all know of a request, and one message. If a hold is longer
// than N gaps, no client leaves before all units are taken. Of several resources, too few clients may want
// one at a time.
func (j *Job) fills(s *check.Setting) bool {
	w, capacity := &j.Workload, j.Config.Capacity()
	shortest, _, known := w.Hold.Bounds()
	sizes := w.Take.Sizes(capacity)
	if capacity == 1 || j.ResourceCount() > 1 || len(sizes) > 1 || capacity%sizes[0] != 0 {
		return false
	}
	gap := j.promise().Known + s.Slack + s.Delay
	return w.Load == workload.Saturated && s.Bounded && known && shortest > time.Duration(j.Config.N)*gap
}

// Allowances for real processes in the check of fairness, since a process may wait for a processor.
const (
	tolerance = 10 // times the promised bypass
	// Time until a request is known, beside the latency of its messages.
	unhurried        = time.Second
	unhurriedPerNode = 10 * time.Millisecond
)

// promise returns what a run is held to of the order in which its algorithm serves. It is exact where all
// messages take the same time, and none waits for an application, which is so in simulations alone.
func (j *Job) promise() check.Promise {
	p := check.PromiseOf(j.Spec, j.Config, j.Longest())
	switch {
	case !j.Simulated:
		p.Times, p.Slack = tolerance, unhurried+time.Duration(j.Config.N)*unhurriedPerNode
	case !j.Even() || j.Faulty():
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
	extract  *spacetime.Fold // of the whole run, if all messages are recorded; else nil
}

// judgementOf returns a fold for a trial of a job whose history has such a header.
func (j *Job) judgementOf(h history.Header, s check.Setting) judgement {
	sections := check.Sections(h, s)
	made := judgement{Fold: sections, measures: measure.New(sections, j.Workload.Load),
		checks: check.New(sections, s)}
	if j.ResourceCount() > 1 {
		made.measures.ByResource()
	}
	if len(s.Faults) > 0 {
		made.faults = measure.NewFaults(sections, s.Epoch)
	}
	if j.Trace && len(j.Stack.Mutexes()) > 0 {
		made.extract = spacetime.New(h, j.Stack, section.Window{To: math.MaxInt64})
	}
	return made
}

// Add implements history.Fold.
func (j judgement) Add(e history.Event) {
	j.Fold.Add(e)
	if j.extract != nil {
		j.extract.Add(e)
	}
}

// Close implements history.Fold.
func (j judgement) Close(logs []*history.NodeLog) {
	j.Fold.Close(logs)
	if j.extract == nil {
		return
	}
	j.extract.Close(logs)
	if n, known := j.extract.Inversions(); known {
		j.measures.Measures.OrderInversions = figure.Count(uint64(n))
	}
}

// lead adds the measures of a run about leaders, once all is folded.
func (j *judgement) lead() {
	if leaders := j.checks.Leaders(); leaders != nil {
		j.measures.Measures.AddLeaders(leaders, j.checks.Resources == 0)
	}
}

// row returns what runs.csv says of a trial.
func (r *Run) row(t *Trial) results.Row {
	o := &r.Record.Options
	row := results.Row{
		Run:     r.Folder.Name(),
		Trial:   t.Number,
		Version: r.Record.Versions["turnstile"],
		Seed:    r.Record.Trials[t.Number-1].Seed,
		Asked:   r.Record.asked(),
		HoldUS:  meanUS(o.Workload.Hold),
		Figures: t.Measures.Columns(),
		Verdict: t.Verdict.Outcome.String(),
		Reason:  t.Verdict.Reason,
	}
	row.Violations, row.Lost = figure.Count(t.Verdict.Violations), figure.Count(t.Verdict.LostUnintended)
	if p := t.Verdict.PassedOver; p != nil {
		row.PassedOverMax = figure.Count(p.Times)
		if p.Open {
			row.PassedOverMax = figure.AtLeast(float64(p.Times))
		}
	}
	clients := len(r.Stack.Mutexes()) > 0
	if clients && (o.Faulty() || t.Verdict.EntriesInMinority > 0) {
		row.EntriesInMinority = figure.Count(t.Verdict.EntriesInMinority)
	}
	if lost := t.Verdict.LostWithBroker; lost > 0 {
		row.LostWithBroker = figure.Count(lost)
	}
	if lost := t.Verdict.LostToDeaths; lost > 0 {
		row.LostToDeaths = figure.Count(lost)
	}
	faults := o.FaultsOf(t.Number)
	row.Asked = row.With(option.FaultsColumn, faults)
	if faults != "" {
		row.FaultsMissed = figure.Count(uint64(len(t.Verdict.Misses)))
	}
	if o.Regions.None() {
		row.LatencyUS = meanUS(o.Latency)
	}
	if o.Workload.Load == workload.Closed {
		row.ThinkUS = meanUS(o.Workload.Think)
	}
	if cost, renewals := r.published(); known(cost) {
		row.PublishedMin = figure.Number(cost.Min + renewals.Min)
		row.PublishedMax = figure.Number(cost.Max + renewals.Max)
	}
	row.UtilisationPredicted, row.EntriesPerSPredicted = predict(*o, r.Spec.CostOf(o.Config).Delay)
	if !clients {
		row.HoldUS, row.EntriesPerS = figure.Figure{}, figure.Figure{}
	}
	return row
}

// asked returns what the run was asked to be, for runs.csv. A test checks that it has everything that makes
// two runs differ.
func (r *Record) asked() results.Asked {
	o := &r.Options
	a := results.Asked{Kind: kindBench, Algorithm: o.Algorithm, Nodes: o.Config.N, Options: o.Config.Options,
		Cells: o.Cells(!r.Simulated)}
	if r.Simulated {
		a.Kind = kindSimulate
	}
	return a
}

func meanUS(s chance.Distribution) figure.Figure {
	return figure.Number(float64(s.Mean()) / float64(time.Microsecond))
}

// predict returns the utilisation and the entries per second that theory expects: under a saturated
// load, each entry takes its hold and a synchronization delay of so many hops, each of the injected
// latency. They are unknown unless the number of hops is exact, the latency constant, and the unit one, and
// no message waits for an application.
func predict(o Options, delay row.Range) (utilisation, entriesPerS figure.Figure) {
	several := o.Config.Capacity() > 1 || o.ResourceCount() > 1
	if o.Workload.Load != workload.Saturated || o.Config.N < 2 || several || !delay.Exact() || delay.Min <= 0 ||
		o.Latency.Zero() || !o.Even() {
		return figure.Figure{}, figure.Figure{}
	}
	hold := o.Workload.Hold.Mean().Seconds()
	cycle := hold + delay.Min*o.Latency.Mean().Seconds()
	return figure.Ratio(hold, cycle), figure.Ratio(1, cycle)
}

// published returns what the algorithm was published to cost under the run's load, by holds of no length, and
// what the renewals of its holds add to that. Real processes may be late with these.
func (j *Job) published() (cost, renewals row.Range) {
	published, _ := j.Stack.Published()
	if published.Cost == nil {
		return row.Unbounded(0), row.Range{}
	}
	of := published.Cost(j.Config)
	if of.Renewal > 0 {
		shortest, longest, bounded := j.Workload.Hold.Bounds()
		if renewals = row.Unbounded(0); bounded {
			renewals.Max = of.Renewals(longest).Max
		}
		if j.Simulated {
			renewals.Min = of.Renewals(shortest).Min
		}
	}
	return costUnder(j.Workload.Load, of), renewals
}

// known reports whether a range says anything.
func known(r row.Range) bool { return r.Min > 0 || !math.IsInf(r.Max, 1) }

// ledger adds to a trial of a run about leaders who believed what, as beliefs.csv has it.
func (r *Run) ledger(t *Trial, j judgement) {
	leaders := j.checks.Leaders()
	if leaders == nil || !j.Window.Known() {
		return
	}
	asked := checked(r.faults(t.Number))
	var faults []leadership.Fault
	for i := range j.Faults {
		f := leadership.Fault{Number: int(j.Faults[i].Number), From: j.Faults[i].From, To: j.Faults[i].To}
		if f.Number >= 1 && f.Number <= len(asked) && asked[f.Number-1].Separates != nil {
			cut, victim := asked[f.Number-1].Separates, j.Faults[i].Victim
			f.Separates = func(a, b nodes.ID) bool { return cut(a, b, victim) }
		}
		faults = append(faults, f)
	}
	for _, e := range leaders.Ledger(faults, r.total(), j.Window.From, leaders.End) {
		t.Beliefs = append(t.Beliefs, r.beliefRow(t.Number, &e, j.Window.From))
	}
	t.Beliefs = results.AsStored(t.Beliefs)
}

// beliefRow returns the row of an entry, whose times count from a zero.
func (r *Run) beliefRow(trial int, e *leadership.Entry, zero int64) results.BeliefRow {
	seconds := func(ns int64) figure.Figure { return figure.Number(float64(ns) / 1e9) }
	row := results.BeliefRow{Run: r.Folder.Name(), Trial: trial, Node: int(e.Node), State: e.State,
		FromS: seconds(e.From - zero), ToS: seconds(e.To - zero), TwoS: seconds(e.TwoLeaders),
		Side: effect.Group(e.Side).String()}
	if e.Leader >= 0 {
		row.Leader = figure.Count(uint64(e.Leader))
	}
	if e.Term > 0 {
		row.Term = figure.Count(e.Term)
	}
	var numbers []string
	for _, n := range e.Faults {
		numbers = append(numbers, figure.Count(uint64(n)).String())
	}
	row.Faults = strings.Join(numbers, " ")
	return row
}

// measureFaults adds to a trial what faults did in it, as faults.csv and timeline.csv have it. No faults were
// asked for if the fold is nil.
func (r *Run) measureFaults(t *Trial, f *measure.FaultFold) {
	if f == nil {
		return
	}
	t.Faults, t.Timeline = nil, nil
	for _, x := range f.Rows(faultIn(r.faults(t.Number)), t.Measures.Leaders) {
		x.SilenceTextbookS = r.silence()
		t.Faults = append(t.Faults, results.FaultRow{Run: r.Folder.Name(), Trial: t.Number, OfFault: x})
	}
	if len(r.Stack.Mutexes()) > 0 { // or there are no entries
		for _, x := range f.Timeline() {
			t.Timeline = append(t.Timeline, results.IntervalRow{Run: r.Folder.Name(), Trial: t.Number, OfInterval: x})
		}
	}
	t.Faults, t.Timeline = results.FaultsAsStored(t.Faults), results.AsStored(t.Timeline)
}

// silence returns after how many seconds without entries a textbook takes what lets in for lost. It is
// unknown unless the run injects a bounded latency and holds are bounded too. The time for which a message
// waits for an application (--receive) counts as latency.
func (j *Job) silence() figure.Figure {
	latency, known := j.Bound()
	_, hold, over := j.Workload.Hold.Bounds()
	if j.Spec.Exclusion().Silence.Of == nil || !known || !over || j.Latency.Zero() || !j.Regions.None() {
		return figure.Figure{}
	}
	return figure.Number(j.Spec.Exclusion().Silence.Of(j.Config, latency, hold).Seconds())
}

// faultIn says what the fault of a number was, without its times, which faults.csv has beside it.
func faultIn(faults []chaos.Fault) func(number int) string {
	return func(number int) string {
		if number < 1 || number > len(faults) {
			return fmt.Sprintf("fault %d", number)
		}
		return faults[number-1].What()
	}
}
