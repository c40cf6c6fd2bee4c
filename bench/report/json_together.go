package report

import (
	"strings"

	"turnstile/bench"
	"turnstile/internal/figure"
	"turnstile/judge/measure"
	"turnstile/results"
)

// A together is what all trials of a run say together, as in the summary.
type together struct {
	Latencies map[string]Object `json:"latencies"` // by tag of latency.hlog: quantiles, in microseconds
	Figures   map[string]Object `json:"figures"`   // by column of runs.csv: how the trials differ
}

// togetherOf returns what the trials of s say together. What no trial has measured is left out.
func togetherOf(s *bench.Summary) together {
	t := together{Latencies: map[string]Object{}, Figures: map[string]Object{}}
	for tag := range s.Latencies {
		if strings.HasSuffix(tag, measure.OpenSuffix) {
			continue // they are in the histogram of the tag without the suffix
		}
		all := measure.LatencyOf(s.Latencies, tag)
		figures := map[string]figure.Figure{}
		for _, q := range quantiles {
			figures["us_"+q.column] = all.MicrosAt(q.q)
		}
		t.Latencies[tag] = objectOfFigures(figures)
		t.Latencies[tag]["count"] = all.Count()
	}
	rows := table(s.Rows)
	for _, column := range figureColumns() {
		if of := rows.of(results.Column(column)); of.known > 0 {
			t.Figures[column] = objectOfFigures(map[string]figure.Figure{
				"median": of.median, "least": of.least, "most": of.most})
			t.Figures[column]["trials"] = of.known
		}
	}
	return t
}

// figureColumns returns the columns of runs.csv that hold figures.
func figureColumns() (columns []string) {
	for header, cell := range results.Cells(results.Row{}) {
		if _, is := cell.(figure.Figure); is {
			columns = append(columns, header)
		}
	}
	return columns
}
