package check

import (
	"time"

	"turnstile/nodes"
)

// lapse: a leader that cannot reach a majority knows within the time that its row promises. It cannot while
// faults cut it off, or others are down; time in which it or others stand still is not judged.
func lapse(e *evidence) Finding {
	if e.Lapse == 0 {
		return notJudged("a leader without a majority may never know it")
	}
	within := e.Lapse + e.Slack
	judged := false
	for i := range e.leaders.Beliefs {
		b := &e.leaders.Beliefs[i]
		if !b.Leads() {
			continue
		}
		for _, alone := range e.minorityOf(b.Node, b.From, b.To) {
			judged = true
			if had := time.Duration(alone.to - alone.from); had > within {
				f := violated("%s led for %v without a majority, and is to know within %v", name(b.Node),
					had.Round(time.Millisecond), within)
				return e.excuse(f, span{alone.from, alone.to, int64(e.Grace)}, nodes.NoPause|nodes.Timing)
			}
		}
	}
	if !judged {
		return notJudged("every leader could reach a majority")
	}
	return valid("every leader without a majority knew it within %v", within)
}
