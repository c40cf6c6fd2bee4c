package text

import (
	"fmt"

	"turnstile/bench"
	"turnstile/bench/runs"
	"turnstile/internal/format"
	"turnstile/nodes"
	"turnstile/nodes/workload"
	"turnstile/option"
	"turnstile/results"
)

// A kind says how to print runs of one kind of algorithm.
type kind struct {
	columns [4]trialColumn // the figures in the line of a trial
	// lasts says for how long a run is measured, and after what warm-up.
	lasts   func(measured, warmup string) string
	figures func(*Report, *runs.Summary, table)
}

// kinds says, by kind of algorithm, how runs are printed. Runs of other kinds are printed like those of
// mutual exclusion.
var kinds = map[nodes.Kind]kind{
	nodes.MutualExclusion: {
		[4]trialColumn{{"entries/s", results.EntriesPerS, format.Rate},
			{"wait p50", results.WaitUSP50, format.Micros}, {"wait p99", results.WaitUSP99, format.Micros},
			{"messages/entry", results.MessagesPerEntry, format.Hundredths}},
		func(measured, warmup string) string {
			return fmt.Sprintf("measured for %s after a warm-up of %s", measured, warmup)
		},
		(*Report).entries,
	},
	nodes.Election: {
		[4]trialColumn{{"elections", results.Elections, format.Whole},
			{"elect p50", results.ElectUSP50, format.Micros},
			{"no leader", results.LeaderlessUS, format.Micros}, {"two leaders", results.TwoLeadersUS, format.Micros}},
		func(measured, _ string) string { return measured },
		(*Report).leaders,
	},
}

func kindOf(j *bench.Job) kind { return nodes.OfKind(kinds, j.Problem.Kind) }

// trialColumns returns the figures in the line of a trial.
func trialColumns(row *results.Row) [4]trialColumn {
	return nodes.OfKind(kinds, workload.Load(row.Text(option.LoadColumn)).Kind()).columns
}
