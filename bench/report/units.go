package report

import (
	"slices"

	"turnstile/bench"
	"turnstile/internal/english"
	"turnstile/internal/figure"
	"turnstile/internal/format"
	"turnstile/judge/measure"
	"turnstile/results"
)

// units says how many units of the resource were taken at once, where it has several.
func (p *Report) units(s *bench.Summary, t table) {
	if t.known(results.UnitsTakenMax) {
		p.line("units", "%s of %d taken on average, at most %s",
			t.of(results.UnitsTakenMean).text(format.Hundredths),
			s.Record.Options.Config.Capacity(), t.of(results.UnitsTakenMax).text(format.Whole))
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
	taken figure.Figure // share of the window; of resources
	measure.OfGroup
}

// divided prints, for each number of units that requests took and for each of several resources, how often
// requests entered, how long they waited, and how often later requests entered before them.
func (p *Report) divided(s *bench.Summary, t table) {
	sizes := divided{by: "by size", file: results.SizesFile}
	for _, r := range s.Sizes {
		sizes.rows = append(sizes.rows, dividedRow{trial: r.Trial, name: english.Count(r.Units, "unit", "units"),
			OfGroup: r.OfGroup})
	}
	resources := divided{by: "by resource", file: results.ResourcesFile}
	for _, r := range s.Resources {
		resources.rows = append(resources.rows,
			dividedRow{r.Trial, s.Record.Options.ResourceName(r.Resource), r.Utilisation, r.OfGroup})
	}
	p.groups(sizes, t)
	p.groups(resources, t)
}

// A groupColumn is one of those of such a table. Unless it is always there, it is if any row has a number.
type groupColumn struct {
	name   string
	width  int
	always bool
	of     func(r *dividedRow) figure.Figure
	text   func(figure.Figure) string
}

var groupColumns = []groupColumn{
	{"entries", 10, true, func(r *dividedRow) figure.Figure { return r.Entries }, format.Whole},
	{"unserved", 10, true, func(r *dividedRow) figure.Figure { return r.Unserved }, format.Whole},
	{"wait p50", 10, true, func(r *dividedRow) figure.Figure { return r.WaitUSP50 }, format.Micros},
	{"wait p99", 10, true, func(r *dividedRow) figure.Figure { return r.WaitUSP99 }, format.Micros},
	{"wait max", 10, true, func(r *dividedRow) figure.Figure { return r.WaitUSMax }, format.Micros},
	{"overtaken max", 14, true, func(r *dividedRow) figure.Figure { return r.OvertakenMax }, format.Whole},
	{"taken", 8, false, func(r *dividedRow) figure.Figure { return r.taken }, format.FinePercent},
	{"unissued", 10, false, func(r *dividedRow) figure.Figure { return r.Unissued }, format.Whole},
}

// groups prints such a table.
func (p *Report) groups(d divided, t table) {
	const mostTrials = 3
	if len(d.rows) == 0 {
		return
	}
	columns := slices.DeleteFunc(slices.Clone(groupColumns), func(c groupColumn) bool {
		return !c.always && !slices.ContainsFunc(d.rows, func(r dividedRow) bool { return positive(c.of(&r)) })
	})
	p.printf("%-14s", d.by)
	for _, c := range columns {
		p.printf(" %*s", c.width, c.name)
	}
	p.printf("\n")
	for i := range t[:min(len(t), mostTrials)] {
		if len(t) > 1 {
			p.printf("  trial %d\n", t[i].Trial)
		}
		for _, z := range ofTrial(d.rows, t[i].Trial, func(r *dividedRow) int { return r.trial }) {
			p.printf("  %-12s", z.name)
			for _, c := range columns {
				p.printf(" %*s", c.width, c.text(c.of(&z)))
			}
			p.printf("\n")
		}
	}
	if more := len(t) - mostTrials; more > 0 {
		p.printf("  %s has %s\n", d.file, english.Count(more, "more trial", "more trials"))
	}
	p.printf("\n")
}
