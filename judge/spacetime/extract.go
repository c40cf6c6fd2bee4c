// Package spacetime gathers what happened in a part of a run, node by node: each message from its send to
// what became of it, sections, who led, and what went wrong. Pictures and exports of single events are made
// from that.
package spacetime

import (
	"cmp"
	"slices"

	"turnstile/judge/leadership"
	"turnstile/judge/section"
	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/row"
)

// An Extract is what happened in a window of a run. Times are in nanoseconds since the run's zero.
type Extract struct {
	Stack  *row.Stack // of every node
	Window section.Window
	End    int64 // of the run

	Messages []Message            // that were under way in the window, in the order of their sends
	Sections []section.Section    // that touch the window, in the order of their requests
	Unissued []section.Section    // that were due in the window, and never asked for
	Reigns   []leadership.Stretch // in which a node led, as far as they touch the window
	Events   []history.Event      // of nodes in the window, those that Steps has
	Deaths   []section.Death      // of all the run, as are pauses and faults
	Pauses   []section.Pause
	Faults   []section.Fault
	Measured section.Window // what is measured of the run
	Together []Together     // in the window, in the order of their beginnings
	// First is the first thing of the run that was not to be; nil: nothing is known of.
	First *Together

	// Complete is from when on all messages are known, and Until is up to when.
	Complete, Until int64
	texts           map[nodes.ID][]history.Text // of the records of each node; nil: none are kept
	// TooMany says that there are more sections in the window than an extract holds.
	TooMany bool
}

// How many sections and events an extract holds.
const (
	mostSections = 1_000_000
	mostEvents   = 1_000_000
)

// A Together is a time in which nodes did what only one may, or a moment in which something else went wrong.
type Together struct {
	section.Window
	Nodes []nodes.ID
	Since int64 // when the first of these sections was asked for; of leaders, From
	What  What
	May   bool // it is allowed: fence numbers or terms tell them apart, or for so long two may lead
}

// A What says what went wrong.
type What uint8

// Kinds of what goes wrong.
const (
	Inside   What = iota // more were inside than may be
	Leading              // two led at once
	Stalled              // nothing moves any more, and somebody waits
	Observed             // whoever plays the schedule has seen something: see history.Observed
)

// A Fold makes an Extract of a history. Extract is complete once it is closed.
type Fold struct {
	Extract
	sections *section.Fold
	leaders  []*leadership.Fold // of the elector, if there is one
	seen     *Together          // what was observed first
	err      int64              // of comparing two stamps
}

// New returns a fold of a history whose nodes are made of a stack, for what happened in a window of it.
func New(h history.Header, stack *row.Stack, window section.Window) *Fold {
	config := stack.Instances()[0].Config
	f := &Fold{Extract: Extract{Stack: stack, Window: window}, err: h.StampError}
	f.sections = section.New(h.StampError, func(uint16) int { return config.Capacity() })
	f.sections.Observe(observer{f})
	if elector := stack.Elector(); elector != nil {
		leaders := leadership.New(elector.Config, elector.Elector)
		leaders.Servers = stack.Total() - stack.N()
		f.leaders = append(f.leaders, leaders)
	}
	return f
}

// Add implements history.Fold.
func (f *Fold) Add(e history.Event) {
	f.sections.Add(e)
	for _, l := range f.leaders {
		l.Add(e)
	}
	f.End = max(f.End, e.At)
	if e.Node >= 0 && f.touches(e.At, e.At) && told(e.Kind) && len(f.Events) < mostEvents {
		f.Events = append(f.Events, e)
	}
	if e.Kind != history.Observed || e.Count == history.Quiet || f.seen != nil {
		return
	}
	f.seen = &Together{Window: section.Window{From: e.At, To: e.At}, Since: e.At, What: Observed}
	if e.Node >= 0 {
		f.seen.Nodes = []nodes.ID{e.Node}
	}
}

// touches reports whether something that lasted from one time to another was in the window, whose ends both
// belong to it.
func (f *Extract) touches(from, to int64) bool { return from <= f.Window.To && to >= f.Window.From }

// told reports whether events of a kind are steps of a node.
func told(k history.Kind) bool {
	switch k {
	case history.Requested, history.Entered, history.Exited, history.Revoked, history.ToldLost,
		history.Elected, history.Crashed, history.Restarted, history.Campaigned, history.Suspected, history.Trusted:
		return true
	}
	return false
}

// An observer takes the sections of a run.
type observer struct{ *Fold }

// Add implements history.Fold: the fold has taken the event.
func (observer) Add(history.Event) {}

// Close implements history.Fold.
func (observer) Close([]*history.NodeLog) {}

// Asked implements section.Observer.
func (observer) Asked(*section.Section) {}

// Entered implements section.Observer.
func (observer) Entered(*section.Section) {}

// Ended implements section.Observer.
func (o observer) Ended(s *section.Section) {
	unissued := s.State == section.Unissued
	switch {
	case unissued && !o.touches(s.Due, s.Due) || !unissued && !o.touches(s.Asked, s.Ended):
	case len(o.Sections)+len(o.Unissued) >= mostSections:
		o.Extract.TooMany = true
	case unissued:
		o.Extract.Unissued = append(o.Extract.Unissued, *s)
	default:
		o.Extract.Sections = append(o.Extract.Sections, *s)
	}
}

// Close implements history.Fold.
func (f *Fold) Close(logs []*history.NodeLog) {
	f.sections.Close(logs)
	f.Deaths, f.Pauses, f.Faults = f.sections.Deaths, f.sections.Pauses, f.sections.Faults
	f.Measured = f.sections.Window
	slices.SortStableFunc(f.Sections, func(a, b section.Section) int { return cmp.Compare(a.Asked, b.Asked) })
	f.inside()
	for _, l := range f.leaders {
		l.Close(logs)
		f.leading(l)
	}
	slices.SortStableFunc(f.Together, func(a, b Together) int { return cmp.Compare(a.From, b.From) })
	f.blame()
	f.match(logs)
}
