package main

import (
	"strings"
	"testing"

	"turnstile/bench/experiment"
	"turnstile/chaos"
	"turnstile/nodes"
	"turnstile/nodes/row"
)

// Cells that a row lacks, and those that differ, are printed as Go; cells that agree are not.
func TestCellsAreGo(t *testing.T) {
	bakery := &row.Row{Spec: nodes.Spec{Name: "bakery"}}
	cell := func(plan string, may row.Outcome, shown ...row.Outcome) *experiment.Cell {
		c := &experiment.Cell{Spec: bakery, Plan: &chaos.Plan{Name: plan}, May: row.FaultCell{May: may}}
		for _, o := range shown {
			r := &experiment.Result{Shown: o}
			if may&o == 0 {
				r.Wrong = "differs"
			}
			c.Runs = append(c.Runs, r)
		}
		return c
	}
	var out strings.Builder
	printCells(&out, []*experiment.Cell{
		cell("dead-idle", 0, row.Blocks, row.Starves), cell("copies", row.Recovers, row.Recovers),
		cell("lost-request", 0, row.Starves, row.Blocks),
		cell("restarts", row.Recovers, row.Recovers, row.Breaks),
		cell("one-way", 0, 0), cell("bridge", 0, row.Unhit)})
	want := "Cells of bakery that its row lacks, or that differ, with what was seen; write the reasons, " +
		"if these outcomes are right:\n" +
		"\tunder(starves|blocks, \"why\", \"dead-idle\", \"lost-request\"),\n" +
		"\tunder(recovers|breaks, \"why\", \"restarts\"),\n" +
		"\tunder(unhit, \"why\", \"bridge\"),\n\n"
	if out.String() != want {
		t.Errorf("printed:\n%s\nand not:\n%s", out.String(), want)
	}
}
