package study

import (
	"fmt"
	"runtime"
	"time"

	"turnstile/bench"
	"turnstile/bench/runs"
	"turnstile/internal/figure"
	"turnstile/judge/check"
	"turnstile/nodes"
	"turnstile/nodes/row"
	"turnstile/nodes/workload"
	"turnstile/results"
)

// An Experiment says of which algorithms runs are made, and how.
type Experiment struct {
	Rows  []*row.Row
	Seed  uint64
	Setup runs.Setup // of the runs of processes
	// Receive is how applications receive messages in the runs that are drawn.
	Receive workload.Receive
	// Progress is called after each run, by several goroutines, one at a time; it may be nil.
	Progress func(done, all int, r *Result)
}

// simulating returns about how long so many simulated runs take on the processors of this machine: 3 ms of
// processor time each, as measured in runs of chaos and matrix.
func simulating(count int) time.Duration {
	return time.Duration(count) * 3 * time.Millisecond / time.Duration(runtime.GOMAXPROCS(0))
}

// latency is that of messages on virtual time.
const latency = time.Millisecond

// A study is how experiments make and judge the runs of a problem.
type study struct {
	// load draws what nodes do in a run of a campaign. It returns their stack, if plans depend on it.
	load func(d *drawn, o *bench.Options, spec *row.Row, real bool) (*row.Stack, error)
	// works are what clients do inside in runs of a campaign, in turn.
	works []workload.Work
	// catch is how many plans have to catch a row that is known to be broken by some faults alone.
	catch int
	// cell completes the options of a run of the matrix, and figures its row of matrix.csv.
	cell    func(c *Cell, o *bench.Options)
	figures func(c *Cell, out *results.MatrixRow)
	// line completes the options of a run that shows a known failure of a service, and shown says what the run
	// shows.
	line  func(l *ServiceLine, o *bench.Options)
	shown func(r *ServiceRun, t *runs.Trial)
	// failover completes the options of a run that measures a failover, and next reads the time off the run; why
	// says why the run does not count.
	failover func(c *FailoverCase, o *bench.Options)
	next     func(run *runs.Run, t *runs.Trial) (next figure.Figure, why string)
	// The grid of runs without faults: its holds and loads, and how many entries each node makes; 0: the run
	// lasts for as long as an election may take.
	holds   []time.Duration
	loads   []workload.Workload
	entries func(nodeCount int) uint64
	// about tells what the nodes of a run of the grid do.
	about func(o *bench.Options) string
}

// studyOf returns the study of the problem that an algorithm solves.
func studyOf(spec *row.Row) *study { return studies[check.ProblemOf(spec).Plans] }

// studies has the studies by what a check.Problem calls its plans.
var studies = map[string]*study{
	"exclusion": {
		load: (*drawn).entries, catch: enough, figures: (*Cell).entryFigures,
		works: []workload.Work{workload.Account, workload.File, workload.Printer, workload.Shares},
		cell:  func(*Cell, *bench.Options) {},
		line:  (*ServiceLine).entries, shown: (*ServiceRun).entriesShown,
		failover: (*FailoverCase).entries, next: nextEntry,
		holds: []time.Duration{0, 100 * time.Microsecond, 1500 * time.Millisecond},
		loads: []workload.Workload{{Load: workload.Saturated}, {Load: workload.One}, {Load: workload.Sequential},
			{Load: workload.Closed}, {Load: workload.Open}},
		entries: func(nodeCount int) uint64 {
			if nodeCount >= manyNodes {
				return fewEntries
			}
			return someEntries
		},
		about: func(o *bench.Options) (text string) {
			for _, beside := range [][2]string{{"elect", o.Config.Elect}, {"detector", o.Detector}} {
				if beside[1] != "" {
					text += beside[0] + " " + beside[1] + ", "
				}
			}
			return text + fmt.Sprintf("hold %v, %s load", o.Workload.Hold, o.Workload.Load)
		},
	},
	"election": {
		works: []workload.Work{workload.Account},
		load:  (*drawn).elections, catch: rarely, cell: (*Cell).elections, figures: (*Cell).leaderFigures,
		line: (*ServiceLine).elections, shown: (*ServiceRun).leadersShown,
		failover: (*FailoverCase).elections, next: nextLeader,
		holds: []time.Duration{0},
		loads: []workload.Workload{{Load: workload.Campaign, Initiators: workload.AllInitiate},
			{Load: workload.Campaign, Initiators: workload.LowestInitiates},
			{Load: workload.Campaign, Initiators: workload.HighestInitiate}},
		entries: func(int) uint64 { return 0 },
		about:   func(o *bench.Options) string { return fmt.Sprintf("initiators %s", o.Workload.Initiators) },
	},
}

// byKind returns rows by what their machines do.
func byKind(rows []*row.Row) map[nodes.Kind][]*row.Row {
	of := map[nodes.Kind][]*row.Row{}
	for _, row := range rows {
		of[row.Kind] = append(of[row.Kind], row)
	}
	return of
}

// entryFigures says for how long two were inside at once.
func (c *Cell) entryFigures(out *results.MatrixRow) {
	for _, r := range c.Runs {
		out.OverlapUS = greater(out.OverlapUS, figure.Number(float64(r.Verdict.Overlap.Nanoseconds())/1e3))
	}
}

// leaderFigures says for how long two led at once or nobody did, and when all agreed again.
func (c *Cell) leaderFigures(out *results.MatrixRow) {
	for _, r := range c.Runs {
		if r.Err == nil {
			out.TwoLeadersUS = greater(out.TwoLeadersUS, figure.Number(float64(r.Leaders.TwoLeaders)/1e3))
		}
	}
	out.AgreedS = c.median((*Result).agreed)
	out.LeaderlessUS = c.median(func(r *Result) figure.Figure {
		return figure.Number(float64(r.Leaders.Leaderless) / 1e3)
	})
}
