package study

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"turnstile/bench"
	"turnstile/chaos"
	"turnstile/internal/chance"
	"turnstile/internal/figure"
	"turnstile/internal/stats"
	"turnstile/judge/check"
	"turnstile/judge/measure"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/workload"
	"turnstile/option"
	"turnstile/results"
)

// A Matrix makes runs of every algorithm under plans that come with the program. The seed is that of the
// first run of each cell.
type Matrix struct {
	Experiment
	Spread
	Faults []string // names of plans; empty: all
	Real   bool     // make runs of processes
	Runs   int      // runs per cell, with successive seeds
}

// A Cell is an algorithm under a plan.
type Cell struct {
	Spec *algorithm.Algorithm
	Plan *chaos.Plan
	May  algorithm.FaultCell // outcomes that are expected of the algorithm
	Runs []*Result

	spread Spread
	config nodes.Config         // of the program that a Try is about; its N is not set
	change func(*bench.Options) // changes the options of a run; nil: they stay as they are
}

// The runs of the matrix: five clients that think and request, enough that the resource is hardly ever free.
// In runs about leaders, five nodes campaign when the run begins.
const (
	cellNodes = 5
	cellLasts = 4 * time.Second
	hold      = 5 * time.Millisecond
	think     = "uniform:10ms,30ms"
	patience  = 500 * time.Millisecond
	// electing is the time for an election beyond the elector's own time: failure detectors need some of it,
	// and processes wait for CPUs.
	electing = 3 * time.Second
)

// realAtOnce is how many runs of processes are made in parallel. Their clients sleep most of the time.
const realAtOnce = 4

// Cells returns the cells, algorithm by algorithm. An algorithm has no cell for a plan that does not suit it.
func (m *Matrix) Cells() (all []*Cell) {
	for _, algo := range m.Algorithms {
		for _, plan := range chaos.ScenariosOf(algo) {
			if len(m.Faults) == 0 || slices.Contains(m.Faults, plan.Name) {
				may, _ := algo.FaultCell(plan.Name)
				all = append(all, &Cell{Spec: algo, Plan: plan, May: may, spread: m.Spread})
			}
		}
	}
	return all
}

// Options returns the options of a run of a cell.
func (c *Cell) Options(seed uint64) bench.Options {
	thinks, err := chance.ParseDistribution(think)
	if err != nil {
		panic(err) // impossible: think is valid
	}
	o := option.Defaults()
	o.Config = c.config
	o.Algorithm, o.Config.N, o.Seed = c.Spec.Name, cellNodes, seed
	o.Workload = workload.Workload{Load: workload.Closed, Hold: chance.Constant(hold), Think: thinks}
	o.Latency, o.Patience = chance.Constant(latency), patience
	o.Duration, o.Warmup = cellLasts, cellLasts/10
	o.Plan, o.Faults, o.Brokers = c.Plan.Name, c.Plan.Faults, c.Plan.Brokers
	o.Config.Fenced = chaos.Fenced(c.Spec, c.Plan.Faults)
	studyOf(c.Spec).cell(c, &o)
	c.spread.over(&o)
	if c.change != nil {
		c.change(&o)
	}
	return o
}

// elections sets the options of a run about an election. It ends some time after the last fault.
func (c *Cell) elections(o *bench.Options) {
	allStand(o)
	o.Duration = c.lasts() + c.Spec.GraceOf(c.Spec.Explicit(o.Config)) + electing
}

// allStand sets the load of an election: all nodes campaign as the run begins, and are measured from then on.
func allStand(o *bench.Options) {
	o.Workload = workload.Workload{Load: workload.Campaign, Initiators: workload.AllInitiate}
	o.Warmup, o.WarmupLimit = 0, 0
}

// lasts returns when the last fault of the plan is over, including its after-effects.
func (c *Cell) lasts() (end time.Duration) {
	for i := range c.Plan.Faults {
		f := &c.Plan.Faults[i]
		last := f.At + f.Every*time.Duration(max(0, f.Repeat-1)) + f.Jitter
		end = max(end, last+f.After+f.For+f.Leaves())
	}
	return end
}

// Takes returns about how long Make takes on an otherwise idle machine.
func (m *Matrix) Takes() (sum time.Duration) {
	cells := m.Cells()
	if !m.Real {
		return simulating(len(cells) * m.Runs)
	}
	for _, c := range cells {
		o := c.Options(m.Seed)
		sum += time.Duration(m.Runs) * (o.Warmup + o.Duration)
	}
	return sum / realAtOnce
}

