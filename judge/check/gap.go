package check

import (
	"math"
	"slices"

	"turnstile/judge/section"
	"turnstile/nodes"
)

// gaps gathers for each fault the longest stretch of it in which somebody waited whom it left alone, and
// nobody entered.
type gaps struct {
	*model
	last    int64 // entry
	longest []gap // by fault, in the order of section.Fold.Faults
}

// A gap is a stretch of time.
type gap struct{ from, to int64 }

func (g gap) length() int64 { return g.to - g.from }

func (g *gaps) entered(s *section.Section) {
	g.wait(s, s.Entered)
	g.last = s.Entered
}

func (g *gaps) ended(s *section.Section) {
	if s.State == section.Unserved || s.State == section.Abandoned {
		g.wait(s, min(s.Ended, g.sections.Window.To))
	}
}

// wait takes the end of a wait.
func (g *gaps) wait(s *section.Section, until int64) {
	for i := range g.sections.Faults {
		f := &g.sections.Faults[i]
		g.longest = grown(g.longest, i+1)
		in := gap{max(g.last, s.Asked, f.From), min(until, f.To)}
		if in.length() > g.longest[i].length() && !g.hits(f, s.Node, in) {
			g.longest[i] = in
		}
	}
}

// hits reports whether a fault cuts a node off, or that stood still or was down in a stretch.
func (g *gaps) hits(f *section.Fault, id nodes.ID, in gap) bool {
	off := g.asked(f).CutsOff
	return off != nil && off(id, f.Victim) ||
		slices.ContainsFunc(g.sections.Pauses, func(p section.Pause) bool {
			return p.Process == uint32(id) && p.From <= in.to && p.To >= in.from
		}) || slices.ContainsFunc(g.sections.Deaths, func(d section.Death) bool {
		return d.Node == id && d.From <= in.to && d.Back >= in.from
	})
}

// of returns the longest stretch without an entry while a fault lasted.
func (g *gaps) of(f *section.Fault) (longest gap) {
	for i := range g.longest {
		if &g.sections.Faults[i] == f {
			longest = g.longest[i]
		}
	}
	return longest
}

// idle returns for how long nobody entered while a fault lasted, though the algorithm promises that somebody
// does; 0: it does not, or somebody did. That is all of the fault, or the longest stretch of it, if nothing
// else was wrong then: of processes, which may be late, by more than that.
func (e *evidence) idle(f *section.Fault) int64 {
	lasted := min(f.To, e.sections.Window.To) - f.From
	takes, is := e.takes(f)
	switch g := e.gaps.of(f); {
	case !is:
		return 0
	case f.Entries == 0 && lasted >= takes:
		return lasted
	case g.length() >= later(takes, int64(e.Slack)) && e.alone(f, g) && !e.stands(f, g):
		return g.length()
	}
	return 0
}

// takes returns how long entries may take to go on that the algorithm promises while a fault lasts: as long
// as twenty took before it, its grace, and what the fault may delay a request and all that is behind it. It
// reports false if none are promised.
func (e *evidence) takes(f *section.Fault) (takes int64, promised bool) {
	if !e.promises(f) || f.Before < 2 { // of one alone it is not known how long the next one takes
		return 0, false
	}
	takes = enoughEntries * ((f.From - e.sections.Window.From) / int64(f.Before))
	if len(f.Servers) > 0 && e.Recovers > 0 { // no client has to recover
		whole := gap{f.From, min(f.To, e.sections.Window.To)}
		return later(takes, int64(e.Recovers)), e.alone(f, whole)
	}
	hops, leaves := 2*int64(e.Config.N), int64(e.asked(f).Leaves)
	if leaves > math.MaxInt64/hops {
		return 0, false
	}
	return later(later(takes, int64(e.Grace)), hops*leaves), true
}

// alone reports whether nothing else was wrong in a stretch while a fault lasted, nor had the clients
// anything else to recover from.
func (e *evidence) alone(f *section.Fault, g gap) bool {
	in := span{g.from, g.to, int64(e.Grace)}
	for i := range e.sections.Faults {
		if other := &e.sections.Faults[i]; other != f && in.covers(other.From, other.To, e.asked(other).Leaves) {
			return false
		}
	}
	return e.brokenIn(in, e.Safe|e.Live) == 0
}

// stands reports whether a process stood still in a stretch while a fault lasted that stops none.
func (e *evidence) stands(f *section.Fault, g gap) bool {
	in := span{g.from, g.to, int64(e.Grace)}
	for _, p := range e.sections.Pauses {
		if f.Breaks&nodes.NoPause == 0 && in.covers(p.From, p.To, 0) {
			return true
		}
	}
	return false
}
