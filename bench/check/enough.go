package check

import (
	"fmt"

	"turnstile/internal/english"
	"turnstile/nodes/history"
)

// enough: something was measured, so that the other checks had evidence.
func enough(e *Fold) Finding {
	switch {
	case !e.sections.Window.Known():
		return inconclusive("the run did not get as far as being measured")
	case e.sections.EntriesInWindow == 0:
		return inconclusive("nobody entered while it was measured")
	case e.sections.Entries+e.abandoned < e.Expected:
		return inconclusive("there were %s of %d asked for",
			english.Count(e.sections.Entries, "entry", "entries"), e.Expected)
	}
	return valid("%s while it was measured", english.Count(e.sections.EntriesInWindow, "entry", "entries"))
}

// load: under an open load, nearly all due requests were issued. If not, clients were still busy when
// requests fell due, and the load was less than the run asked for.
func load(e *Fold) Finding {
	due, issued := e.sections.Due, e.sections.Issued
	if e.Open && !e.seen(history.Stopped) {
		return inconclusive("the run ended before it was known which requests were due and never made")
	}
	const least = 0.95
	says := fmt.Sprintf("%d of %s due while it was measured were made", issued,
		english.Count(due, "request", "requests"))
	if !e.Open || float64(issued) >= least*float64(due) {
		return valid("%s", says)
	}
	return Finding{Outcome: UnderLoaded, Says: "only " + says}
}
