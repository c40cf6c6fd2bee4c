// Package spacetime gathers the events in a part of a run, node by node: messages from their send to their
// receipt or loss, sections, leaders, and failures. Pictures and exports of single events use it.
package spacetime

import (
	"cmp"
	"math"
	"slices"

	"turnstile/judge/leadership"
	"turnstile/judge/section"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/history"
)

// An Extract holds the events in a window of a run. Times are in nanoseconds since the run's zero.
type Extract struct {
	Stack  *algorithm.Stack // the stack of every node
	Window section.Window
	End    int64 // when the run ended

	Messages []Message            // messages on their way in the window, in the order of their sends
	Sections []section.Section    // sections that overlap the window, in the order of their requests
	Unissued []section.Section    // sections due in the window, and never asked for
	Reigns   []leadership.Stretch // stretches in which a node led, if they overlap the window
	Events   []history.Event      // events of nodes in the window, of the kinds that become Steps
	Deaths   []section.Death      // deaths in the whole run; Pauses and Faults cover the whole run too
	Pauses   []section.Pause
	Faults   []section.Fault
	Measured section.Window // the measured time of the run
	// LastIn are the nodes whose clients entered last in the whole run, by instance; nodes.None: no client did.
	LastIn   []nodes.ID
	Together []Together // overlaps of clients or leaders in the window, in the order of their beginnings
	// First is the first failure of the run, or nil.
	First *Together

	// From Complete until Until, all messages are known.
	Complete, Until int64
	texts           map[nodes.ID][]history.Text // texts of messages, by node and record; nil: not kept
	// TooMany means that the window has more messages or sections than an extract holds.
	TooMany bool
}

// How many messages, sections and events an extract holds at most. They take up to 500 MB.
const (
	MostMessages = 1 << 22
	MostSections = 1_000_000
	MostEvents   = 1_000_000
)

// A Together is a time in which several nodes did what only one may, or the moment of another failure.
type Together struct {
	section.Window
	Nodes []nodes.ID
	Since int64 // when the first of the overlapping sections was asked for; for other kinds, From
	What  What
	May   bool // it is allowed: fence numbers or terms tell the nodes apart, or a take-over may take so long
}

// A What is a kind of failure.
type What uint8

// Kinds of failures.
const (
	Inside   What = iota // clients inside held more units than there are
	Leading              // several nodes led at once
	Stalled              // a client waits, and no client enters any more: see history.Stalled
	Observed             // the player of a schedule observed something: see history.Observed
)

// A Fold makes an Extract of a history. Extract is complete once the fold is closed.
type Fold struct {
	Extract
	sections *section.Fold
	leaders  []*leadership.Fold // the fold for the elector; empty if the stack has no elector
	seen     *Together          // the first failure that the player of a schedule observed
	err      int64              // bound on the error of comparing two stamps
	passing  *passing           // matches the messages of a simulated run as they pass; nil: there were none
}