// Make makes the runs. If ctx is done, it returns the cells with the runs so far, and the error of ctx.
func (m *Matrix) Make(ctx context.Context) ([]*Cell, error) {
	cells := m.Cells()
	all, workers := len(cells)*m.Runs, runtime.GOMAXPROCS(0)
	if m.Real {
		workers = realAtOnce
	}
	results := m.run(ctx, workers, all, 0, all, func(number int) *Case {
		return m.caseOf(cells[number/m.Runs], number%m.Runs)
	})
	for number, r := range results {
		if r != nil {
			c := cells[number/m.Runs]
			c.Runs = append(c.Runs, r)
		}
	}
	m.confirm(ctx, cells)
	return cells, m.ended(ctx)
}

// caseOf returns a run of a cell, by its number from 0. A run of processes that shows nothing is made again,
// unless it broke a promise inside the model.
func (m *Matrix) caseOf(c *Cell, number int) *Case {
	j, err := bench.Resolve(m.Known, c.Options(m.Seed+uint64(number)), c.Spec, !m.Real)
	one := &Case{Job: j, Err: err, Expect: c.expect}
	one.Again = func(r *Result) *Case {
		if m.Real && r.Shown == 0 && r.ViolatedInside() == nil {
			return one
		}
		return nil
	}
	return one
}

// confirm makes two more runs of each cell that has a single run of processes, if this run differs from what
// is expected. All three runs count.
func (m *Matrix) confirm(ctx context.Context, cells []*Cell) {
	differ := slices.DeleteFunc(slices.Clone(cells), func(c *Cell) bool {
		return !m.Real || len(c.Runs) != 1 || !c.Differs()
	})
	const more = 2
	for number, r := range m.run(ctx, realAtOnce, more*len(differ), 0, more*len(differ), func(number int) *Case {
		return m.caseOf(differ[number/more], 1+number%more)
	}) {
		if r != nil {
			differ[number/more].Runs = append(differ[number/more].Runs, r)
		}
	}
}

// expect expects one of the outcomes that the algorithm lists. The run must show something, and a sound
// algorithm must not fail inside its model. If the algorithm lists no outcomes, a run may show anything but
// such a failure.
func (c *Cell) expect(r *Result) {
	switch inside := r.ViolatedInside(); {
	case inside != nil:
		r.Wrong = "violated inside its model: " + inside.Says
	case len(c.Spec.Faults) == 0:
	case r.Shown == 0:
		r.Wrong = "inconclusive: " + r.Says
	case r.Shown == algorithm.Unhit && c.May.May&algorithm.Unhit == 0:
		r.Wrong = fmt.Sprintf("not hit: %s, which is not expected of %s", r.Says, c.Spec.Name)
	case c.May.May == 0:
		r.Wrong = fmt.Sprintf("shows %v, and nothing is expected of %s: %s", r.Shown, c.Spec.Name, r.Says)
	case c.May.May&r.Shown == 0:
		r.Wrong = fmt.Sprintf("shows %v, not %v: %s", r.Shown, c.May.May, r.Says)
	}
}

// ViolatedInside returns the violation of a sound algorithm inside its model, or nil.
func (r *Result) ViolatedInside() *check.Finding {
	for i := range r.Verdict.Findings {
		if f := &r.Verdict.Findings[i]; r.Spec.Flaw == nil && f.Outcome == check.Violated && !f.OutsideModel {
			return f
		}
	}
	return nil
}

// Wrong returns the first run of a cell that is not as expected, or nil.
func (c *Cell) Wrong() *Result {
	if i := slices.IndexFunc(c.Runs, func(r *Result) bool { return r.Wrong != "" }); i >= 0 {
		return c.Runs[i]
	}
	return nil
}

// Differs reports whether some run shows an outcome that is not expected, apart from runs that show nothing
// or whose faults hit nothing.
func (c *Cell) Differs() bool {
	return slices.ContainsFunc(c.Runs, func(r *Result) bool {
		return r.Wrong != "" && (r.Shown&^algorithm.Unhit != 0 || r.ViolatedInside() != nil)
	})
}

// NotHit reports whether the faults hit nothing in any run.
func (c *Cell) NotHit() bool {
	return len(c.Runs) > 0 && c.count(algorithm.Unhit) == len(c.Runs) && !c.Differs()
}

// Shown returns all outcomes of the runs of a cell.
func (c *Cell) Shown() (all algorithm.Outcome) {
	for _, r := range c.Runs {
		all |= r.Shown
	}
	return all
}

