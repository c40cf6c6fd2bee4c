package check

import (
	"fmt"
	"math"
	"time"

	"turnstile/bench/section"
	"turnstile/nodes"
	"turnstile/nodes/history"
)

// A span is when assumptions are to have been broken to excuse something: at some time from one to another,
// both included, or so long before. If that is negative, not even what faults have left behind counts, such
// as messages that come late.
type span struct{ from, to, after int64 }

// at is the span of something that happened at one time.
func (e *Fold) at(time int64) span { return span{time, time, int64(e.Grace)} }

// covers reports whether what lasted from one time to another, and left something behind for so long, was in
// force then.
func (m span) covers(from, to int64, leaves time.Duration) bool {
	if from > m.to {
		return false
	}
	if m.after >= 0 {
		to = later(later(to, int64(leaves)), m.after)
	}
	return to >= m.from
}

// later returns the time so much later, as far as there are such times.
func later(time, by int64) int64 {
	if time > math.MaxInt64-by {
		return math.MaxInt64
	}
	return time + by
}

// brokenIn returns those of the needs that did not hold in a span.
func (e *Fold) brokenIn(m span, needs nodes.Assumption) (broken nodes.Assumption) {
	broken = e.NeverHolds
	if d := e.sections.Deaths; e.Unheard && len(d) > 0 && d[0].From <= m.to { // nobody tells of the first crash
		broken |= nodes.PerfectDetector | nodes.EventualDetector
	}
	for i := range e.sections.Broken {
		if b := &e.sections.Broken[i]; b.At <= m.to {
			broken |= nodes.Assumption(b.Value)
		}
	}
	for i := range e.sections.Faults {
		broken |= e.brokenByFault(m, &e.sections.Faults[i])
	}
	for i := range e.sections.Pauses {
		if p := &e.sections.Pauses[i]; m.covers(p.From, p.To, 0) {
			broken |= nodes.NoPause | nodes.Timing
		}
	}
	for _, w := range e.sections.Wrongs {
		if m.covers(w.From, w.To, 0) {
			broken |= nodes.PerfectDetector | nodes.EventualDetector
		}
	}
	for _, w := range e.sections.Minorities(e.Config.N) {
		if m.covers(w.From, w.To, 0) {
			broken |= nodes.Majority
		}
	}
	for i := range e.sections.Deaths {
		d := &e.sections.Deaths[i]
		if int(d.Node) >= e.Config.N && m.covers(d.From, d.Back, 0) {
			broken |= nodes.ServersUp
		}
	}
	return broken & needs
}

// brokenBy returns those of the needs that did not hold at a time, or within the grace before.
func (e *Fold) brokenBy(at int64, needs nodes.Assumption) nodes.Assumption {
	return e.brokenIn(e.at(at), needs)
}

// brokenByFault returns what of the assumptions that a fault breaks did not hold in a span. A fault that is
// known to have hit nothing has broken none.
func (e *Fold) brokenByFault(m span, f *section.Fault) (broken nodes.Assumption) {
	asked, to := e.asked(f), f.To
	switch {
	case f.From > m.to || asked.OfLinks && f.Healed && f.Hits == 0:
		return 0
	case asked.ForGood && !f.Healed: // what lasts is done at once
		to = f.From
	}
	broken = f.Breaks &^ nodes.Transient
	if m.covers(f.From, to, asked.Leaves) {
		broken = f.Breaks
	}
	if f.Nodes == 0 && !asked.OfLinks {
		broken &^= nodes.NoCrash
	}
	return broken
}

// asked returns what was asked for of a fault.
func (e *Fold) asked(f *section.Fault) *Fault {
	if f.Number < 1 || int(f.Number) > len(e.Faults) {
		return &Fault{Text: fmt.Sprintf("fault %d", f.Number)}
	}
	return &e.Faults[f.Number-1]
}

// excuse marks a finding as outside the model if some of the needs of the algorithm did not hold in a span.
func (e *Fold) excuse(f Finding, m span, needs nodes.Assumption) Finding {
	return e.outsideModel(f, "outside its model", m, needs)
}

// expect marks a stall as expected if some of the needs of the algorithm did not hold in a span.
func (e *Fold) expect(f Finding, m span, needs nodes.Assumption) Finding {
	f = e.outsideModel(f, "blocked, as its model allows", m, needs)
	f.Expected = f.OutsideModel
	return f
}

// outsideModel marks a finding as outside the model, in these words, if some of the needs did not hold.
func (e *Fold) outsideModel(f Finding, words string, m span, needs nodes.Assumption) Finding {
	if broken := e.brokenIn(m, needs); broken != 0 {
		f.Says += fmt.Sprintf(" (%s: it needs %v%s)", words, broken, e.culprit(m, broken))
		f.OutsideModel = true
	}
	return f
}

// downsServer reports whether a server died of a fault: of several that kill, it is the latest before.
func (e *Fold) downsServer(number int) bool {
	for i := range e.sections.Deaths {
		d, last := &e.sections.Deaths[i], -1
		for j := range e.sections.Faults {
			if f := &e.sections.Faults[j]; f.Breaks&nodes.NoCrash != 0 && f.From <= d.From {
				last = j
			}
		}
		if int(d.Node) >= e.Config.N && last == number {
			return true
		}
	}
	return false
}

// culprit names the first fault that broke some of the needs in a span, and whom it hit; without any, the
// first suspicion that did.
func (e *Fold) culprit(m span, broken nodes.Assumption) string {
	for i := range e.sections.Faults {
		f := &e.sections.Faults[i]
		breaks := e.brokenByFault(m, f)
		if breaks&nodes.NoCrash != 0 {
			breaks |= nodes.NoAmnesia // who has come up again without what it knew was down before
			if e.downsServer(i) {
				breaks |= nodes.ServersUp
			}
		}
		if breaks&broken == 0 || int(f.Number) > len(e.Faults) || f.Number == 0 {
			continue
		}
		says := "; " + e.Faults[f.Number-1].Text
		if f.Victim >= 0 {
			says += ", which hit " + name(f.Victim)
		}
		return says
	}
	for _, w := range e.sections.Wrongs {
		if broken&(nodes.PerfectDetector|nodes.EventualDetector) != 0 && m.covers(w.From, w.To, 0) {
			at := time.Duration(w.From - e.sections.Marks[history.Began].At).Round(time.Microsecond)
			return fmt.Sprintf("; %s suspected %s at %v, which was up", name(w.By), name(w.Of), at)
		}
	}
	if broken&e.NeverHolds != 0 {
		return "; its timeouts are too short for the delays of the run"
	}
	return ""
}

// outside reports whether something that happened at a time was outside the model of what safety rests on.
func (e *Fold) outside(at int64) bool { return e.brokenBy(at, e.Safe) != 0 }

// stalledIn is the span in which a stall is judged. If nothing is left to happen, no time would have helped
// any more, and nothing is held or late: then only what was still going on excuses it.
func (e *Fold) stalledIn() span {
	mark := e.sections.Marks[history.Stalled]
	if mark.Value == 0 {
		return span{mark.At, mark.At, -1}
	}
	return e.at(mark.At)
}
