package check

import (
	"math"
	"slices"
	"strings"
	"time"

	"turnstile/bench/leadership"
	"turnstile/nodes"
	"turnstile/nodes/history"
)

// Shown returns what a run with faults shows of what becomes of its algorithm, and why: one outcome, or none
// if it is inconclusive. It is made of the findings, and judges nothing itself.
func (v *Verdict) Shown() (nodes.Outcome, string) {
	breaks, stalls, doubts := v.breaks, v.stalls, (*Finding).doubts
	if slices.ContainsFunc(v.Findings, func(f Finding) bool { return f.Check == "leaders" }) {
		breaks, stalls, doubts = v.breaksLeaders, v.stallsLeaders, (*Finding).doubtsLeaders
	}
	var stalled, doubt *Finding
	for i := range v.Findings {
		switch f := &v.Findings[i]; {
		case f.Outcome == Violated && breaks(f):
			return nodes.Breaks, f.Says
		case len(v.Starved) > 0 && stalls(f):
			stalled = f
		}
	}
	for i := range v.Findings {
		if f := &v.Findings[i]; doubt == nil && f.Outcome != Valid && doubts(f, stalled != nil) {
			doubt = f
		}
	}
	switch {
	case v.Missed:
		return nodes.Unhit, "the faults hit nothing"
	case doubt != nil:
		return 0, doubt.Says
	case stalled != nil && v.Divided:
		return nodes.Breaks, stalled.Says
	case stalled != nil && v.Blocked:
		return nodes.Blocks, stalled.Says
	case stalled != nil:
		return nodes.Starves, stalled.Says
	case len(v.Misses) > 0: // what recovers did so from less than the plan says
		return 0, v.Misses[0]
	}
	return nodes.Recovers, v.Reason
}

// breaks reports whether a finding that is violated says that exclusion broke.
func (v *Verdict) breaks(f *Finding) bool {
	return f.Check == "exclusion" || f.Check == "register" || f.Check == "account"
}

// stalls reports whether a finding says that some wait for ever.
func (v *Verdict) stalls(f *Finding) bool {
	return f.Check == "progress" && (f.Outcome == Violated || f.OutsideModel)
}

// doubts reports whether a finding that is not valid leaves open what a run shows. Of one that stalled, only
// those count that question its evidence: that it did not come to rest is what it shows. Of one that went on,
// fairness rests on more than progress does.
func (f *Finding) doubts(stalled bool) bool {
	if stalled {
		const evidence = "exclusion register account agreement loss accounting"
		return slices.Contains(strings.Fields(evidence), f.Check)
	}
	return f.Check != "fairness" || !f.OutsideModel
}

// breaksLeaders is breaks of a run about leaders.
func (v *Verdict) breaksLeaders(f *Finding) bool {
	return v.Divided && (f.Check == "leaders" || f.Check == "terms")
}

// stallsLeaders is stalls of a run about leaders: some are without one. A conviction whose evidence is in
// doubt does not say so.
func (v *Verdict) stallsLeaders(f *Finding) bool {
	return f.Check == "agreement" && (f.Outcome == Violated || f.OutsideModel || f.Excused)
}

// doubtsLeaders is doubts of a run about leaders. Whoever is elected, how long a leader goes on without a
// majority and whether a node goes back in terms are promises of their own, which an outcome does not tell:
// outside their model they leave it as it is. So does a crash of a leader after which nobody was elected, if
// all agree in the end.
func (f *Finding) doubtsLeaders(stalled bool) bool {
	if stalled {
		return f.Check == "loss" || f.Check == "accounting"
	}
	switch f.Check {
	case "elections":
		return false
	case "winner", "lapse", "terms":
		return !f.OutsideModel
	}
	return true
}

// astray returns the nodes that are without a leader at the end; none, if all agree on one, or may still come
// to. An algorithm without a time within which it recovers acts on messages alone: it is at its end when
// nobody has anything to declare any more.
func (e *Fold) astray() []nodes.ID {
	l := e.leaders
	if l.Apart == nil || !e.seen(history.Stopped) || e.still() < e.Patience() || e.Grace == 0 && l.Ending.Stirs {
		return nil
	}
	return l.Ending.Without
}

// still returns for how long nothing had gone wrong at the end. Where nobody lives who has a reason to elect,
// nothing is to be expected either: that is no trouble, but leaves those who are up without a leader.
func (e *Fold) still() time.Duration {
	l := e.leaders
	if l.Asked() {
		return e.quiet()
	}
	since, unasked := l.Begun, l.Unasked[len(l.Unasked)-1]
	for _, t := range e.troubles() {
		if t != unasked {
			since = max(since, t.To)
		}
	}
	return time.Duration(l.End - since)
}

// divided reports whether two led where one may, or still lead at the end for good.
func (e *Fold) divided() bool {
	l := e.leaders
	return len(l.Conflicts) > 0 || len(l.Ending.Leading) > 1 && len(e.astray()) > 0 ||
		!e.Leads.Terms && slices.ContainsFunc(l.Overlaps, func(o leadership.Overlap) bool { return e.tooLong(&o) })
}

// starved returns the clients that wait at the end, the longest wait first.
func (e *Fold) starved() (all []nodes.ID) {
	for i := range e.waiting {
		if id := e.waiting[i].Node; !slices.Contains(all, id) {
			all = append(all, id)
		}
	}
	return all
}

// down returns how many clients are down at the end.
func (e *Fold) down() (count int) {
	for _, d := range e.sections.Deaths {
		if d.Back == math.MaxInt64 && int(d.Node) < e.Config.N {
			count++
		}
	}
	return count
}

// missed reports whether faults were asked for, and all that took place were of links and hit no message.
func (e *Fold) missed() bool {
	if e.Kind == Election && len(e.sections.Faults) == 0 { // nobody led whom they are for
		return len(e.Faults) > 0 && e.seen(history.Stopped) &&
			!slices.ContainsFunc(e.Faults, func(f Fault) bool { return !f.Waits })
	}
	none := len(e.sections.Faults) > 0
	for i := range e.sections.Faults {
		f := &e.sections.Faults[i]
		asked := e.asked(f)
		none = none && asked.OfLinks && missed(asked, f) != ""
	}
	return none
}
