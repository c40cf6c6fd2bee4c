package check

import (
	"fmt"
	"time"

	"turnstile/nodes/history"
)

// few is how many of a kind of thing a witness names.
const few = 20

// progress: every request is served.
func progress(e *evidence) Finding {
	waiting, inside := e.requests.unserved()
	waiters := e.waiters(waiting)
	switch {
	case e.marks[history.Stalled].seen && len(waiting) == 0:
		return inconclusive("the run stalled, though no request waits")
	case e.marks[history.Stalled].seen && len(inside) > 0:
		// To leave is up to the client, not to the algorithm: its process stands still.
		return inconclusive("the run stalled while %s was inside, with %s", name(inside[0].asked.Node),
			unserved(len(waiting))).with(waiters...)
	case e.marks[history.Stalled].seen && !e.audit.clean():
		// An algorithm that rests on reliable links is not to blame.
		return inconclusive("the run stalled with %s, but %s", unserved(len(waiting)), e.audit.says()).
			with(waiters...)
	case e.marks[history.Stalled].seen && e.brokenBy(e.end, e.Safe|e.Live) != 0:
		return e.excuse(inconclusive("nothing moves, with %s", unserved(len(waiting))), e.end, e.Safe|e.Live).
			with(waiters...)
	case e.marks[history.Stalled].seen:
		return violated("no progress: nothing moves, with %s", unserved(len(waiting))).with(waiters...)
	case e.marks[history.Interrupted].seen:
		return inconclusive("the run was ended before its end, with %s", unserved(len(waiting))).with(waiters...)
	case !e.marks[history.Rested].seen:
		return inconclusive("the run never came to rest, with %s", unserved(len(waiting))).with(waiters...)
	case len(waiting) > 0:
		return violated("no progress: the run came to rest with %s", unserved(len(waiting))).with(waiters...)
	case len(inside) > 0:
		return inconclusive("the run came to rest though %s never left", name(inside[0].asked.Node))
	}
	return valid("all of %s were served", plural(e.requests.entries, "request", "requests"))
}

func unserved(n int) string { return plural(uint64(n), "request", "requests") + " unserved" }

// waiters says who waits, the longest wait first.
func (e *evidence) waiters(waiting []request) []string {
	end := e.end
	if m := e.marks[history.Stalled]; m.seen {
		end = m.at
	}
	var lines []string
	for _, r := range waiting {
		age := time.Duration(end - r.asked.At).Round(time.Microsecond)
		lines = append(lines, fmt.Sprintf("%s has waited for its entry %d for %v",
			name(r.asked.Node), r.asked.Entry, age))
	}
	return fewOf(lines, few)
}
