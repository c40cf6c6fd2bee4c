package check

import (
	"fmt"

	"turnstile/nodes/history"
)

// enough: something was measured, so that the other checks had something to fail on.
func enough(e *evidence) Finding {
	switch {
	case !e.marks[history.Measuring].seen || !e.marks[history.Stopped].seen:
		return inconclusive("the run did not get as far as being measured")
	case e.requests.steady == 0:
		return inconclusive("nobody entered while it was measured")
	case e.requests.entries+e.requests.abandoned < e.Expected:
		return inconclusive("there were %s of %d asked for",
			plural(e.requests.entries, "entry", "entries"), e.Expected)
	}
	return valid("%s while it was measured", plural(e.requests.steady, "entry", "entries"))
}

// load: under an open load, nearly all that was due was asked. If not, clients were still busy when
// requests fell due, and the system was never under the load that the run is named after.
func load(e *evidence) Finding {
	due, issued := e.requests.due, e.requests.issued
	const least = 0.95
	if !e.Open || float64(issued) >= least*float64(due) {
		return valid("%d of %s due while it was measured were made", issued, plural(due, "request", "requests"))
	}
	return Finding{Outcome: UnderLoaded, Says: fmt.Sprintf(
		"only %d of %s due while it was measured were made", issued, plural(due, "request", "requests"))}
}
