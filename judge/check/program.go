package check

import (
	"turnstile/nodes/history"
)

// misgrants reports whether a foreign program has let its client in that had not asked, or was inside.
func misgrants(e *evidence) bool { return e.breach != nil && e.breach.Count != history.EndedItself }

// ends reports whether a foreign program has ended though nobody had killed it.
func ends(e *evidence) bool { return e.breach != nil && e.breach.Count == history.EndedItself }

// grants: a foreign program lets its client in once for each request. It rests on what its safety does.
func grants(e *evidence) Finding {
	what := "let its client in that had not asked"
	if e.breach.Count == history.GrantedTwice {
		what = "let its client in that was inside"
	}
	f := violated("the program of %s %s: it wrote %s", name(e.breach.Node), what, e.lastOf(e.breach))
	return e.excuse(f, e.at(e.breach.At), e.Safe)
}

// exit: a foreign program goes on until its input ends. An end of its own is no crash that was asked for, so
// it excuses nothing, and rests on what its progress does.
func exit(e *evidence) Finding {
	at, needs := e.at(e.breach.At), e.Safe|e.Live
	f := violated("the program of %s ended by itself: %s", name(e.breach.Node), e.lastOf(e.breach))
	if e.brokenIn(at, needs) != 0 {
		f.Outcome = Inconclusive
	}
	return e.excuse(f, at, needs)
}

// lastOf returns what the program said by which it broke the protocol.
func (e *evidence) lastOf(breach *history.Event) (says string) {
	for _, l := range e.logs {
		if l.Node == breach.Node && l.Last != "" {
			says = l.Last
		}
	}
	return says
}
