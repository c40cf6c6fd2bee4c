package main

import (
	"turnstile/bench"
	"turnstile/bench/measure"
	"turnstile/results"
)

// A together is what all trials of a run say together, as in the summary.
type together struct {
	Latencies map[string]object `json:"latencies"` // quantiles of the requests of all trials, in microseconds
	Figures   map[string]object `json:"figures"`   // by column of runs.csv: how the trials differ
}

// togetherOf returns what the trials of s say together. What no trial has measured is left out.
func togetherOf(s *bench.Summary) together {
	t := together{Latencies: map[string]object{}, Figures: map[string]object{}}
	for name, tag := range map[string]string{"wait": results.WaitTag, "queue": measure.QueueTag,
		"protocol": measure.ProtocolTag, "hold": measure.HoldTag,
		"sync_delay": measure.SynchronizationDelayTag} {
		all := measure.LatencyOf(s.Latencies, tag)
		if all.Hist == nil {
			continue
		}
		figures := map[string]results.Figure{}
		for _, q := range quantiles {
			figures["us_"+q.column] = all.MicrosAt(q.q)
		}
		t.Latencies[name] = objectOfFigures(figures)
		t.Latencies[name]["count"] = all.Count()
	}
	rows := table(s.Rows)
	for _, column := range figureColumns() {
		if of := rows.of(column); of.known > 0 {
			t.Figures[column] = objectOfFigures(map[string]results.Figure{
				"median": of.median, "least": of.least, "most": of.most})
			t.Figures[column]["trials"] = of.known
		}
	}
	return t
}

// figureColumns returns the columns of runs.csv that hold figures.
func figureColumns() (columns []string) {
	for header, cell := range results.Cells(results.Row{}) {
		if _, is := cell.(results.Figure); is {
			columns = append(columns, header)
		}
	}
	return columns
}
