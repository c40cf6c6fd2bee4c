package study

import (
	"cmp"
	"context"
	"runtime"
	"time"

	"turnstile/algorithms/catalog"
	"turnstile/bench/runs"
	"turnstile/internal/figure"
	"turnstile/nodes"
	"turnstile/nodes/row"
	"turnstile/nodes/workload"
	"turnstile/results"
)

// An Experiment has the rows to run, and settings for all runs.
type Experiment struct {
	Rows  []*row.Row
	Known catalog.Table // rows that may run beside Rows
	Seed  uint64
	Setup runs.Setup // for the runs of processes
	// Receive is how applications receive messages in drawn runs.
	Receive workload.Receive
	// Progress is called after each run, from several goroutines, one at a time; it may be nil.
	Progress func(done, all int, r *Result)

	unwritten error // why results can be written no more, which ends the study
}

// ended returns why the study has ended early: results cannot be written, or ctx is done.
func (e *Experiment) ended(ctx context.Context) error { return cmp.Or(e.unwritten, ctx.Err()) }

// stops reports whether the run of a result ends the study.
func (e *Experiment) stops(r *Result) bool {
	if results.Unwritable(r.Err) {
		e.unwritten = cmp.Or(e.unwritten, r.Err)
	}
	return e.unwritten != nil
}

// simulating returns about how long simulated runs take on this machine: 3 ms of CPU time each, as measured
// in runs of chaos and matrix.
func simulating(count int) time.Duration {
	return time.Duration(count) * 3 * time.Millisecond / time.Duration(runtime.GOMAXPROCS(0))
}

// latency is the latency of messages in simulations.
const latency = time.Millisecond

// byKind groups rows by the kind of their machines.
func byKind(rows []*row.Row) map[nodes.Kind][]*row.Row {
	of := map[nodes.Kind][]*row.Row{}
	for _, row := range rows {
		of[row.Kind] = append(of[row.Kind], row)
	}
	return of
}

// entryFigures computes for how long two clients were inside at once.
func (c *Cell) entryFigures(out *results.MatrixRow) {
	for _, r := range c.Runs {
		out.OverlapUS = figure.Max(out.OverlapUS, figure.Number(float64(r.Verdict.Overlap.Nanoseconds())/1e3))
	}
}

// leaderFigures computes for how long two nodes led, or no node, and when all agreed again.
func (c *Cell) leaderFigures(out *results.MatrixRow) {
	for _, r := range c.Runs {
		if r.Err == nil {
			out.TwoLeadersUS = figure.Max(out.TwoLeadersUS, figure.Number(float64(r.Leaders.TwoLeaders)/1e3))
		}
	}
	out.AgreedS = c.median((*Result).agreed)
	out.LeaderlessUS = c.median(func(r *Result) figure.Figure {
		return figure.Number(float64(r.Leaders.Leaderless) / 1e3)
	})
}
