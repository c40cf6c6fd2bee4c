package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"turnstile/bench/experiment"
	"turnstile/chaos"
	"turnstile/internal/format"
	"turnstile/judge/check"
	"turnstile/results"
)

// matrixColumns are how cells are printed, by the name that their problem has for columns.
var matrixColumns = map[string]struct {
	plans  func() []*chaos.Plan
	head   string
	line   func(r *results.MatrixRow) string
	legend string
}{
	"entries": {chaos.Scenarios, "recovered\tnext entry\tlongest wait\tmessages per entry\t\n" +
		"\t\t\t\t\t\t\tbefore\tduring\tafter\t", mutualLine,
		"L recovers, P starves some, B blocks all, X breaks exclusion, - is not hit, ? shows nothing, ! is wrong"},
	"elections": {chaos.Elections, "recovered\tagreed\tno leader\ttwo leaders", electionLine,
		"L all agree on a leader, P some never do, B nobody leads, X two lead, - is not hit, ? shows nothing, " +
			"! is wrong"},
}

// printMatrix prints the cells of each problem, and what they show.
func printMatrix(out io.Writer, cells []*experiment.Cell, rows []results.MatrixRow) {
	for _, problem := range check.Problems {
		kind := matrixColumns[problem.Columns]
		var its []*experiment.Cell
		w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
		for i, c := range cells {
			if check.ProblemOf(c.Spec) != problem {
				continue
			}
			if its = append(its, c); len(its) == 1 || its[len(its)-2].Spec != c.Spec {
				fmt.Fprintf(w, "%s\tmay\tshown\tsafe\t%s\n", c.Spec.Name, kind.head)
			}
			r, differs := &rows[i], ""
			if r.Differs {
				differs = "DIFFERS"
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", r.Fault, r.May, r.Shown,
				share(r.Runs-r.Broke-r.Inconclusive, r.Runs), share(r.Recovered, r.Runs-r.Unhit), kind.line(r), differs)
		}
		if len(its) > 0 {
			w.Flush()
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
func mutualLine(r *results.MatrixRow) string {
	return fmt.Sprintf("%s\t%s\t%s\t%s\t%s", format.Seconds(r.NextEntryS), format.Seconds(r.WaitMaxS),
		format.Plain(r.MessagesBefore, 1), format.Plain(r.MessagesDuring, 1), format.Plain(r.MessagesAfter, 1))
}

// electionLine prints the figures of a cell about leaders.
func electionLine(r *results.MatrixRow) string {
	return fmt.Sprintf("%s\t%s\t%s", format.Seconds(r.AgreedS), format.Micros(r.LeaderlessUS),
		format.Micros(r.TwoLeadersUS))
}

// printShown prints what cells show, a line for each plan and a column for each algorithm.
func printShown(out io.Writer, cells []*experiment.Cell, plans []*chaos.Plan) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	var rows []*spec
	for _, c := range cells {
		if !slices.Contains(rows, c.Spec) {
			rows = append(rows, c.Spec)
			fmt.Fprintf(out, "%d %s\n", len(rows), c.Spec.Name)
			fmt.Fprintf(w, "\t%d", len(rows))
		}
	}
	fmt.Fprintln(w)
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
			fmt.Fprintf(w, "%s\t%s\n", plan.Name, strings.Join(says, "\t"))
		}
	}
	w.Flush()
}
