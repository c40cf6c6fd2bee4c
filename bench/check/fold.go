package check

import (
	"cmp"
	"slices"

	"turnstile/bench/section"
	"turnstile/nodes/history"
)

// A Fold gathers the evidence that checks share. It observes the fold of the sections of the same history,
// after which it is to be run.
type Fold struct {
	Setting
	sections *section.Fold
	tallies  [][]tally // of events, by instance and node

	abandoned       uint64            // sections whose node crashed before they were entered
	waiting, inside []section.Section // that never ended, the oldest first
	logs            []*history.NodeLog
	sum             history.InstanceTotals // of all logs
	audit           audit
}

// A tally counts the events of an instance of a node.
type tally struct {
	requested, entered, left uint64
	sent                     []uint64 // by kind
}

// New returns a fold of a history whose sections s folds.
func New(s *section.Fold, setting Setting) *Fold {
	f := &Fold{Setting: setting, sections: s}
	s.Observe(f)
	return f
}

// Asked implements section.Observer.
func (e *Fold) Asked(*section.Section) {}

// Entered implements section.Observer.
func (e *Fold) Entered(*section.Section) {}

// Ended implements section.Observer.
func (e *Fold) Ended(s *section.Section) {
	switch s.State {
	case section.Abandoned:
		e.abandoned++
	case section.Unserved:
		e.waiting = append(e.waiting, *s)
	case section.Unended:
		e.inside = append(e.inside, *s)
	}
}

// Add implements history.Fold.
func (e *Fold) Add(event history.Event) {
	switch event.Kind {
	case history.Requested:
		e.tally(&event).requested++
	case history.Entered:
		e.tally(&event).entered++
	case history.Exited, history.Revoked:
		e.tally(&event).left++
	case history.Sent:
		if t := e.tally(&event); event.Count < history.MaxKinds {
			t.sent = grown(t.sent, int(event.Count)+1)
			t.sent[event.Count]++
		}
	}
}

// tally returns where the events of the instance and node of an event are counted.
func (e *Fold) tally(event *history.Event) *tally {
	e.tallies = grown(e.tallies, int(event.Instance)+1)
	of := &e.tallies[event.Instance]
	*of = grown(*of, int(event.Node)+2) // the orchestrator's come first, should it have any
	return &(*of)[event.Node+1]
}

func grown[T any](s []T, length int) []T {
	if len(s) < length {
		s = append(s, make([]T, length-len(s))...)
	}
	return s
}

// Close implements history.Fold.
func (e *Fold) Close(logs []*history.NodeLog) {
	older := func(a, b section.Section) int {
		return cmp.Or(cmp.Compare(a.Asked, b.Asked), cmp.Compare(a.Node, b.Node),
			cmp.Compare(a.Resource.Instance, b.Resource.Instance))
	}
	slices.SortFunc(e.waiting, older)
	slices.SortFunc(e.inside, older)
	e.logs, e.sum = logs, history.Sum(logs)
	// A message that has not come when all is at rest, or when nothing moves any more, is lost.
	e.audit = auditStreams(logs, e.Config.N, e.rested() || e.seen(history.Stalled))
}
