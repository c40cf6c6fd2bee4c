package report

import (
	"fmt"

	"turnstile/bench"
	"turnstile/internal/english"
	"turnstile/internal/format"
	"turnstile/judge/measure"
	"turnstile/results"
)

// units says how many units of the resource were taken at once, where it has several.
func (p *Report) units(s *bench.Summary, t table) {
	if t.known("units_taken_max") {
		p.line("units", "%s of %d taken on average, at most %s", t.of("units_taken_mean").text(format.Hundredths),
			s.Record.Options.Config.Capacity(), t.of("units_taken_max").text(format.Whole))
	}
}

// A divided is a table of figures by groups of requests: a name and figures for each trial.
type divided struct {
	by, file string
	rows     []dividedRow
}

type dividedRow struct {
	trial int
	name  string
	measure.OfGroup
}

// divided prints, for each number of units that requests took and for each of several resources, how often
// requests entered, how long they waited, and how often later requests entered before them.
func (p *Report) divided(s *bench.Summary, t table) {
	sizes := divided{by: "by size", file: results.SizesFile}
	for _, r := range s.Sizes {
		sizes.rows = append(sizes.rows, dividedRow{r.Trial, english.Count(r.Units, "unit", "units"), r.OfGroup})
	}
	resources := divided{by: "by resource", file: results.ResourcesFile}
	for _, r := range s.Resources {
		resources.rows = append(resources.rows, dividedRow{r.Trial, fmt.Sprint(r.Resource), r.OfGroup})
	}
	p.groups(sizes, t)
	p.groups(resources, t)
}

// groups prints such a table.
func (p *Report) groups(d divided, t table) {
	const mostTrials = 3
	if len(d.rows) == 0 {
		return
	}
	p.printf("%-14s %10s %10s %10s %10s %10s %14s\n", d.by, "entries", "unserved", "wait p50", "wait p99",
		"wait max", "overtaken max")
	for i := range t[:min(len(t), mostTrials)] {
		if len(t) > 1 {
			p.printf("  trial %d\n", t[i].Trial)
		}
		for _, z := range ofTrial(d.rows, t[i].Trial, func(r *dividedRow) int { return r.trial }) {
			p.printf("  %-12s %10s %10s %10s %10s %10s %14s\n", z.name, format.Whole(z.Entries),
				format.Whole(z.Unserved), format.Micros(z.WaitUSP50), format.Micros(z.WaitUSP99),
				format.Micros(z.WaitUSMax), format.Whole(z.OvertakenMax))
		}
	}
	if more := len(t) - mostTrials; more > 0 {
		p.printf("  %s has %s\n", d.file, english.Count(more, "more trial", "more trials"))
	}
	p.printf("\n")
}
