package check

import (
	"math"
	"slices"
	"strings"

	"turnstile/nodes"
)

// Shown returns what a run with faults shows of what becomes of its algorithm, and why: one outcome, or none
// if it is inconclusive. It is made of the findings, and judges nothing itself.
func (v *Verdict) Shown() (nodes.Outcome, string) {
	stalled, doubt := (*Finding)(nil), (*Finding)(nil)
	for i := range v.Findings {
		switch f := &v.Findings[i]; f.Check {
		case "exclusion", "register", "account":
			if f.Outcome == Violated {
				return nodes.Breaks, f.Says
			}
		case "progress":
			if len(v.Starved) > 0 && (f.Outcome == Violated || f.OutsideModel) {
				stalled = f
			}
		}
	}
	for i := range v.Findings {
		if f := &v.Findings[i]; doubt == nil && f.Outcome != Valid && f.doubts(stalled != nil) {
			doubt = f
		}
	}
	switch {
	case v.Missed:
		return nodes.Unhit, "the faults hit nothing"
	case doubt != nil:
		return 0, doubt.Says
	case stalled != nil && !v.Blocked:
		return nodes.Starves, stalled.Says
	case stalled != nil:
		return nodes.Blocks, stalled.Says
	}
	return nodes.Recovers, v.Reason
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
	missed := len(e.sections.Faults) > 0
	for i := range e.sections.Faults {
		f := &e.sections.Faults[i]
		asked := e.asked(f)
		missed = missed && asked.OfLinks && f.Healed && f.Hits == 0 && asked.Breaks != 0
	}
	return missed
}
