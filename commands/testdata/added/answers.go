package check

import (
	"turnstile/nodes"
	"turnstile/nodes/workload"
)

// Answers is the problem of nodes that ask others, and are to be answered.
var Answers = &Problem{
	Name: "answers", Kind: nodes.Asking, Command: "bench",
	One: "answer", Many: "answers", Victim: "waiter", Load: workload.Saturated,
	Misplaced: "asks for answers", Instead: "use bench or simulate",
	checks: []check{
		{name: "answered", about: aboutProgress, judge: answered},
		{name: "loss", about: aboutBooks, leaves: everything, judge: loss},
		{name: "accounting", about: aboutBooks, leaves: everything, judge: books},
		{name: "evidence", about: aboutEnough, judge: enough},
	},
	unsound:  func(*evidence) string { return "" },
	unserved: func(e *evidence) ([]nodes.ID, bool) { return e.waitingAtEnd(), false },
	around:   (*evidence).entriesAround,
}

// answered: everybody who asked was answered.
func answered(e *evidence) Finding {
	if waiting := e.waitingAtEnd(); len(waiting) > 0 {
		return e.outsideIf(violated("%s waits for an answer", name(waiting[0])), e.at(e.sections.End), e.Live)
	}
	return valid("all %d questions were answered", e.sections.Entries)
}
