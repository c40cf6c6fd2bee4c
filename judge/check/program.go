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
