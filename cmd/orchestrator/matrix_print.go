package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"

	"turnstile/bench/experiment"
	"turnstile/chaos"
	"turnstile/internal/format"
	"turnstile/internal/terminal"
	"turnstile/judge/check"
	"turnstile/results"
)

// matrixColumns are how cells are printed, by the name that their problem has for columns.
var matrixColumns = map[string]struct {
	plans  func() []*chaos.Plan
	head   []any
	line   func(r *results.MatrixRow) []any
	legend string
}{
	"entries": {chaos.Scenarios, []any{"recovered", "next entry", "longest wait", "messages before", "during",
		"after", ""}, mutualLine,
		"L recovers, P starves some, B blocks all, X breaks exclusion, - is not hit, ? shows nothing, ! is wrong"},
	"elections": {chaos.Elections, []any{"recovered", "agreed", "no leader", "two leaders", ""}, electionLine,
		"L all agree on a leader, P some never do, B nobody leads, X two lead, - is not hit, ? shows nothing, " +
			"! is wrong"},
}

// printMatrix prints the cells of each problem, and what they show.
func printMatrix(out io.Writer, cells []*experiment.Cell, rows []results.MatrixRow) {
	for _, problem := range check.Problems {
		kind := matrixColumns[problem.Columns]
		var its []*experiment.Cell
		var t terminal.Table
		for i, c := range cells {
			if check.ProblemOf(c.Spec) != problem {
				continue
			}
			if its = append(its, c); len(its) == 1 || its[len(its)-2].Spec != c.Spec {
				t.Add(append([]any{c.Spec.Name, "may", "shown", "safe"}, kind.head...)...)
			}
			r, differs := &rows[i], ""
			if r.Differs {
				differs = "DIFFERS"
			}
			t.Add(slices.Concat([]any{r.Fault, r.May, r.Shown, share(r.Runs-r.Broke-r.Inconclusive, r.Runs),
				share(r.Recovered, r.Runs-r.Unhit)}, kind.line(r), []any{differs})...)
		}
		if len(its) > 0 {
			t.Print(out)
			fmt.Fprintln(out)
			printShown(out, its, kind.plans())
			fmt.Fprintf(out, "%s\n\n", kind.legend)
		}
	}
}

// share prints how many of all runs something holds for; "-": there are none.
func share(count, all int) string {
	if all == 0 {
		return "-"
	}
	switch count {
	case all:
		return "yes"
	case 0:
		return "no"
	}
	return fmt.Sprintf("%d of %d", count, all)
}

// mutualLine prints the figures of a cell of mutual exclusion.
func mutualLine(r *results.MatrixRow) []any {
	return []any{format.Seconds(r.NextEntryS), format.Seconds(r.WaitMaxS), format.Plain(r.MessagesBefore, 1),
		format.Plain(r.MessagesDuring, 1), format.Plain(r.MessagesAfter, 1)}
}

// electionLine prints the figures of a cell about leaders.
func electionLine(r *results.MatrixRow) []any {
	return []any{format.Seconds(r.AgreedS), format.Micros(r.LeaderlessUS), format.Micros(r.TwoLeadersUS)}
}

// printShown prints what cells show, a line for each plan and a column for each algorithm.
func printShown(out io.Writer, cells []*experiment.Cell, plans []*chaos.Plan) {
	t := terminal.Table{Head: []string{""}}
	var rows []*spec
	for _, c := range cells {
		if !slices.Contains(rows, c.Spec) {
			rows = append(rows, c.Spec)
			fmt.Fprintf(out, "%d %s\n", len(rows), c.Spec.Name)
			t.Head = append(t.Head, strconv.Itoa(len(rows)))
		}
	}
	for _, plan := range plans {
		says, is := make([]string, len(rows)), false
		for _, c := range cells {
			if c.Plan.Name != plan.Name || len(c.Runs) == 0 {
				continue
			}
			is = true
			at := slices.Index(rows, c.Spec)
			if says[at] = c.Shown().String(); c.Wrong() != nil {
				says[at] += "!"
			}
		}
		if is {
			t.Rows = append(t.Rows, append([]string{plan.Name}, says...))
		}
	}
	t.Print(out)
}
