package check

import (
	"fmt"
	"math"
	"strings"

	"turnstile/internal/chance"
	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/row"
)

// SettingOfReplay returns what checks must know of a schedule that was played on nodes that are made of a
// stack. What is on its way when it ends is not counted. Its steps have no length, so nothing is judged by
// how long it took: that two lead for too long, or that all never agree, was observed. What has broken an
// assumption excuses all that comes later. The schedule speaks for the failure detector.
func SettingOfReplay(stack *row.Stack) Setting {
	s := SettingOf(stack)
	s.Identities, s.Exact, s.Unheard = nil, nil, false
	s.Replayed = true
	in := stack.Instances()[0]
	s.Promise = PromiseOf(in.Row, in.Config, chance.Longest) // all requests are known when that is observed
	s.Promise.Made = s.Promise.Made && len(stack.Mutexes()) == 1
	if s.Grace > 0 {
		s.Grace = chance.Longest
	}
	if s.Overlap > 0 || s.Leads.InTerms() {
		s.Overlap = math.MaxInt64 - s.Slack
	}
	return s
}

// Failed returns which check the play of a schedule fails, perhaps outside its model, and what was broken
// then of what it needs; empty: no promise was broken by its end.
func (v *Verdict) Failed() (check string, broken nodes.Assumption) {
	if w := v.Worst(); w.Outcome == Violated || w.OutsideModel && !w.Excused {
		return w.Check, w.Broken
	}
	return "", 0
}

// observe takes what was seen of a schedule.
func (f *Fold) observe(event history.Event) {
	if event.Count == history.Quiet {
		f.fair.quiet()
	}
	if int(event.Count) < len(f.observed) && f.observed[event.Count] == nil {
		f.observed[event.Count] = new(event)
	}
}

// panicked: no machine gives up, or breaks its contract.
func panicked(e *evidence) Finding {
	p := e.observed[history.Panicked]
	return e.excuse(violated("%s panicked", name(p.Node)), e.at(p.At), e.Safe)
}

// who says which nodes do something: node 1 waits, or nodes 0, 2 wait.
func who(all []nodes.ID, does, do string) string {
	if len(all) == 1 {
		return name(all[0]) + " " + does
	}
	return "nodes " + strings.ReplaceAll(strings.Trim(fmt.Sprint(all), "[]"), " ", ", ") + " " + do
}
