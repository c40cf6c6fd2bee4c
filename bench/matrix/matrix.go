package matrix

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"turnstile/bench"
	"turnstile/bench/campaign"
	"turnstile/bench/check"
	"turnstile/bench/measure"
	"turnstile/chaos"
	"turnstile/internal/chance"
	"turnstile/nodes"
	"turnstile/nodes/workload"
	"turnstile/results"
)

// A Matrix says which runs are made.
type Matrix struct {
	Rows   []*nodes.Spec
	Faults []string    // only plans of these names; none: all of ours
	Real   bool        // by processes
	Seed   uint64      // of the first run of each cell
	Runs   int         // of each cell, each of the next seed
	Setup  bench.Setup // of the runs of processes
	// Progress is called after each run, by several goroutines, one at a time; it may be nil.
	Progress func(done, all int, r *Run)
}

// A Cell is an algorithm under a plan.
type Cell struct {
	Spec *nodes.Spec
	Plan *chaos.Plan
	May  nodes.FaultCell // what its row says
	Runs []*Run
}

// A Run is one run of a cell.
type Run struct {
	Cell    *Cell
	Seed    uint64
	Shown   nodes.Outcome // one; none: it is inconclusive
	Says    string        // why
	Verdict check.Verdict
	Faults  []results.FaultRow // what the faults did
	Leaders *measure.Leaders   // of a run about leaders
	Folder  string             // of a run of processes
	Err     error              // why it could not be made
}

// The runs of the matrix: five clients that think and request, so many that the resource is hardly ever free.
// Those about leaders have five nodes that all campaign when the run begins.
const (
	clients  = 5
	measured = 4 * time.Second
	latency  = time.Millisecond
	hold     = 5 * time.Millisecond
	think    = "uniform:10ms,30ms"
	patience = 500 * time.Millisecond
	// What electors have beside their own times: failure detectors take some of it, and processes wait.
	spare = 3 * time.Second
)

// again is how often a run of processes is made that turns out inconclusive, since they share a machine with
// others.
const again = 3

// realAtOnce is how many runs of processes are made at a time. Their clients sleep for most of it.
const realAtOnce = 4

// Cells returns the cells, those of one algorithm one after the other. Plans that do not suit an algorithm
// make none.
func (m *Matrix) Cells() (all []*Cell) {
	for _, row := range m.Rows {
		for _, plan := range chaos.ScenariosOf(row) {
			if len(m.Faults) == 0 || slices.Contains(m.Faults, plan.Name) {
				may, _ := row.FaultCell(plan.Name)
				all = append(all, &Cell{Spec: row, Plan: plan, May: may})
			}
		}
	}
	return all
}

// Options returns the options of a run of a cell.
func (c *Cell) Options(seed uint64) bench.Options {
	thinks, err := chance.ParseDistribution(think)
	if err != nil {
		panic(err) // a slip of the pen above
	}
	o := bench.Defaults()
	o.Algorithm, o.Config.N, o.Seed = c.Spec.Name, clients, seed
	o.Workload = workload.Workload{Load: workload.Closed, Hold: chance.Constant(hold), Think: thinks}
	o.Latency, o.Patience = chance.Constant(latency), patience
	o.Duration, o.Warmup = measured, measured/10
	o.Plan, o.Faults, o.Brokers = c.Plan.Name, c.Plan.Faults, c.Plan.Brokers
	o.Config.Fenced = chaos.Fenced(c.Spec, c.Plan.Faults)
	if c.Spec.Leads != nil {
		o.Workload = workload.Workload{Load: workload.Campaign, Initiators: workload.AllInitiate}
		o.Warmup, o.WarmupLimit = 0, 0
		o.Duration = c.lasts() + c.Spec.GraceOf(c.Spec.Explicit(o.Config)) + spare
	}
	return o
}

// lasts returns when the last fault of the plan is over, with all that it leaves behind.
func (c *Cell) lasts() (end time.Duration) {
	for i := range c.Plan.Faults {
		f := &c.Plan.Faults[i]
		last := f.At + f.Every*time.Duration(max(0, f.Repeat-1)) + f.Jitter
		end = max(end, last+f.After+f.For+f.Leaves())
	}
	return end
}

// Takes returns about how long Make takes, on a machine with nothing else to do.
func (m *Matrix) Takes() (sum time.Duration) {
	cells := m.Cells()
	if !m.Real {
		return campaign.Simulating(len(cells) * m.Runs)
	}
	for _, c := range cells {
		o := c.Options(m.Seed)
		sum += time.Duration(m.Runs) * (o.Warmup + o.Duration)
	}
	return sum / realAtOnce
}

// Make makes the runs. If ctx is done, it returns the cells with the runs that there are, with the error of
// ctx.
func (m *Matrix) Make(ctx context.Context) ([]*Cell, error) {
	cells := m.Cells()
	done, all, workers := 0, len(cells)*m.Runs, runtime.GOMAXPROCS(0)
	if m.Real {
		workers = realAtOnce
	}
	one := func(number int) *Run {
		return m.run(ctx, cells[number/m.Runs], m.Seed+uint64(number%m.Runs))
	}
	runs := campaign.Each(ctx, workers, all, one, func(r *Run) {
		if done++; m.Progress != nil {
			m.Progress(done, all, r)
		}
	})
	for _, r := range runs {
		r.Cell.Runs = append(r.Cell.Runs, r)
	}
	return cells, ctx.Err()
}

