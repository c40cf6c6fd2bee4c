package check

import (
	"turnstile/nodes/history"
)

// misgrants reports whether a foreign program let its client in without a request, or twice.
func misgrants(e *evidence) bool { return e.breach != nil && e.breach.Count != history.EndedItself }

// ends reports whether a foreign program ended by itself.
func ends(e *evidence) bool { return e.breach != nil && e.breach.Count == history.EndedItself }

// grants: a foreign program lets its client in once for each request. It must if the safety assumptions hold.
func grants(e *evidence) Finding {
	what := "let its client in without a request"
	if e.breach.Count == history.GrantedTwice {
		what = "let its client in that was inside"
	}
	f := violated("the program of %s %s: it wrote %s", name(e.breach.Node), what, e.lastOf(e.breach))
	return e.outsideIf(f, e.at(e.breach.At), e.Safe)
}

// exit: a foreign program goes on until its input ends. If it ends by itself, that is no planned crash, so it
// does not put later failures outside the model. The check rests on the assumptions of progress.
func exit(e *evidence) Finding {
	at, needs := e.at(e.breach.At), e.Safe|e.Live
	f := violated("the program of %s ended by itself: %s", name(e.breach.Node), e.lastOf(e.breach))
	if e.brokenIn(at, needs) != 0 {
		f.Outcome = Inconclusive
	}
	return e.outsideIf(f, at, needs)
}

// lastOf returns the last line of the program, which broke the protocol.
func (e *evidence) lastOf(breach *history.Event) (says string) {
	for _, l := range e.logs {
		if l.Node == breach.Node && l.Last != "" {
			says = l.Last
		}
	}
	return says
}

// misordered reports whether a client of a recorded history entered without a request, or left without an
// entry. In a run of this project such an event contradicts the counters instead (see accounting).
func misordered(e *evidence) bool {
	return e.Lacks.Counts && !e.Lacks.Requests && e.sections.Misordered != nil
}

// order: a client enters once for each request, and leaves once for each entry. If stamps err, the history
// does not tell in which order two events happened.
func order(e *evidence) Finding {
	is, first := e.sections.Misordered, e.sections.Irregularities[0]
	if e.sections.StampError() > 0 {
		return inconclusive("%s, or its stamps err%s", first, e.err())
	}
	return e.outsideIf(violated("%s", first), e.at(is.At), e.Safe)
}
