package main

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"turnstile/bench/experiment"
	"turnstile/internal/english"
	"turnstile/internal/format"
)

// printPlan says what a sweep is about to do.
func (a *app) printPlan(c *sweepCall, before, left int, takes experiment.Length) {
	most := ""
	if c.find && left > 0 {
		most = "at most "
	}
	fmt.Fprintf(a.stdout, "%s, %s each: %s%s", english.Count(len(c.Cells), "configuration", "configurations"),
		english.Count(c.Trials, "trial", "trials"), most, english.Count(before+left, "run", "runs"))
	if before > 0 {
		fmt.Fprintf(a.stdout, ", of which the set %s has %d", c.Setup.Set, before)
	}
	fmt.Fprintln(a.stdout)
	if c.find {
		fmt.Fprintf(a.stdout,
			"Each looks for the highest rate of which %.0f%% are served and 99%% wait for %s at most.\n",
			100*experiment.ServedShare, format.Duration(c.WaitBound))
	}
	if left > 0 {
		fmt.Fprintln(a.stdout, lengthText(takes, c.find))
		fmt.Fprintf(a.stdout, "At most %d MB of disk while a run goes on.\n", c.maker().DiskSpace()>>20)
	}
	a.printRefused(c)
}

// lengthText says how long runs take, at most or about.
func lengthText(takes experiment.Length, most bool) string {
	low, high := roughly(takes.Low), roughly(takes.High)
	if takes.Low == 0 && takes.High > 0 {
		return "It takes less than " + high + ", or longer if others use the machine."
	}
	text := "It takes about " + low
	switch {
	case most:
		text = "It takes at most about " + high
	case low != high:
		text += " to " + high
	}
	switch text += ", or longer if others use the machine."; {
	case takes.Unknown > 0 && takes.High == 0:
		return "How long it takes is seen once some runs are made: they are too long to be tried."
	case takes.Unknown > 0:
		text += fmt.Sprintf("\nThat leaves out %s, too long to be tried.",
			english.Count(takes.Unknown, "run", "runs"))
	}
	return text
}

// roughly prints a length of time as precisely as it can be foreseen.
func roughly(d time.Duration) string {
	for _, unit := range []time.Duration{time.Hour, time.Minute} {
		if d >= 10*unit {
			return format.Duration(d.Round(unit))
		}
	}
	return format.Duration(max(time.Second, d.Round(time.Second)))
}

// printRefused prints which configurations are left out, and why.
func (a *app) printRefused(c *sweepCall) {
	const few = 3
	for _, why := range slices.Sorted(maps.Keys(c.refused)) {
		cells := c.refused[why]
		fmt.Fprintf(a.stdout, "Left out, %s: %s\n",
			english.Count(len(cells), "configuration", "configurations"), why)
		for _, cell := range cells[:min(few, len(cells))] {
			fmt.Fprintf(a.stdout, "  %s\n", cell)
		}
		if len(cells) > few {
			fmt.Fprintf(a.stdout, "  and %d more\n", len(cells)-few)
		}
	}
}

// printChanged names the runs whose tables were changed, which are left out.
func (a *app) printChanged(c *sweepCall) {
	for _, err := range c.Changed() {
		fmt.Fprintf(a.stderr, "orchestrator: %v\n", err)
	}
}
