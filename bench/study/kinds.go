package study

import (
	"context"
	"fmt"
	"time"

	"turnstile/bench"
	"turnstile/bench/plans"
	"turnstile/bench/runs"
	"turnstile/internal/figure"
	"turnstile/judge/check"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/workload"
	"turnstile/results"
)

// A kind says how studies make and judge the runs of one kind of algorithms.
type kind struct {
	// cell completes the options of a run of the matrix; figures fills its algorithm of matrix.csv.
	cell    func(c *Cell, o *bench.Options)
	figures func(c *Cell, out *results.MatrixRow)
	// line completes the options of a run that shows a known failure of a service; shown reads what the run
	// shows.
	line  func(l *ServiceLine, o *bench.Options)
	shown func(r *ServiceRun, t *runs.TrialResult)
	// drawLoad draws the load of a run of a hunt.
	drawLoad func(l *ServiceLine, d *plans.Draws, s *ServiceSubject)
	// needsCalm is set if no failure is judged while faults last and for some time after them.
	needsCalm bool
	// failover completes the options of a run that measures a failover. Next reads the time from the run, or
	// returns why the run does not count.
	failover func(c *FailoverCase, o *bench.Options)
	next     func(run *runs.Run, t *runs.TrialResult) (next figure.Figure, why string)
	// The grid of runs without faults: its holds, its loads, and how many entries each node makes; 0 entries:
	// the run lasts as long as an election may take.
	holds   []time.Duration
	loads   []workload.Workload
	entries func(nodeCount int) uint64
	// tries are the loads without faults under which a program is tried. ttl is the time to live of locks of its
	// service, or 0. strikes are faults of clients of services, where LONG stands for more than that time, and
	// outlasted are faults that a holder is inside through as well.
	tries              func(ttl time.Duration) []triedLoad
	strikes, outlasted []string
	// progress returns what the progress of an algorithm rests on.
	progress func(spec *algorithm.Algorithm) nodes.Assumption
	// about describes the load of a run of the grid.
	about func(o *bench.Options) string
	// reproduce makes the runs for a published figure.
	reproduce func(r *Reproduced, ctx context.Context, seed uint64) error
}

// studyOf returns the kind of an algorithm.
func studyOf(spec *algorithm.Algorithm) *kind { return nodes.OfKind(kinds, check.ProblemOf(spec).Kind) }

// kinds maps the kind of algorithms to how they are studied. Failure detectors run beside an algorithm, and
// are studied like it, except for their published figures.
var kinds = map[nodes.Kind]*kind{
	nodes.MutualExclusion: {
		reproduce: (*Reproduced).reproduceEntries,
		cell:      func(*Cell, *bench.Options) {}, figures: (*Cell).entryFigures,
		line: (*ServiceLine).entries, shown: (*ServiceRun).entriesShown,
		failover: (*FailoverCase).entries, next: nextEntry,
		drawLoad: (*ServiceLine).drawLoad,
		holds:    []time.Duration{0, 100 * time.Microsecond, 1500 * time.Millisecond},
		loads: []workload.Workload{{Load: workload.Saturated}, {Load: workload.One}, {Load: workload.Sequential},
			{Load: workload.Closed}, {Load: workload.Open}},
		tries: loadsTried, strikes: holderStruck, outlasted: holderStays,
		progress: func(spec *algorithm.Algorithm) nodes.Assumption { return spec.Safe | spec.Live },
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
	nodes.Election: {
		reproduce: (*Reproduced).reproduceElections,
		cell:      (*Cell).elections, figures: (*Cell).leaderFigures,
		line: (*ServiceLine).elections, shown: (*ServiceRun).leadersShown,
		failover: (*FailoverCase).elections, next: nextLeader,
		needsCalm: true, drawLoad: func(*ServiceLine, *plans.Draws, *ServiceSubject) {},
		holds: []time.Duration{0},
		loads: []workload.Workload{{Load: workload.Campaign, Initiators: workload.AllInitiate},
			{Load: workload.Campaign, Initiators: workload.LowestInitiates},
			{Load: workload.Campaign, Initiators: workload.HighestInitiate}},
		tries: electionsTried, strikes: leaderStruck,
		progress: func(spec *algorithm.Algorithm) nodes.Assumption { return spec.Live },
		entries:  func(int) uint64 { return 0 },
		about:    func(o *bench.Options) string { return fmt.Sprintf("initiators %s", o.Workload.Initiators) },
	},
	nodes.Detection: {reproduce: (*Reproduced).reproduceDetection},
}
