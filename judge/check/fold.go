package check

import (
	"cmp"
	"slices"
	"time"

	"turnstile/judge/leadership"
	"turnstile/judge/section"
	"turnstile/nodes"
	"turnstile/nodes/history"
)

// A Fold gathers the evidence of a run. It observes the fold of the sections of its history.
type Fold struct{ evidence }

// New returns a fold of the history that s folds.
func New(s *section.Fold, setting Setting) *Fold {
	if setting.Problem == nil {
		setting.Problem = Exclusion
	}
	// If hosts have several clocks, times of different nodes are this much less exact.
	err := time.Duration(min(s.StampError(), int64(time.Hour)))
	if setting.Slack > 0 {
		setting.Slack += err
	}
	if setting.Promise.Slack > 0 {
		setting.Promise.Slack += err
	}
	m := &model{Setting: setting, sections: s}
	f := &Fold{evidence{model: m, records: records{model: m}, elected: elected{model: m},
		minority: minorityEntries{sides: sides{model: m}}, gaps: gaps{model: m},
		fair: newFairFold(s, setting.Promise, setting.Faults)}}
	if setting.Exact != nil {
		f.entryCost = setting.Exact(setting.Config, setting.Alone)
	}
	if setting.Fewest && setting.Resources < 2 {
		f.ranked = newRankFold(setting.Delay)
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

// Sections returns the fold of the sections of a history.
func Sections(h history.Header, s Setting) *section.Fold {
	if s.Capacity == nil {
		s.Capacity = func(uint16) int { return s.Config.Capacity() }
	}
	f := section.New(h.StampError, s.Capacity)
	f.Codec, f.Detects, f.Asked = s.Codec, s.Detects, s.Asked
	f.Informs, f.Demands, f.Named, f.Work = s.Informs, s.Fenced, s.Resources, s.Work
	return f
}

// Judge makes every check on a whole history.
func Judge(h *history.History, s Setting) Verdict {
	sections := Sections(h.Header(), s)
	f := New(sections, s)
	h.Run(sections)
	return f.Verdict()
}

// Verdict makes every check, once the fold is closed.
func (f *Fold) Verdict() Verdict {
	v := Verdict{
		Entries:        f.sections.Entries,
		Unfinished:     uint64(len(f.waiting) + len(f.inside)),
		LostUnintended: f.audit.lost,
		LostWithBroker: f.audit.withBroker,
		LostToDeaths:   uint64(max(0, f.audit.toDeaths)),

		EntriesInMinority: f.minority.entries,

		PassedOver: f.mostPassedOver(),
		Pauses:     f.pauses(),
		Broken:     f.brokenBy(f.sections.End, f.Safe|f.Live),
		Missed:     f.missed(),
		Misses:     f.misses(),
	}
	v.Starved, v.Divided = f.Problem.unserved(&f.evidence)
	v.Blocked = len(v.Starved) > 0 && len(v.Starved) == f.Config.N-f.down()
	for r := range f.resources() {
		v.Violations += r.Violations
		v.Overlap += time.Duration(r.Overlap)
		v.LostUpdates += r.Lost()
	}
	for i := range f.Problem.checks {
		if c := &f.Problem.checks[i]; c.of != nil && !c.of(&f.evidence) {
			continue
		}
		v.Findings = append(v.Findings, f.finding(&f.Problem.checks[i]))
	}
	if f.saw(history.Panicked) {
		v.Findings = append(v.Findings, f.finding(&check{name: "panic", about: aboutSafety, judge: panicked}))
	}
	worst := v.Worst()
	v.Outcome, v.Reason, v.OutsideModel = worst.Outcome, worst.Says, worst.OutsideModel
	if v.Outcome == Valid && f.Problem.uncontended != nil {
		v.Uncontended = f.Problem.uncontended(&f.evidence)
	}
	if v.Outcome == Valid && f.NeverHolds != 0 {
		v.Reason += " (outside its model: its timeouts are too short for the delays of the run)"
	}
	return v
}

// Asked implements section.Observer.
func (f *Fold) Asked(s *section.Section) {
	f.fair.asked(s)
	if f.ranked != nil {
		f.ranked.ask(s)
	}
}

// Entered implements section.Observer.
func (f *Fold) Entered(s *section.Section) {
	f.fair.entered(s)
	if f.ranked != nil {
		f.ranked.enter(s)
	}
	f.gaps.entered(s)
	f.minority.add(s)
	if f.entryCost != nil && s.Node >= 0 && int(s.Node) < f.Config.N {
		f.due += uint64(f.entryCost(s.Node))
	}
}

// Ended implements section.Observer.
func (f *Fold) Ended(s *section.Section) {
	f.fair.ended(s)
	f.gaps.ended(s)
	if f.Renewals != nil && s.State == section.Exited {
		of := f.Renewals(time.Duration(s.Ended - s.Entered))
		f.renewals.Min, f.renewals.Max = f.renewals.Min+of.Min, f.renewals.Max+of.Max
	}
	switch s.State {
	case section.Abandoned:
		f.abandoned++
	case section.Unserved:
		f.waiting = append(f.waiting, *s)
	case section.Unended:
		f.inside = append(f.inside, *s)
	}
}

// Add implements history.Fold.
func (f *Fold) Add(event history.Event) {
	if event.Kind == history.Disconnected {
		f.disconnect(&event)
	}
	f.hear(&event)
	f.fair.add(&event)
	switch event.Kind {
	case history.FaultBegan, history.FaultHealed, history.Crashed, history.Restarted:
		f.minority.changed()
	case history.Campaigned:
		f.told(event.At)
	case history.Observed:
		f.observe(event)
	case history.ClockSet:
		f.clocks = append(f.clocks, event)
	case history.Breached:
		f.breach = &event
	}
	if event.Kind != history.Sent || event.Node < 0 || event.Count >= nodes.MaxKinds {
		return
	}
	if sent := f.Problem.sent; sent != nil {
		sent(&f.elected, event)
	}
	f.recorded = grown(f.recorded, int(event.Instance)+1)
	of := &f.recorded[event.Instance]
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
func (f *Fold) Close(logs []*history.NodeLog) {
	older := func(a, b section.Section) int {
		return cmp.Or(cmp.Compare(a.Asked, b.Asked), cmp.Compare(a.Node, b.Node),
			cmp.Compare(a.Resource.Instance, b.Resource.Instance))
	}
	slices.SortFunc(f.waiting, older)
	slices.SortFunc(f.inside, older)
	f.logs, f.sum = logs, history.Sum(logs)
	// A message that has not arrived when the run is at rest, or has stalled, is lost.
	f.audit = f.auditStreams(f.rested() || f.seen(history.Stalled))
	f.books = accounting(&f.records)
}