// Row returns the row of the cell in matrix.csv.
func (c *Cell) Row(real bool) results.MatrixRow {
	out := results.MatrixRow{Algorithm: c.Spec.Name, Fault: c.Plan.Name, Kind: "simulate",
		May: c.May.May.String(), Shown: c.Shown().String(), Differs: c.Differs(), Runs: len(c.Runs),
		Why: c.May.Why}
	if real {
		out.Kind = "bench"
	}
	for shown, count := range map[algorithm.Outcome]*int{
		algorithm.Recovers: &out.Recovered, algorithm.Starves: &out.Starved, algorithm.Blocks: &out.Blocked,
		algorithm.Breaks: &out.Broke, algorithm.Unhit: &out.Unhit, 0: &out.Inconclusive,
	} {
		*count = c.count(shown)
	}
	if len(c.Runs) == 0 {
		return out
	}
	tells := cmp.Or(c.Wrong(), c.Runs[0])
	out.Seed, out.Run, out.Reason = tells.Seed, tells.Folder, tells.Says
	if out.Waiting = strings.Trim(fmt.Sprint(tells.Verdict.Starved), "[]"); tells.Verdict.MoreStarved > 0 {
		out.Waiting += fmt.Sprintf(" and %d more", tells.Verdict.MoreStarved)
	}
	studyOf(c.Spec).figures(c, &out)
	for _, f := range c.known((*Result).waitMax) {
		out.WaitMaxS = figure.Max(out.WaitMaxS, inSeconds(f))
	}
	out.NextEntryS = c.median((*Result).nextEntry)
	out.OldRateS = c.median(func(r *Result) figure.Figure { return r.Faults[len(r.Faults)-1].OldRateS })
	for phase, messages := range []*figure.Figure{&out.MessagesBefore, &out.MessagesDuring, &out.MessagesAfter} {
		*messages = c.median(func(r *Result) figure.Figure {
			f := &r.Faults[0]
			if phase == measure.After {
				f = &r.Faults[len(r.Faults)-1]
			}
			return per(f.Messages[phase], f.Accepted[phase])
		})
	}
	out.AcceptedDuring = c.median(func(r *Result) figure.Figure { return r.Faults[0].Accepted[measure.During] })
	out.RefusedDuring = c.median(func(r *Result) figure.Figure { return r.Faults[0].Refused[measure.During] })
	return out
}

func (c *Cell) count(shown algorithm.Outcome) (count int) {
	for _, r := range c.Runs {
		if r.Shown == shown {
			count++
		}
	}
	return count
}

// median returns the median of a figure over the runs that recovered.
func (c *Cell) median(of func(*Result) figure.Figure) figure.Figure {
	return stats.MedianOf(c.known(of))
}

// known returns the known values of a figure over the runs that recovered.
func (c *Cell) known(of func(*Result) figure.Figure) (all []figure.Figure) {
	for _, r := range c.Runs {
		if r.Shown != algorithm.Recovers || len(r.Faults) == 0 {
			continue
		}
		if f := of(r); f.Known() {
			all = append(all, f)
		}
	}
	return all
}

// nextEntry returns the longest time, over the faults of a run, to the next entry after the heal or, without
// a heal, after the start of the fault.
func (r *Result) nextEntry() (longest figure.Figure) {
	for i := range r.Faults {
		f := &r.Faults[i]
		took := f.NextEntryS
		if f.Healed {
			took = f.HealedNextEntryS
		}
		longest = figure.Max(longest, took)
	}
	return longest
}

// agreed returns after how many seconds all agreed on the leader that they have at the end. It counts from
// the last heal, or from the start of a fault that was not healed.
func (r *Result) agreed() figure.Figure {
	last := r.Leaders.AgreedAtEnd()
	if last == nil {
		return figure.Figure{}
	}
	var over float64
	for i := range r.Faults {
		at := r.Faults[i].FromS
		if r.Faults[i].Healed {
			at = r.Faults[i].ToS
		}
		if s, known := at.Value(); known {
			over = max(over, s)
		}
	}
	return figure.Number(max(0, float64(last.Agreed-r.Leaders.Begun)/1e9-over))
}

// waitMax returns the longest wait, in microseconds, during or after a fault.
func (r *Result) waitMax() (longest figure.Figure) {
	for i := range r.Faults {
		longest = figure.Max(figure.Max(longest, r.Faults[i].WaitUS[measure.During].Max),
			r.Faults[i].WaitUS[measure.After].Max)
	}
	return longest
}

// per divides two figures. If one is unknown, so is the result.
func per(a, b figure.Figure) figure.Figure {
	x, known := a.Value()
	y, too := b.Value()
	if !known || !too {
		return figure.Figure{}
	}
	return figure.Ratio(x, y)
}

// inSeconds converts a figure from microseconds to seconds.
func inSeconds(us figure.Figure) figure.Figure {
	x, known := us.Value()
	switch {
	case !known:
		return us
	case us.IsBound():
		return figure.AtLeast(x / 1e6)
	}
	return figure.Number(x / 1e6)
}
