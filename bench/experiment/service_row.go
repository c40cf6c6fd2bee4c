package experiment

import (
	"fmt"
	"strings"

	"turnstile/internal/figure"
	"turnstile/nodes/row"
	"turnstile/results"
)

// Strict says what the runs show of all entries, and how many of them do if they do not agree, as in
// "X 2 of 3, L".
func (c *ServiceCase) Strict() string {
	return c.outcomes(func(r *ServiceRun) row.Outcome { return r.Strict })
}

// Fenced says the same of the entries that a resource accepts which demands fence numbers; "-": clients have
// none.
func (c *ServiceCase) Fenced() string {
	if len(c.Runs) == 0 || !c.Runs[0].HasFences {
		return "-"
	}
	return c.outcomes(func(r *ServiceRun) row.Outcome { return r.Fenced })
}

// outcomes lists what the runs show, the worst first.
func (c *ServiceCase) outcomes(of func(*ServiceRun) row.Outcome) string {
	var all []string
	for _, shown := range []row.Outcome{row.Breaks, row.Blocks, row.Starves, row.Recovers, row.Unhit, 0} {
		count := 0
		for _, r := range c.Runs {
			if of(r) == shown {
				count++
			}
		}
		switch count {
		case 0:
		case len(c.Runs):
			return shown.String()
		default:
			all = append(all, fmt.Sprintf("%v %d of %d", shown, count, len(c.Runs)))
		}
	}
	return strings.Join(all, ", ")
}

// Silence returns the shortest and the longest of the times, over the runs, for which nobody entered or, of
// electors, led. Runs in which that is not known do not count.
func (c *ServiceCase) Silence() (least, most figure.Figure) {
	for _, r := range c.Runs {
		x, known := r.SilenceS.Value()
		if low, is := least.Value(); known && (!is || x < low) {
			least = r.SilenceS
		}
		most = greater(most, r.SilenceS)
	}
	return least, most
}

// TableRow returns what matrix.csv says of the case.
func (c *ServiceCase) TableRow() results.MatrixRow {
	out := results.MatrixRow{Line: fmt.Sprint(c.Line.Number), Algorithm: c.Line.Text(),
		Fault: strings.Join(append(c.Line.FaultTexts(), "none")[:max(1, len(c.Line.Faults))], "; "),
		Kind:  "bench", May: c.Line.Strict, MayFenced: c.Line.Fenced, Shown: c.Strict(), Fenced: c.Fenced(),
		Differs: c.Differs(), Runs: len(c.Runs), Why: c.Line.Why}
	if c.Err != nil {
		out.Reason = c.Err.Error()
	}
	for _, r := range c.Runs {
		switch r.Strict {
		case row.Recovers:
			out.Recovered++
		case row.Starves:
			out.Starved++
		case row.Blocks:
			out.Blocked++
		case row.Breaks:
			out.Broke++
		case row.Unhit:
			out.Unhit++
		default:
			out.Inconclusive++
		}
		out.Violations = greater(out.Violations, r.Row.Violations)
		out.ViolationsFenced = greater(out.ViolationsFenced, r.Row.ViolationsFenced)
		out.OverlapUS = greater(out.OverlapUS, r.Row.OverlapUS)
		out.TwoLeadersUS = greater(out.TwoLeadersUS, r.Row.TwoLeadersUS)
	}
	out.SilenceMinS, out.SilenceMaxS = c.Silence()
	if tells := c.Tells(); tells != nil {
		out.Seed, out.Run, out.Reason = tells.Row.Seed, tells.Folder, tells.Says
	}
	return out
}
