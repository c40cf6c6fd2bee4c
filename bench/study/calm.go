package study

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"time"

	"turnstile/bench"
	"turnstile/internal/chance"
	"turnstile/judge/check"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/workload"
	"turnstile/option"
)

// A Calm is a grid of runs without faults: each sound algorithm, with each of its electors and detectors, for
// each number of nodes, latency, hold and load. A run ends after some entries of each node or, for an
// elector, after the time of an election. No run may be violated. A run may be inconclusive only if a note
// before the run says why.
type Calm struct {
	cells []cell
}

// A cell is a run of the grid.
type cell struct {
	spec *algorithm.Algorithm
	// elector and detector beside the algorithm; empty: no elector, and the algorithm's own detector
	elect, detector string
	n               int
	latency, hold   time.Duration
	load            workload.Workload // has initiators if the algorithm elects
}

// Sizes of clusters, latencies and detectors in the grid.
var (
	calmSizes     = []int{1, 2, 3, 5, 9, 32, 64}
	calmLatencies = []time.Duration{0, time.Millisecond, 20 * time.Millisecond, 100 * time.Millisecond,
		500 * time.Millisecond, 2 * time.Second}
	calmDetectors = []string{"heartbeat", "probe", "phi", "swim", "perfect"}
)

// CalmNodes is the size of the largest clusters of the grid. Clusters with another detector or elector than
// the algorithm's have at most mostBeside nodes. A run ends after someEntries of each node, or after
// fewEntries if it has manyNodes nodes or more.
const (
	CalmNodes   = 64
	mostBeside  = 9
	manyNodes   = 32
	fewEntries  = 3
	someEntries = 20
)

// CalmForEach is the least number of runs per algorithm, unless the user asks for a number.
const CalmForEach = 60

// CalmOf returns the grid of the sound ones among algorithms of mutual exclusion and election, for up to
// mostNodes nodes.
func CalmOf(algos []*algorithm.Algorithm, mostNodes int) (g Calm) {
	algos = slices.DeleteFunc(slices.Clone(algos),
		func(algo *algorithm.Algorithm) bool { return algo.Flaw != nil })
	for _, algo := range algos {
		g.add(cell{spec: algo}, mostNodes)
		if algo.Detects != "" {
			for _, detector := range calmDetectors {
				g.add(cell{spec: algo, detector: detector}, min(mostNodes, mostBeside))
			}
		}
		if algo.Follows {
			for _, elector := range byKind(algos)[nodes.Election] {
				g.add(cell{spec: algo, elect: elector.Name}, min(mostNodes, mostBeside))
			}
		}
	}
	return g
}

// Cells returns the number of runs.
func (g *Calm) Cells() int { return len(g.cells) }

// add adds a run for each number of nodes, latency, hold and load.
func (g *Calm) add(c cell, mostNodes int) {
	of := studyOf(c.spec)
	for _, c.n = range calmSizes {
		if c.n > mostNodes {
			break
		}
		for _, c.latency = range calmLatencies {
			for _, c.hold = range of.holds {
				for _, c.load = range of.loads {
					g.cells = append(g.cells, c)
				}
			}
		}
	}
}

// Fewest returns the number of runs that gives each algorithm CalmForEach runs.
func (g *Calm) Fewest() int {
	algos := map[*algorithm.Algorithm]bool{}
	for i := range g.cells {
		algos[g.cells[i].spec] = true
	}
	return CalmForEach * len(algos)
}

// Run makes the runs from first to last-1 in an order that is drawn by the seed, and in which algorithms take
// turns. From 0 to Cells, Run makes all runs. If ctx is done, Run returns the results so far, with the error
// of ctx.
func (g *Calm) Run(ctx context.Context, e *Experiment, first, last int) ([]*Result, error) {
	order := g.order(e.Seed)[first:min(last, len(g.cells))]
	return made(e.run(ctx, runtime.GOMAXPROCS(0), len(order), 0, len(order), func(number int) *Case {
		j, err := g.cells[order[number]].job(e)
		return &Case{Job: j, Err: err, Expect: (*Result).expectCalm}
	})), e.ended(ctx)
}

// order returns the indices of all cells. Algorithms take turns, each with its cells in an order drawn by the
// seed.
func (g *Calm) order(seed uint64) []int {
	dice, order := chance.Dice(seed), make([]int, len(g.cells))
	for i := range order {
		order[i] = i
	}
	drawn := func(i int) uint64 { return dice.Bits(chance.Roll{Purpose: chance.ForCalm, Count: uint64(i)}) }
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(drawn(a), drawn(b)) })
	turn, turns := make([]int, len(order)), map[*algorithm.Algorithm]int{}
	for _, i := range order {
		turns[g.cells[i].spec]++
		turn[i] = turns[g.cells[i].spec]
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(turn[a], turn[b]) })
	return order
}

// expectCalm expects that a run without faults is valid, unless a note before the run says why it may not be.
func (r *Result) expectCalm() {
	switch r.Leaders, r.Faults = nil, nil; {
	case r.Err != nil:
		r.Wrong = r.Says
	case r.Verdict.Outcome == check.Violated:
		r.Wrong = "VIOLATED without faults: " + r.Verdict.Reason
	case len(r.TooShort()) > 0, r.Verdict.Outcome == check.Overloaded:
	case r.Verdict.Outcome != check.Valid:
		r.Wrong = fmt.Sprintf("%v without faults, and no remark warned of it before the run: %s", r.Verdict.Outcome,
			r.Verdict.Reason)
	case r.Suspected > 0:
		r.Wrong = fmt.Sprintf("%d suspicions of nodes that were up, and no remark warned of them before the run",
			r.Suspected)
	}
}

// job returns the run of a cell.
func (c *cell) job(e *Experiment) (*bench.Job, error) {
	o := option.Defaults()
	o.Seed, o.Workload, o.Warmup, o.WarmupLimit = e.Seed, c.load, 0, 0
	o.Workload.Receive = e.Receive
	o.Config = nodes.Config{N: c.n, Elect: c.elect}
	o.Detector, o.Latency = c.detector, chance.Constant(c.latency)
	o.Duration, o.Entries = 0, studyOf(c.spec).entries(c.n)
	if c.load.Load != workload.One { // under load one, only node 0 enters
		o.Entries *= uint64(c.n)
	}
	turn := 2*c.latency + 10*time.Microsecond // at zero latency, a token circulates 10,000 times in 10us
	switch o.Workload.Hold = chance.Constant(c.hold); c.load.Load {
	case workload.Closed:
		o.Workload.Think = chance.Constant(turn)
	case workload.Open:
		o.Workload.Rate = 1 / (turn + c.hold/1000).Seconds()
	}
	d, err := bench.NewDraft(e.Known, o, c.spec, true)
	if err == nil && d.Entries == 0 {
		takes := d.Unchecked().Stack.Grace()
		if takes == 0 {
			takes = electionHops * time.Duration(c.n) * c.latency
		}
		d.Duration = time.Second + takes/4*5
	}
	return d.Resolve()
}

// electionHops is how many message delays an election takes at most, per node, if its algorithm has no
// timeouts. Other algorithms have a grace instead.
const electionHops = 64

// String returns the algorithm of a run, its nodes, its load and its latency.
func (r *Result) String() string {
	o := &r.Options
	return fmt.Sprintf("%s, %d nodes, latency %v, ", r.Spec.Name, o.Config.N, o.Latency) +
		studyOf(r.Spec).about(o)
}
