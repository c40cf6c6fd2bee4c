package main

import (
	"fmt"
	"io"
	"strings"

	"turnstile/bench/experiment"
	"turnstile/nodes/row"
)

// outcomeNames are the names of outcomes in the packages of rows.
var outcomeNames = []struct {
	outcome row.Outcome
	name    string
}{{row.Recovers, "recovers"}, {row.Starves, "starves"}, {row.Blocks, "blocks"}, {row.Breaks, "breaks"},
	{row.Unhit, "unhit"}}

// printCells prints the cells that rows lack, or that differ from what these say, as Go: with every outcome
// that the row allows or a run has shown. The reasons are for their author to write.
func printCells(out io.Writer, cells []*experiment.Cell) {
	var rows []*spec
	of := map[*spec][]*experiment.Cell{}
	for _, c := range cells {
		if c.Wrong() == nil || c.Shown() == 0 {
			continue
		}
		if of[c.Spec] == nil {
			rows = append(rows, c.Spec)
		}
		of[c.Spec] = append(of[c.Spec], c)
	}
	for _, r := range rows {
		fmt.Fprintf(out, "Cells of %s that its row lacks, or that differ, with what was seen; write the reasons, "+
			"if these outcomes are right:\n", r.Name)
		for _, line := range cellLines(of[r]) {
			fmt.Fprintf(out, "\t%s\n", line)
		}
		fmt.Fprintln(out)
	}
}

// cellLines returns calls of row.Under: one for all plans under which the same may become of the algorithm.
func cellLines(cells []*experiment.Cell) (lines []string) {
	var order []row.Outcome
	plans := map[row.Outcome][]string{}
	for _, c := range cells {
		may := c.May.May | c.Shown()
		if plans[may] == nil {
			order = append(order, may)
		}
		plans[may] = append(plans[may], fmt.Sprintf("%q", c.Plan.Name))
	}
	for _, may := range order {
		lines = append(lines, fmt.Sprintf("under(%s, \"why\", %s),", inGo(may), strings.Join(plans[may], ", ")))
	}
	return lines
}

// inGo writes outcomes as the packages of rows name them.
func inGo(may row.Outcome) string {
	var names []string
	for _, one := range outcomeNames {
		if may&one.outcome != 0 {
			names = append(names, one.name)
		}
	}
	return strings.Join(names, "|")
}
