package check

import (
	"fmt"
	"math"
	"time"

	"turnstile/judge/section"
	"turnstile/nodes"
	"turnstile/nodes/history"
)

// A model tells which of the assumptions that an algorithm rests on were broken when, by faults, pauses,
// crashes and suspicions, and what that excuses. It knows what was asked for and what took place, and nothing
// of what the algorithm did.
type model struct {
	Setting
	sections *section.Fold
	clocks   []history.Event // ClockSet
}

// A span is the time in which a broken assumption excuses what went wrong: from one moment to another, both
// included, and for so long before. If that is negative, what faults leave behind excuses nothing, such as
// messages that come late.
type span struct{ from, to, after int64 }

// at is the span of something that happened at one time.
func (m *model) at(time int64) span { return span{time, time, int64(m.Grace)} }

// covers reports whether what lasted from one time to another, and left something behind for so long, was in
// force then.
func (in span) covers(from, to int64, leaves time.Duration) bool {
	if from > in.to {
		return false
	}
	if in.after >= 0 {
		to = later(later(to, int64(leaves)), in.after)
	}
	return to >= in.from
}

// later returns the time so much later, as far as there are such times.
func later(time, by int64) int64 {
	if time > math.MaxInt64-by {
		return math.MaxInt64
	}
	return time + by
}

// brokenIn returns those of the needs that did not hold in a span.
func (m *model) brokenIn(in span, needs nodes.Assumption) (broken nodes.Assumption) {
	broken = m.NeverHolds
	if d := m.sections.Deaths; m.Unheard && len(d) > 0 && d[0].From <= in.to { // nobody tells of the first crash
		broken |= nodes.PerfectDetector | nodes.EventualDetector
	}
	for i := range m.sections.Broken {
		if b := &m.sections.Broken[i]; b.At <= in.to {
			broken |= nodes.Assumption(b.Value)
		}
	}
	for i := range m.sections.Faults {
		broken |= m.brokenByFault(in, &m.sections.Faults[i])
	}
	for i := range m.sections.Pauses {
		if p := &m.sections.Pauses[i]; in.covers(p.From, p.To, 0) {
			broken |= nodes.NoPause | nodes.Timing
		}
	}
	for _, w := range m.sections.Wrongs {
		if in.covers(w.From, w.To, 0) {
			broken |= nodes.PerfectDetector | nodes.EventualDetector
		}
	}
	for _, w := range m.sections.Minorities(m.Config.N) {
		if in.covers(w.From, w.To, 0) {
			broken |= nodes.Majority
		}
	}
	for i := range m.sections.Deaths {
		d := &m.sections.Deaths[i]
		if int(d.Node) >= m.Config.N && in.covers(d.From, d.Back, 0) {
			broken |= nodes.ServersUp
		}
	}
	return broken & needs
}

// brokenBy returns those of the needs that did not hold at a time, or within the grace before.
func (m *model) brokenBy(at int64, needs nodes.Assumption) nodes.Assumption {
	return m.brokenIn(m.at(at), needs)
}

// brokenByFault returns what of the assumptions that a fault breaks did not hold in a span. A fault that is
// known to have hit nothing has broken none.
func (m *model) brokenByFault(in span, f *section.Fault) (broken nodes.Assumption) {
	asked, to := m.asked(f), f.To
	switch {
	case f.From > in.to || asked.OfLinks && f.Healed && f.Hits == 0 || m.timeless(asked, f) != "":
		return 0
	case asked.ForGood && !f.Healed && f.Breaks&nodes.ServersUp == 0: // what lasts is done at once
		to = f.From
	}
	broken = f.Breaks &^ nodes.Transient
	if in.covers(f.From, to, asked.Leaves) {
		broken = f.Breaks
	}
	if f.Nodes == 0 && len(f.Servers) == 0 && !asked.OfLinks {
		broken &^= nodes.NoCrash | nodes.NoAmnesia | nodes.ServersUp | nodes.ServerMajority
	}
	return broken
}

// asked returns what was asked for of a fault.
func (m *model) asked(f *section.Fault) *Fault {
	if f.Number < 1 || int(f.Number) > len(m.Faults) {
		return &Fault{Text: fmt.Sprintf("fault %d", f.Number)}
	}
	return &m.Faults[f.Number-1]
}

// excuse marks a finding as outside the model if some of the needs of the algorithm did not hold in a span.
func (m *model) excuse(f Finding, in span, needs nodes.Assumption) Finding {
	return m.outsideModel(f, "outside its model", in, needs)
}

// expect marks a stall as expected if some of the needs of the algorithm did not hold in a span.
func (m *model) expect(f Finding, in span, needs nodes.Assumption) Finding {
	words := "blocked, as its model allows"
	switch {
	case m.Replayed:
		words = "outside its model"
	case m.livelocked():
		words = "a livelock, as its model allows"
	}
	f = m.outsideModel(f, words, in, needs)
	f.Expected = f.OutsideModel
	return f
}

