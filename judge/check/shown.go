package check

import (
	"math"
	"slices"
	"time"

	"turnstile/judge/leadership"
	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/row"
)

// Shown returns what a run with faults shows of what becomes of its algorithm, and why: one outcome, or none
// if it is inconclusive. It is made of the findings, and judges nothing itself.
func (v *Verdict) Shown() (row.Outcome, string) {
	var stalled, doubt *Finding
	for i := range v.Findings {
		f := &v.Findings[i]
		switch check := f.check(); {
		case f.Outcome == Violated && check.about == aboutSafety && (v.Divided || !check.split):
			return row.Breaks, f.Says
		case len(v.Starved) > 0 && check.about == aboutProgress &&
			(f.Outcome == Violated || f.OutsideModel || f.Excused):
			stalled = f
		}
	}
	for i := range v.Findings {
		if f := &v.Findings[i]; doubt == nil && f.Outcome != Valid && f.doubts(stalled != nil) {
			doubt = f
		}
	}
	switch {
	case v.Missed:
		return row.Unhit, "the faults hit nothing"
	case doubt != nil:
		return 0, doubt.Says
	case stalled != nil && v.Divided:
		return row.Breaks, stalled.Says
	case stalled != nil && v.Blocked:
		return row.Blocks, stalled.Says
	case stalled != nil:
		return row.Starves, stalled.Says
	case len(v.Misses) > 0: // what recovers did so from less than the plan says
		return 0, v.Misses[0]
	}
	return row.Recovers, v.Reason
}

// Served is Shown with violated safety left aside: whether clients were served, or a leader was found, though
// more than one was inside.
func (v *Verdict) Served() (row.Outcome, string) {
	beside := *v
	beside.Findings = slices.DeleteFunc(slices.Clone(v.Findings),
		func(f Finding) bool { return f.Outcome == Violated && f.About() == aboutSafety })
	return beside.Shown()
}

// ShownInTerms is Shown to a resource that obeys the leader of the latest term alone: two that lead for good
// in terms of their own leave some nodes without that one.
func (v *Verdict) ShownInTerms() (row.Outcome, string) {
	apart := *v
	if slices.ContainsFunc(v.Findings, func(f Finding) bool { return f.Check == termsCheck && !f.NotJudged }) {
		apart.Findings = slices.DeleteFunc(slices.Clone(v.Findings),
			func(f Finding) bool { return f.Check == leadersCheck && f.Outcome == Violated })
	}
	if v.Divided && !slices.ContainsFunc(apart.Findings,
		func(f Finding) bool { return f.Outcome == Violated && f.About() == aboutSafety }) {
		apart.Divided, apart.Blocked = false, false // one of them leads in the latest term
	}
	return apart.Shown()
}

// doubts reports whether a finding that is not valid leaves open what a run shows, which may have stalled.
func (f *Finding) doubts(stalled bool) bool {
	switch leaves := f.check().leaves; {
	case stalled:
		return leaves == everything
	case leaves == recoveryInside:
		return !f.OutsideModel
	default:
		return leaves != nothing
	}
}

// leaderless returns the nodes that are without a leader at the end; none, if all agree on one, or may
// still come to. An algorithm without a time within which it recovers acts on messages alone: it is at its
// end when nobody has anything to declare any more.
func (e *elected) leaderless() []nodes.ID {
	l := e.leaders
	if l.Apart == nil || !e.seen(history.Stopped) || e.still() < e.Patience() || e.Grace == 0 && l.Ending.Stirs {
		return nil
	}
	return l.Ending.Without
}

// still returns for how long nothing had gone wrong at the end. That no node is up that has a reason to elect
// counts as nothing wrong here: it leaves those that are up without a leader.
func (e *elected) still() time.Duration {
	l := e.leaders
	if l.Asked() {
		return e.quiet()
	}
	since, unasked := l.Begun, l.Unasked[len(l.Unasked)-1]
	for _, t := range e.troubles(nil) {
		if t != unasked {
			since = max(since, t.To)
		}
	}
	return time.Duration(l.End - since)
}

// divided reports whether two led where one may, or two lead at the end and nothing would change that.
func (e *elected) divided() bool {
	l := e.leaders
	return len(l.Conflicts) > 0 || len(l.Ending.Leading) > 1 && len(e.leaderless()) > 0 ||
		slices.ContainsFunc(l.Overlaps, func(o leadership.Overlap) bool { _, is := e.tooLong(&o); return is })
}

// waitingAtEnd returns the clients that wait at the end, the longest wait first.
func (e *evidence) waitingAtEnd() (all []nodes.ID) {
	for i := range e.waiting {
		if id := e.waiting[i].Node; !slices.Contains(all, id) {
			all = append(all, id)
		}
	}
	return all
}

// down returns how many clients are down at the end.
func (m *model) down() (count int) {
	for _, d := range m.sections.Deaths {
		if d.Back == math.MaxInt64 && int(d.Node) < m.Config.N {
			count++
		}
	}
	return count
}

// missed reports whether faults were asked for, and all that took place were of links and hit no message.
func (m *model) missed() bool {
	none := len(m.sections.Faults) > 0
	if unhit := m.Problem.unhit; unhit != nil && !none {
		return unhit(m)
	}
	for i := range m.sections.Faults {
		f := &m.sections.Faults[i]
		asked := m.asked(f)
		none = none && asked.OfLinks && m.missedBy(asked, f) != ""
	}
	return none
}

// nobodyLed reports whether all faults that were asked for wait, and nobody led whom they are for.
func (m *model) nobodyLed() bool {
	return len(m.Faults) > 0 && m.seen(history.Stopped) &&
		!slices.ContainsFunc(m.Faults, func(f Fault) bool { return !f.Waits })
}