// run makes a run of a cell: one of processes that is inconclusive once more, and then again.
func (m *Matrix) run(ctx context.Context, c *Cell, seed uint64) *Run {
	if !m.Real {
		return c.simulate(ctx, seed)
	}
	r := c.process(ctx, seed, m.Setup)
	for range again - 1 {
		if r.Shown != 0 || ctx.Err() != nil {
			break
		}
		r = c.process(ctx, seed, m.Setup)
	}
	return r
}

// simulate makes a run on virtual time.
func (c *Cell) simulate(ctx context.Context, seed uint64) *Run {
	r := &Run{Cell: c, Seed: seed}
	t, err := bench.Try(ctx, c.Spec, c.Options(seed))
	if err != nil {
		return r.failed(err)
	}
	r.Faults, r.Leaders = t.Rows, t.Measures.Leaders
	return r.judged(t.Verdict)
}

// process makes a run of processes.
func (c *Cell) process(ctx context.Context, seed uint64, s bench.Setup) *Run {
	r := &Run{Cell: c, Seed: seed}
	t, folder, err := campaign.MakeReal(ctx, c.Spec, c.Options(seed), s)
	if r.Folder = folder; err != nil {
		return r.failed(err)
	}
	r.Faults, r.Leaders = t.Faults, t.Measures.Leaders
	return r.judged(t.Verdict)
}

// failed says why a run could not be made.
func (r *Run) failed(err error) *Run {
	r.Err, r.Says = err, fmt.Sprintf("could not be made: %v", err)
	return r
}

func (r *Run) judged(v check.Verdict) *Run {
	r.Verdict = v
	r.Shown, r.Says = v.Shown()
	return r
}

// Wrong says what of a run must not be, if anything is: it shows what its row does not say, or nothing, or
// that an algorithm that is not known to be broken fails inside its model.
func (r *Run) Wrong() string {
	c := r.Cell
	switch inside := r.violatedInside(); {
	case inside != nil:
		return "violated inside its model: " + inside.Says
	case r.Shown == 0:
		return "inconclusive: " + r.Says
	case c.May.May == 0:
		return fmt.Sprintf("shows %v, and the row %q says nothing of it: %s", r.Shown, c.Spec.Name, r.Says)
	case c.May.May&r.Shown == 0:
		return fmt.Sprintf("shows %v, and not %v: %s", r.Shown, c.May.May, r.Says)
	}
	return ""
}

// violatedInside returns what an algorithm that is not known to be broken fails in inside its model; nil:
// nothing.
func (r *Run) violatedInside() *check.Finding {
	for i := range r.Verdict.Findings {
		if f := &r.Verdict.Findings[i]; r.Cell.Spec.Broken == "" && f.Outcome == check.Violated && !f.OutsideModel {
			return f
		}
	}
	return nil
}

// Wrong returns the first run of a cell that is wrong, or nil.
func (c *Cell) Wrong() *Run {
	for _, r := range c.Runs {
		if r.Wrong() != "" {
			return r
		}
	}
	return nil
}

// Differs reports whether some run shows what the row does not say, rather than nothing.
func (c *Cell) Differs() bool {
	for _, r := range c.Runs {
		if r.Wrong() != "" && (r.Shown != 0 || r.violatedInside() != nil) {
			return true
		}
	}
	return false
}

// Shown returns all that the runs of a cell show.
func (c *Cell) Shown() (all nodes.Outcome) {
	for _, r := range c.Runs {
		all |= r.Shown
	}
	return all
}

// Check says which cells a row lacks, and which of its cells are none, if any are.
func Check(row *nodes.Spec) error {
	var lacks []string
	names := map[string]bool{}
	for _, p := range chaos.Plans() {
		names[p.Name] = false
	}
	for _, p := range chaos.ScenariosOf(row) {
		if _, known := row.FaultCell(p.Name); !known {
			lacks = append(lacks, p.Name)
		}
		names[p.Name] = true
	}
	if len(lacks) > 0 {
		return fmt.Errorf("the row %q lacks in Faults: %s: docs/adding-an-algorithm.md says what belongs there",
			row.Name, strings.Join(lacks, ", "))
	}
	said := map[string]bool{}
	for _, c := range row.Faults {
		wrong := ""
		switch suits, is := names[c.Fault]; {
		case !is:
			wrong = "is no plan of ours: orchestrator plans lists them"
		case !suits:
			wrong = "is not run with it: it has no such node or message, or is of the other kind"
		case said[c.Fault]:
			wrong = "is there twice"
		case c.May == 0:
			wrong = "says nothing that may be: May is empty"
		case c.Why == "":
			wrong = "has no reason: Why is empty"
		}
		if wrong != "" {
			return fmt.Errorf("the row %q, Faults, %s %s", row.Name, c.Fault, wrong)
		}
		said[c.Fault] = true
	}
	return nil
}
