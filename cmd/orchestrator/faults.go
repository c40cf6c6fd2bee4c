package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"turnstile/bench"
	"turnstile/internal/english"
	"turnstile/results"
)

// How many trials are drawn, and how many faults are listed. The files have all of them.
const (
	drawnTrials  = 3
	listedFaults = 12
)

// faults says what became of the faults that were asked for, and draws what they did to the run.
func (p *report) faults(s *bench.Summary) {
	p.faultWords(s)
	if len(s.Faults) == 0 {
		return // none began, or an older Turnstile made the run
	}
	p.printf("\n")
	for i := range s.Rows[:min(drawnTrials, len(s.Rows))] {
		p.timeline(s, i)
	}
	if more := len(s.Rows) - drawnTrials; more > 0 {
		p.printf("%s has %s\n\n", results.TimelineFile, english.Count(more, "more trial", "more trials"))
	}
	rows := byFault(s.Faults)
	p.faultTable(rows, len(s.Rows))
	p.printf("\n")
	p.leaderFaults(s)
	p.epochs(s, rows)
}

// faultWords says whether the faults that were asked for took place.
func (p *report) faultWords(s *bench.Summary) {
	if len(s.Record.Options.FaultTexts()) == 0 {
		return
	}
	for i, v := range s.Verdicts {
		name := "faults"
		if len(s.Verdicts) > 1 {
			name = fmt.Sprintf("in trial %d", s.Rows[i].Trial)
		}
		for _, f := range v.Findings {
			if f.Check == "faults" {
				p.line(name, "%s", f.Says)
			}
		}
	}
}

// timeline draws a trial, given its place in s.Rows.
func (p *report) timeline(s *bench.Summary, i int) {
	row := &s.Rows[i]
	var intervals []results.IntervalRow
	for _, in := range s.Timeline {
		if in.Trial == row.Trial {
			intervals = append(intervals, in)
		}
	}
	var faults []results.FaultRow
	for _, f := range s.Faults {
		if f.Trial == row.Trial {
			faults = append(faults, f)
		}
	}
	measured, _ := row.DurationS.Value()
	windows, bars := timelineOf(intervals, faults, measured, p.width).lines()
	if len(bars) == 0 {
		return
	}
	if len(s.Rows) > 1 {
		p.printf("trial %d\n", row.Trial)
	}
	for _, line := range windows {
		p.printf("%s\n", p.palette.paint(yellow, line))
	}
	for _, line := range bars {
		p.printf("%s\n", line)
	}
	p.printf("\n")
}

const faultFormat = "%-23s %8s %8s %8s %9s %9s %9s\n"

// byFault returns the rows of each fault, in the order of their numbers.
func byFault(faults []results.FaultRow) (rows [][]results.FaultRow) {
	sorted := slices.Clone(faults)
	slices.SortStableFunc(sorted, func(a, b results.FaultRow) int { return cmp.Compare(a.Number, b.Number) })
	for i, f := range sorted {
		if i == 0 || f.Number != sorted[i-1].Number {
			rows = append(rows, nil)
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], f)
	}
	return rows
}

// overTrials returns a figure of a fault over the trials.
func overTrials(rows []results.FaultRow, of func(*results.FaultRow) results.Figure) spread {
	figures := make([]results.Figure, len(rows))
	for i := range rows {
		figures[i] = of(&rows[i])
	}
	return spreadOf(figures)
}

// faultTable lists what each fault did, in medians over the trials.
func (p *report) faultTable(faults [][]results.FaultRow, trials int) {
	about := ""
	if trials > 1 {
		about = fmt.Sprintf("medians of %d trials", trials)
	}
	p.printf("%-23s %26s %19s %9s\n", about, "entries per second", "next entry after", "old rate")
	p.printf(faultFormat, "fault", "before", "during", "after", "its start", "its heal", "after it")
	for _, rows := range faults[:min(listedFaults, len(faults))] {
		median := func(of func(*results.FaultRow) results.Figure) results.Figure {
			return overTrials(rows, of).median
		}
		name := fmt.Sprintf("%d %s", rows[0].Number, rows[0].Fault)
		if utf8.RuneCountInString(name) > 23 {
			p.printf("%s\n", name)
			name = ""
		}
		p.printf(faultFormat, name,
			rate(median(func(r *results.FaultRow) results.Figure { return r.PerSBefore })),
			rate(median(func(r *results.FaultRow) results.Figure { return r.PerSDuring })),
			rate(median(func(r *results.FaultRow) results.Figure { return r.PerSAfter })),
			seconds(median(func(r *results.FaultRow) results.Figure { return r.NextEntryS })),
			seconds(median(func(r *results.FaultRow) results.Figure { return r.HealedNextEntryS })),
			seconds(median(func(r *results.FaultRow) results.Figure { return r.OldRateS })))
		during := overTrials(rows, func(r *results.FaultRow) results.Figure { return r.RefusedDuring }).median
		after := overTrials(rows, func(r *results.FaultRow) results.Figure { return r.RefusedAfter }).median
		x, _ := during.Value()
		if y, _ := after.Value(); x+y > 0 {
			p.printf("  refused, so in no rate: %s while it lasted, %s after it\n", whole(during), whole(after))
		}
	}
	if more := len(faults) - listedFaults; more > 0 {
		p.printf("%s has %s\n", results.FaultsFile, english.Count(more, "more fault", "more faults"))
	}
	p.lacking(faults[:min(listedFaults, len(faults))])
}

// lacking says why figures of the faults that are listed are missing.
func (p *report) lacking(faults [][]results.FaultRow) {
	var why []string
	say := func(is bool, reason string) {
		if is && !slices.Contains(why, reason) {
			why = append(why, reason)
		}
	}
	for _, rows := range faults {
		for i := range rows {
			r := &rows[i]
			say(!r.PerSBefore.Known() || !r.PerSDuring.Known() || !r.PerSAfter.Known(), "no such phase was measured")
			say(!r.Healed, "it is not healed")
			say(r.Healed && r.HealedNextEntryS.Known() && !r.OldRateS.Known(), "the old rate did not come back")
		}
	}
	if len(why) > 0 {
		p.printf("%s: %s\n", missing, strings.Join(why, ", or "))
	}
}
