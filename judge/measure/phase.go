package measure

import (
	"math"

	"turnstile/internal/figure"
	"turnstile/judge/section"
)

// A phase is a part of the window, before, during or after a fault, with what happened in it.
type phase struct {
	section.Window // its end is math.MaxInt64 while it goes on
	entries        uint64
	refused        uint64 // of these, by the resource
	waits          sparse
	overlap        int64
	first, last    counters // at its beginning and its end
}

// counters are how many messages there were at some time.
type counters struct {
	known         bool
	sent, dropped uint64
}

// fill adds the figures of a phase to those of its fault, given which phase that is. Those of a phase without
// length are not measured.
func (p *phase) fill(row *OfFault, i int) {
	if p == nil || !p.Known() {
		return
	}
	row.Entries[i], row.Refused[i] = figure.Count(p.entries), figure.Count(p.refused)
	row.Accepted[i] = figure.Count(p.accepted())
	row.PerS[i] = figure.Number(p.rate() * 1e9)
	row.WaitUS[i] = OfWaits{p.waits.microsAt(0.5), p.waits.microsAt(0.99), p.waits.microsAt(1)}
	row.OverlapUS[i] = figure.Number(float64(p.overlap) / 1e3)
	// Counters never fall; if they do in a history, they are wrong.
	if p.first.known && p.last.known && p.last.sent >= p.first.sent && p.last.dropped >= p.first.dropped {
		row.Messages[i] = figure.Count(p.last.sent - p.first.sent)
		row.Dropped[i] = figure.Count(p.last.dropped - p.first.dropped)
	}
}

// accepted returns how many of the entries were not refused.
func (p *phase) accepted() uint64 { return p.entries - p.refused }

// rate returns accepted entries per nanosecond of a phase that has a length.
func (p *phase) rate() float64 { return float64(p.accepted()) / float64(p.Length()) }

// phases are those that go on, and those that are over in the order of their ends. A wait or an overlap may
// have gone on in any open phase and in the latest closed ones.
type phases struct{ open, closed []*phase }

// begin returns a new phase from a time on.
func (ps *phases) begin(at int64) *phase {
	p := &phase{Window: section.Window{From: at, To: math.MaxInt64}}
	ps.open = append(ps.open, p)
	return p
}

// end ends a phase, if it goes on. It must not be earlier than the end of any other.
func (ps *phases) end(p *phase, at int64) {
	if p == nil || !ps.drop(p) {
		return
	}
	p.To = at
	ps.close(p)
}

// close adds a phase that is over.
func (ps *phases) close(p *phase) {
	if p.Known() {
		ps.closed = append(ps.closed, p)
	}
}

// drop forgets a phase that goes on. It reports whether there was one.
func (ps *phases) drop(p *phase) bool {
	for i, o := range ps.open {
		if o == p {
			ps.open = append(ps.open[:i], ps.open[i+1:]...)
			return true
		}
	}
	return false
}

// touched calls do for each phase in which something went on that lasted from one time to another.
func (ps *phases) touched(from, to int64, do func(*phase)) {
	for _, p := range ps.open {
		if p.Touches(from, to) {
			do(p)
		}
	}
	for i := len(ps.closed) - 1; i >= 0 && ps.closed[i].To > from; i-- {
		if p := ps.closed[i]; p.Touches(from, to) {
			do(p)
		}
	}
}
