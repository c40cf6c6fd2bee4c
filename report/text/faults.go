package text

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"turnstile/bench/runs"
	"turnstile/internal/english"
	"turnstile/internal/figure"
	"turnstile/internal/format"
	"turnstile/internal/terminal"
	"turnstile/judge/check"
	"turnstile/results"
)

// How many trials are drawn, and how many faults are listed. The result files have all trials and faults.
const (
	drawnTrials  = 3
	listedFaults = 12
)

// faults prints whether the faults of the run took place, and draws their effect on the run.
func (p *Report) faults(s *runs.Summary) {
	p.faultWords(s)
	if len(s.Faults) == 0 {
		return // no fault began
	}
	p.printf("\n")
	for i := range s.Rows[:min(drawnTrials, len(s.Rows))] {
		p.timeline(s, i)
	}
	if more := len(s.Rows) - drawnTrials; more > 0 {
		p.printf("%s has %s\n\n", results.TimelineFile, english.Count(more, "more trial", "more trials"))
	}
	rows := byFault(s.Faults)
	p.faultsTable(rows, len(s.Rows))
	p.printf("\n")
	p.leaderFaults(s)
	p.epochs(s, rows)
}

// faultWords prints whether the requested faults took place.
func (p *Report) faultWords(s *runs.Summary) {
	if len(s.Record.Options.FaultTexts()) == 0 {
		return
	}
	for i, v := range s.Verdicts {
		name := "faults"
		if len(s.Verdicts) > 1 {
			name = fmt.Sprintf("in trial %d", s.Rows[i].Trial)
		}
		p.line(name, "%s", v.About(check.AboutFaults).Says)
	}
}

// timeline draws the trial whose index in s.Rows is i.
func (p *Report) timeline(s *runs.Summary, i int) {
	row := &s.Rows[i]
	intervals := ofTrial(s.Timeline, row.Trial, func(r *results.IntervalRow) int { return r.Trial })
	faults := ofTrial(s.Faults, row.Trial, func(r *results.FaultRow) int { return r.Trial })
	measured, _ := row.DurationS.Value()
	windows, bars := timelineOf(intervals, faults, measured, p.width).lines()
	if len(bars) == 0 {
		return
	}
	if len(s.Rows) > 1 {
		p.printf("trial %d\n", row.Trial)
	}
	for _, line := range windows {
		p.printf("%s\n", p.palette.Paint(terminal.Yellow, line))
	}
	for _, line := range bars {
		p.printf("%s\n", line)
	}
	p.printf("\n")
}

const faultFormat = "%-23s %8s %8s %8s %9s %9s %9s\n"

// byFault groups the rows by fault, in the order of the numbers of the faults.
func byFault(faults []results.FaultRow) (rows []faultTable) {
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

// faultsTable lists the effect of each fault, in medians over the trials.
func (p *Report) faultsTable(faults []faultTable, trials int) {
	about := ""
	if trials > 1 {
		about = fmt.Sprintf("medians of %d trials", trials)
	}
	p.printf("%-23s %26s %19s %9s\n", about, "entries per second", "next entry after", "old rate")
	p.printf(faultFormat, "fault", "before", "during", "after", "its start", "its heal", "after it")
	for _, rows := range faults[:min(listedFaults, len(faults))] {
		median := func(column results.Column) figure.Figure { return rows.of(column).median }
		name := fmt.Sprintf("%d %s", rows[0].Number, rows[0].Fault)
		if utf8.RuneCountInString(name) > 23 {
			p.printf("%s\n", name)
			name = ""
		}
		p.printf(faultFormat, name,
			format.Rate(median(results.EntriesBeforePerS)), format.Rate(median(results.EntriesDuringPerS)),
			format.Rate(median(results.EntriesAfterPerS)), format.Seconds(median(results.NextEntryS)),
			format.Seconds(median(results.HealedNextEntryS)), format.Seconds(median(results.OldRateS)))
		back, healed := 0, 0 // trials in which the old rate came back, and in which somebody entered after the heal
		for i := range rows {
			if r := &rows[i]; r.Healed && r.HealedNextEntryS.Known() {
				if healed++; r.OldRateS.Known() {
					back++
				}
			}
		}
		if back > 0 && back < healed {
			p.printf("  the old rate came back in %d of %d trials\n", back, healed)
		}
		during, after := median(results.RefusedDuring), median(results.RefusedAfter)
		x, _ := during.Value()
		if y, _ := after.Value(); x+y > 0 {
			p.printf("  entries that the resource refused: %s during the fault, %s after it; no rate counts them\n",
				format.Whole(during), format.Whole(after))
		}
	}
	if more := len(faults) - listedFaults; more > 0 {
		p.printf("%s has %s\n", results.FaultsFile, english.Count(more, "more fault", "more faults"))
	}
	p.lacking(faults[:min(listedFaults, len(faults))])
}

// lacking explains why some figures of the listed faults are missing.
func (p *Report) lacking(faults []faultTable) {
	var why []string
	say := func(is bool, reason string) {
		if is && !slices.Contains(why, reason) {
			why = append(why, reason)
		}
	}
	for _, rows := range faults {
		for i := range rows {
			r := &rows[i]
			say(slices.ContainsFunc(r.PerS[:], func(f figure.Figure) bool { return !f.Known() }),
				"no such phase was measured")
			say(!r.Healed, "it is not healed")
			say(r.Healed && r.HealedNextEntryS.Known() && !r.OldRateS.Known(), "the old rate did not come back")
		}
	}
	if len(why) > 0 {
		p.printf("%s: %s\n", format.Missing, strings.Join(why, ", or "))
	}
}
