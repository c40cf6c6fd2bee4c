package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"turnstile/bench/compare"
	"turnstile/bench/experiment"
	"turnstile/bench/option"
	"turnstile/internal/english"
	"turnstile/internal/format"
	"turnstile/internal/terminal"
	"turnstile/judge/check"
	"turnstile/results"
)

// findRate is the value of --rate by which a sweep looks for the highest rate.
const findRate = "find"

// trialsOfRates is how many trials a search for a rate has unless the user says otherwise: the median of
// fewer has no interval.
const trialsOfRates = 6

// resolveOwn completes and checks the settings of the sweep itself.
func (c *sweepCall) resolveOwn(g *grid, s settings) error {
	finding, fixed := 0, 0
	for _, p := range g.parts {
		if rates := p.lists["rate"]; slices.Contains(rates, findRate) {
			if finding++; len(rates) > 1 {
				others := slices.DeleteFunc(slices.Clone(rates), func(r string) bool { return r == findRate })
				return fmt.Errorf("--rate: %s stands alone: leave out %s", findRate, strings.Join(others, ", "))
			}
			if len(p.lists["entries"]) > 0 {
				return errors.New("--entries: what is served at a rate is measured for a --duration: " +
					"leave out --entries")
			}
		} else {
			fixed++
		}
	}
	c.find = finding > 0
	switch {
	case c.find && fixed > 0:
		return fmt.Errorf("rate: %s: all parts look for it, or none does: make two sweeps", findRate)
	case !c.find && s.given("wait-bound"):
		return fmt.Errorf("--wait-bound is about the highest rate that is served: give --rate %s too, or leave it "+
			"out", findRate)
	case c.WaitBound < 0:
		return fmt.Errorf("--wait-bound: %v: write a time such as 100ms", c.WaitBound)
	case c.find && !s.given("trials") && !c.trialsInFile:
		c.Trials = trialsOfRates
	}
	if c.Trials < 1 {
		return fmt.Errorf("--trials: %d: write a number from 1", c.Trials)
	}
	return nil
}

// tellRates says what the highest rates are.
func (a *app) tellRates(c *sweepCall, runs []*experiment.Result, err error) error {
	for _, r := range runs {
		if r.Err != nil {
			fmt.Fprintf(a.stderr, "orchestrator: a run %s\n", r.Says)
			a.status = max(a.status, check.Inconclusive.ExitCode())
		}
	}
	rows := c.Rates()
	if len(runs) > 0 {
		fmt.Fprintf(a.stdout, "%s.\n", english.Count(len(runs), "run", "runs"))
	} else if err == nil {
		fmt.Fprintln(a.stdout, "0 runs: the set has them all.")
	}
	fmt.Fprintln(a.stdout)
	a.printRates(c, rows)
	if len(rows) < len(c.Cells) {
		a.status = max(a.status, check.Inconclusive.ExitCode())
	}
	for i := range rows {
		switch {
		case rows[i].LimitedBy == experiment.LimitViolation:
			a.status = check.Violated.ExitCode()
		case !rows[i].Number(option.RateColumn).Known() && a.status == 0:
			a.status = check.Inconclusive.ExitCode()
		}
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		return failure{err, unwritten}
	}
	folder := filepath.Join(c.Setup.Results, c.Setup.Set)
	fmt.Fprintf(a.stdout, "The table is %s; the runs are in %s.\n", filepath.Join(folder, results.RatesFile),
		filepath.Join(folder, results.RowsFile))
	if err != nil {
		fmt.Fprintln(a.stdout, "interrupted: the same command goes on with what is left")
		a.status = cmp.Or(a.status, check.Inconclusive.ExitCode())
	}
	return nil
}