// New returns a fold that makes the extract of a window of a history. All nodes have the instances of stack.
func New(h history.Header, stack *algorithm.Stack, window section.Window) *Fold {
	config := stack.Instances()[0].Config
	f := &Fold{Extract: Extract{Stack: stack, Window: window}, err: h.StampError}
	for range stack.Instances() {
		f.LastIn = append(f.LastIn, nodes.None)
	}
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
	if e.Kind == history.Entered && int(e.Instance) < len(f.LastIn) {
		f.LastIn[e.Instance] = e.Node
	}
	if e.Node >= 0 && f.touches(e.At, e.At) && isStep(e.Kind) && len(f.Events) < MostEvents {
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

// touches reports whether the time [from, to] and the window have a moment in common. Both include their
// ends.
func (f *Extract) touches(from, to int64) bool { return from <= f.Window.To && to >= f.Window.From }

// isStep reports whether events of a kind are steps of a node.
func isStep(k history.Kind) bool {
	switch k {
	case history.Requested, history.Entered, history.Exited, history.Revoked, history.ToldLost, history.GaveUp,
		history.Elected, history.Crashed, history.Restarted, history.Campaigned, history.Suspected, history.Trusted:
		return true
	}
	return false
}

// An observer puts the sections of a run into the extract of its Fold.
type observer struct{ *Fold }

// Add implements history.Fold. Fold.Add has taken the event already.
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
	case len(o.Sections)+len(o.Unissued) >= MostSections:
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
	f.findFirst()
	f.Complete, f.Until = math.MinInt64, math.MaxInt64
	if f.passing == nil {
		f.match(logs)
	}
	f.finish()
}

// An edge is where a section begins or ends.
type edge struct {
	at   int64
	in   bool
	what *section.Section
}

// inside finds the times in which clients held more units than there are, by the sections of the window.
func (f *Fold) inside() {
	edges := map[uint16][]edge{}
	for i := range f.Sections {
		if s := &f.Sections[i]; s.Served() && s.Ended > s.Entered {
			at := s.Resource.Instance
			edges[at] = append(edges[at], edge{s.Entered, true, s}, edge{s.Ended, false, s})
		}
	}
	for instance := range uint16(len(f.sections.Resources)) {
		all := edges[instance]
		slices.SortStableFunc(all, func(a, b edge) int {
			if a.at == b.at && a.in != b.in { // exits come before entries
				return map[bool]int{true: 1, false: -1}[a.in]
			}
			return cmp.Compare(a.at, b.at)
		})
		f.sweep(all)
	}
}

// sweep follows the sections of a resource from edge to edge.
func (f *Fold) sweep(edges []edge) {
	var held uint32
	var in []*section.Section
	var over *Together
	for _, e := range edges {
		if e.in {
			held, in = held+e.what.Units, append(in, e.what)
		} else {
			held -= e.what.Units
			in = slices.DeleteFunc(in, func(s *section.Section) bool { return s == e.what })
		}
		switch full := held > e.what.Resource.Capacity; {
		case full && over == nil:
			over = &Together{Window: section.Window{From: e.at}, Since: e.at, What: Inside,
				May: f.Stack.Fenced(int32(e.what.Resource.Instance))}
			fallthrough
		case full:
			for _, s := range in {
				if over.Since = min(over.Since, s.Asked); !slices.Contains(over.Nodes, s.Node) {
					over.Nodes = append(over.Nodes, s.Node)
				}
			}
		case over != nil:
			if over.To = e.at; over.Length() > f.err {
				f.Together = append(f.Together, *over)
			}
			over = nil
		}
	}
}

// leading adds the stretches of leaders, and the times with several leaders, to the extract.
func (f *Fold) leading(l *leadership.Fold) {
	for _, s := range l.Stretches {
		if s.State == leadership.Leads && f.touches(s.From, s.To) {
			f.Reigns = append(f.Reigns, s)
		}
	}
	for _, o := range l.Overlaps {
		if f.touches(o.From, o.To) {
			f.Together = append(f.Together, f.led(o))
		}
	}
}

// led returns an overlap of leaders as a Together.
func (f *Fold) led(o leadership.Overlap) Together {
	return Together{Window: section.Window{From: o.From, To: o.To}, Nodes: o.Leaders, Since: o.From,
		What: Leading, May: f.mayLead(o)}
}

// mayLead reports whether several leaders are allowed: in different terms, or for as long as a take-over
// takes.
func (f *Fold) mayLead(o leadership.Overlap) bool {
	elector := f.Stack.Elector()
	if elector.Elector.Terms {
		return !o.SameTerm
	}
	allowed := elector.Elector.Overlap
	return allowed != nil && o.To-o.From <= int64(allowed(elector.Config))
}

// findFirst sets First, over the whole run.
func (f *Fold) findFirst() {
	var all []Together
	for _, r := range f.sections.Resources {
		if r == nil || r.First == nil || f.Stack.Fenced(int32(r.Instance)) {
			continue
		}
		o := r.First
		all = append(all, Together{Window: section.Window{From: o.From, To: o.To}, What: Inside,
			Nodes: []nodes.ID{o.A.Node, o.B.Node}, Since: min(o.A.Asked, o.B.Asked)})
	}
	for _, l := range f.leaders {
		for _, o := range l.Overlaps {
			if !f.mayLead(o) {
				all = append(all, f.led(o))
			}
		}
	}
	if f.seen != nil {
		all = append(all, *f.seen)
	}
	if m := f.sections.Marks[history.Stalled]; m.Seen {
		all = append(all, Together{Window: section.Window{From: m.At, To: m.At}, Since: m.At, What: Stalled})
	}
	for i := range all {
		if f.First == nil || all[i].From < f.First.From {
			f.First = &all[i]
		}
	}
}

// keepTexts keeps the texts of messages, by their index among the records of their nodes.
func (f *Fold) keepTexts(logs []*history.NodeLog) {
	for _, l := range logs {
		if len(l.Texts) > 0 {
			f.texts = map[nodes.ID][]history.Text{}
		}
	}
	if f.texts == nil {
		return
	}
	for _, l := range logs {
		for i := range l.Trace {
			f.texts[l.Node] = append(f.texts[l.Node], l.Text(i))
		}
	}
}

// Name returns the name of a message's kind or, if a foreign program did not declare the kind, its type.
func (f *Extract) Name(m *Message) string {
	return cmp.Or(f.text(m).Type, f.Stack.Codec().Name(int(m.Kind)))
}

// Body returns the shortened content of a message of a foreign program; empty: unknown.
func (f *Extract) Body(m *Message) string { return f.text(m).Body }

func (f *Extract) text(m *Message) (says history.Text) {
	id, place := m.From, m.sent
	if m.Sent == Unknown {
		id, place = m.To, m.over
	}
	if all := f.texts[id]; int(place) < len(all) {
		says = all[place]
	}
	return says
}