// outsideModel marks a finding as outside the model, in these words, if some of the needs did not hold.
func (m *model) outsideModel(f Finding, words string, in span, needs nodes.Assumption) Finding {
	if broken := m.brokenIn(in, needs); broken != 0 {
		f.Says += fmt.Sprintf(" (%s: it needs %v%s)", words, broken, m.culprit(in, broken))
		f.OutsideModel, f.Broken = true, broken
	}
	return f
}

// culprit names the first fault that broke some of the needs in a span, and whom it hit; without any, the
// first suspicion that did.
func (m *model) culprit(in span, broken nodes.Assumption) string {
	for i := range m.sections.Faults {
		f := &m.sections.Faults[i]
		if (m.brokenByFault(in, f)|m.brokenByDeathsOf(in, i))&broken == 0 ||
			int(f.Number) > len(m.Faults) || f.Number == 0 {
			continue
		}
		says := "; " + m.Faults[f.Number-1].Text
		if f.Victim >= 0 {
			says += ", which hit " + name(f.Victim)
		}
		return says
	}
	for _, w := range m.sections.Wrongs {
		if broken&(nodes.PerfectDetector|nodes.EventualDetector) != 0 && in.covers(w.From, w.To, 0) {
			at := time.Duration(w.From - m.sections.Marks[history.Began].At).Round(time.Microsecond)
			return fmt.Sprintf("; %s suspected %s at %v, which was up", name(w.By), name(w.Of), at)
		}
	}
	if broken&m.NeverHolds != 0 {
		return "; its timeouts are too short for the delays of the run"
	}
	return ""
}

// brokenByDeathsOf returns what did not hold in a span because of the deaths that a fault caused, beside that
// nodes do not crash: that no node comes up again without what it knew, that servers and a majority are up,
// and that a detector tells of crashes.
func (m *model) brokenByDeathsOf(in span, fault int) (broken nodes.Assumption) {
	forgot := m.forgot(in)
	for i := range m.sections.Deaths {
		d := &m.sections.Deaths[i]
		if m.killer(d) != fault {
			continue
		}
		if d == forgot {
			broken |= nodes.NoAmnesia
		}
		if int(d.Node) >= m.Config.N && in.covers(d.From, d.Back, 0) {
			broken |= nodes.ServersUp
		}
		if m.Unheard && i == 0 && d.From <= in.to {
			broken |= nodes.PerfectDetector | nodes.EventualDetector
		}
		for _, w := range m.sections.Minorities(m.Config.N) {
			if w.From == d.From && in.covers(w.From, w.To, 0) {
				broken |= nodes.Majority
			}
		}
	}
	return broken
}

// killer returns which of the faults that took place killed the node of a death: the latest before that kills
// it; -1: none did.
func (m *model) killer(d *section.Death) int {
	last := -1
	for i := range m.sections.Faults {
		f := &m.sections.Faults[i]
		kills := m.asked(f).Kills
		if f.Breaks&nodes.NoCrash != 0 && f.From <= d.At && (kills == nil || kills(d.Node, f.Victim)) {
			last = i
		}
	}
	return last
}

// forgot returns the death from which a node came up again without what it knew, the first until the end of a
// span; nil: none did. That is on record as the node comes up, or right after. Of servers of somebody else
// that are out of reach it is on record that they may be down as well.
func (m *model) forgot(in span) (d *section.Death) {
	const forgets = int64(nodes.NoAmnesia)
	before := int64(0)
	for i := range m.sections.Broken {
		b := &m.sections.Broken[i]
		if b.At > in.to {
			return nil
		}
		if b.Value&^before == forgets {
			for j := range m.sections.Deaths {
				if one := &m.sections.Deaths[j]; one.Back <= b.At && (d == nil || one.Back >= d.Back) {
					d = one
				}
			}
			return d
		}
		before = b.Value
	}
	return nil
}

// beside is the span of clients that were inside together at a time, where the first had entered before.
func (m *model) beside(entered, time int64) span { return span{entered, time, int64(m.Grace)} }

// outside reports whether clients that were inside together were outside the model of what safety rests on.
func (m *model) outside(entered, at int64) bool {
	return m.brokenIn(m.beside(entered, at), m.Safe) != 0
}

// stalledIn is the span in which a stall is judged. If nothing was left to happen, more time would not have
// helped, and no message was late: then only faults that were still in force excuse it.
func (m *model) stalledIn() span {
	mark := m.sections.Marks[history.Stalled]
	if mark.Value == 0 {
		return span{mark.At, mark.At, -1}
	}
	return m.at(mark.At)
}