// printRates prints a line for each configuration: its algorithm, nodes and latency, what else they differ
// in, and its highest rate.
func (a *app) printRates(c *sweepCall, rows []results.RateRow) {
	if len(rows) == 0 {
		fmt.Fprintln(a.stdout, "No search has ended.")
		return
	}
	asked := make([]results.Row, len(rows))
	trials := make([]*compare.Trial, len(rows))
	for i := range rows {
		asked[i].Asked = rows[i].Asked
		trials[i] = &compare.Trial{Row: asked[i]}
	}
	columns := []string{"algorithm", "nodes", "latency"}
	for _, column := range results.AskedColumns(compare.OptionColumns(trials)...) {
		differs := slices.ContainsFunc(asked, func(r results.Row) bool {
			return r.Text(column) != asked[0].Text(column)
		})
		if differs && column != option.RateColumn && !slices.Contains(columns, column) {
			columns = append(columns, column)
		}
	}
	var t terminal.Table
	for _, column := range append(slices.Clone(columns), "per node", "in total", "interval", "limited by") {
		t.Head = append(t.Head, strings.ToUpper(column))
	}
	var notes []string
	for i, r := range rows {
		var cells []any
		for _, column := range columns {
			cells = append(cells, cmp.Or(asked[i].Text(column), format.Missing))
		}
		interval := format.Missing
		if r.LowPerS.Known() {
			interval = format.Rate(r.TotalLowPerS) + " to " + format.Rate(r.TotalHighPerS)
		}
		t.Add(append(cells, format.Rate(r.Number(option.RateColumn)), format.Rate(r.TotalPerS), interval,
			r.LimitedBy)...)
		for _, note := range []string{intervalNote(&r), rateNote(&r)} {
			if note != "" && !slices.Contains(notes, note) {
				notes = append(notes, note)
			}
		}
	}
	t.Print(a.stdout)
	fmt.Fprintf(a.stdout, "\nRates are requests per second. %s\n", nextRate(rows, columns))
	for _, note := range notes {
		fmt.Fprintln(a.stdout, note)
	}
}

// nextRate says what becomes of the next rate: of several trials, some may serve it, since the rate is their
// median.
func nextRate(rows []results.RateRow, columns []string) string {
	const percent = 100 * (experiment.RateStep - 1)
	if !slices.ContainsFunc(rows, func(r results.RateRow) bool { return r.Trials > 1 }) {
		return fmt.Sprintf("The next rate, %.0f%% higher, is not served.", percent)
	}
	text := fmt.Sprintf("They are medians of the trials, each of which does not serve what is %.0f%% higher "+
		"than its own.", percent)
	for i := range rows {
		trials := strings.Fields(rows[i].ServedNext)
		if len(trials) == 0 {
			continue
		}
		asked := results.Row{Asked: rows[i].Asked}
		var words []string
		for _, column := range columns {
			words = append(words, column+" "+cmp.Or(asked.Text(column), format.Missing))
		}
		text += fmt.Sprintf("\nA rate %.0f%% higher is served in %s of %d: %s.", percent,
			trialWords(trials), rows[i].Trials, strings.Join(words, ", "))
	}
	return text
}

// trialWords names trials: trials 2 and 5.
func trialWords(numbers []string) string {
	if len(numbers) == 1 {
		return "trial " + numbers[0]
	}
	return "trials " + english.List(numbers)
}

// intervalNote says what the interval of a rate is.
func intervalNote(r *results.RateRow) string {
	switch r.Interval {
	case experiment.IntervalOfMedian:
		return "The interval is that of the median, in total, of 95%."
	case experiment.IntervalOfAll:
		return fmt.Sprintf(
			"Of %s, the interval is from the least to the most, in total: that of a median takes %d.",
			english.Count(r.Trials, "trial", "trials"), trialsOfRates)
	}
	return ""
}

// rateNote explains what a rate is that is not plainly one.
func rateNote(r *results.RateRow) string {
	switch {
	case r.LimitedBy == experiment.LimitViolation:
		return fmt.Sprintf("violation: %s broke a promise, so it has no rate: verify names where", r.Algorithm)
	case r.LimitedBy == experiment.LimitUnknown:
		return "unknown: the run at the next rate shows nothing, so the rate may be higher: " + r.Reason
	case !r.Number(option.RateColumn).Known():
		return "No rate: not even the least that is probed is served, 20 requests in the window: " +
			"try a longer --duration."
	case r.LimitedBy == experiment.LimitCPU:
		return "cpu: the run was bound by the CPU, so another machine has another rate."
	case r.LimitedBy == experiment.LimitCap:
		return "cap: the highest rate that is probed is served, a million requests in the window."
	}
	return ""
}
