package check

import (
	"fmt"
	"strconv"

	"turnstile/internal/english"
	"turnstile/nodes/history"
)

// enough: entries were measured, so the other checks had evidence.
func enough(e *evidence) Finding {
	switch {
	case !e.sections.Window.Known():
		return inconclusive("the run ended before the measurement began")
	case e.sections.EntriesInWindow == 0:
		return inconclusive("nobody entered while it was measured")
	case e.sections.Entries+e.abandoned+e.gaveUp < e.Expected:
		return inconclusive("there were %s of %d asked for",
			english.Count(e.sections.Entries, "entry", "entries"), e.Expected)
	}
	return valid("%s while it was measured", english.Count(e.sections.EntriesInWindow, "entry", "entries"))
}

// load: under an open load, nearly all due requests were issued. If not, either clients were busy when
// requests fell due, since the system could not serve that many; or clients were free, and the processes
// late.
func load(e *evidence) Finding {
	due, issued := e.sections.Due, e.sections.Issued
	if e.Open && !e.seen(history.Stopped) {
		return inconclusive("the run ended early: arrivals that never became requests are not on record")
	}
	const least = 0.95
	says := fmt.Sprintf("%s of %s due while it was measured were made", english.Thousands(float64(issued)),
		english.Count(due, "request", "requests"))
	switch seconds := float64(e.sections.Window.Length()) / 1e9; {
	case !e.Open || float64(issued) >= least*float64(due):
		return valid("%s", says)
	case 2*e.sections.Late < e.sections.Queued:
		return Finding{Outcome: Overloaded, Says: fmt.Sprintf("it served %s of the %s requests per second that "+
			"were asked for", perSecond(e.sections.EntriesInWindow, seconds), perSecond(due, seconds))}
	}
	return Finding{Outcome: underLoaded,
		Says: "only " + says + ", though clients were free: the processes were late"}
}

func perSecond(n uint64, seconds float64) string {
	if rate := float64(n) / seconds; rate < 100 {
		return strconv.FormatFloat(rate, 'g', 3, 64)
	}
	return english.Thousands(float64(n) / seconds)
}
