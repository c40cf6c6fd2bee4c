package check

import (
	"cmp"
	"slices"

	"turnstile/bench/leadership"
	"turnstile/bench/section"
	"turnstile/nodes"
	"turnstile/nodes/history"
)

// A Fold gathers the evidence that checks share. It observes the fold of the sections of a history.
type Fold struct {
	Setting
	sections *section.Fold
	recorded [][][]uint64 // messages, by instance, node and kind
	heard    map[stream][]hearing

	abandoned       uint64            // sections whose node crashed before they were entered
	waiting, inside []section.Section // that never ended, the oldest first
	logs            []*history.NodeLog
	sum             history.InstanceTotals // of all logs
	books           Finding                // of accounting
	audit           audit
	deserted        []string // nodes that lost their connections though no fault took them away
	fair            *fairFold
	secluded        secluded
	entryCost       nodes.EntryCost  // nil: not known
	due             uint64           // messages that the entries take by it
	leaders         *leadership.Fold // nil: nobody leads in the run
	campaigns       []campaign
	talk            talk
}

// New returns a fold of the history that s folds.
func New(s *section.Fold, setting Setting) *Fold {
	f := &Fold{Setting: setting, sections: s, fair: newFairFold(s, setting.Promise, setting.Faults)}
	if setting.Exact != nil {
		f.entryCost = setting.Exact(setting.Config, setting.Alone)
	}
	s.Observe(f)
	if setting.Leads != nil {
		f.leaders = leadership.New(setting.Config, setting.Leads)
		f.leaders.Grace, f.leaders.Servers = setting.Grace, setting.Servers
		for i := range setting.Faults {
			f.leaders.Cuts = append(f.leaders.Cuts, setting.Faults[i].Blocks)
		}
		s.Observe(leaderObserver{f.leaders})
	}
	return f
}

// Asked implements section.Observer.
func (e *Fold) Asked(s *section.Section) { e.fair.asked(s) }

// Entered implements section.Observer.
func (e *Fold) Entered(s *section.Section) {
	e.fair.entered(s)
	e.seclude(s)
	if e.entryCost != nil && s.Node >= 0 && int(s.Node) < e.Config.N {
		e.due += uint64(e.entryCost(s.Node))
	}
}

// Ended implements section.Observer.
func (e *Fold) Ended(s *section.Section) {
	e.fair.ended(s)
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
	if event.Kind == history.Disconnected {
		e.disconnect(&event)
	}
	e.hear(&event)
	e.fair.away.add(&event)
	if event.Kind == history.Campaigned {
		e.told(event.At)
	}
	if event.Kind != history.Sent || event.Node < 0 || event.Count >= history.MaxKinds {
		return
	}
	e.overhear(&event)
	e.recorded = grown(e.recorded, int(event.Instance)+1)
	of := &e.recorded[event.Instance]
	*of = grown(*of, int(event.Node)+1)
	kinds := &(*of)[event.Node]
	*kinds = grown(*kinds, int(event.Count)+1)
	(*kinds)[event.Count]++
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
	// A message that has not arrived when the run is at rest, or has stalled, is lost.
	e.audit = e.auditStreams(e.rested() || e.seen(history.Stalled))
	e.books = accounting(e)
}
