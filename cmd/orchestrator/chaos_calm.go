package main

import (
	"context"
	"fmt"
	"strings"

	"turnstile/bench/campaign"
	"turnstile/bench/check"
	"turnstile/internal/english"
)

// calmRuns makes runs in which nothing goes wrong, prints what came of them, and returns how many are wrong.
func (a *app) calmRuns(ctx context.Context, c *chaosCall) (wrong int) {
	grid := campaign.CalmOf(c.Rows, campaign.CalmNodes)
	all := min(c.calm, grid.Cells())
	bar, done := a.newBar(c.noProgress, 0), 0
	results, _ := grid.Run(ctx, c.Seed, 0, all, func(r *campaign.Result) {
		if done++; bar.due() {
			bar.show(float64(done)/float64(all), fmt.Sprintf("run %d of %d without faults", done, all))
		}
	})
	bar.clear()
	outcomes := map[check.Outcome]int{}
	for _, r := range results {
		outcomes[r.Verdict.Outcome]++
	}
	var counts []string
	for outcome := check.Valid; outcome <= check.Violated; outcome++ {
		if outcomes[outcome] > 0 {
			counts = append(counts, fmt.Sprintf("%d %v", outcomes[outcome], outcome))
		}
	}
	fmt.Fprintf(a.stdout, "%s of %d without faults, on virtual time, seed %d: %s\n",
		english.Count(len(results), "run", "runs"), grid.Cells(), c.Seed, strings.Join(counts, ", "))
	for _, r := range results {
		if r.Wrong != "" {
			wrong++
			fmt.Fprintf(a.stdout, "WRONG  %v: %s\n       repeat it: %s\n", r.Case, r.Wrong,
				commandOf(r.Spec, &r.Options, false, ""))
		}
	}
	fmt.Fprintln(a.stdout)
	return wrong
}
