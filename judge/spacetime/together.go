package spacetime

import (
	"cmp"
	"slices"

	"turnstile/judge/leadership"
	"turnstile/judge/section"
	"turnstile/nodes"
	"turnstile/nodes/history"
)

// An edge is where a section begins or ends.
type edge struct {
	at   int64
	in   bool
	what *section.Section
}

// inside looks when more were inside than may be, by the sections of the window.
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
			if a.at == b.at && a.in != b.in { // who leaves makes room
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

// leading takes who led, and when several did that may not.
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

// led returns the time of several leaders.
func (f *Fold) led(o leadership.Overlap) Together {
	return Together{Window: section.Window{From: o.From, To: o.To}, Nodes: o.Leaders, Since: o.From,
		What: Leading, May: f.mayLead(o)}
}

// mayLead reports whether two may lead so: in terms of their own, or for as long as a take-over takes.
func (f *Fold) mayLead(o leadership.Overlap) bool {
	elector := f.Stack.Elector()
	if elector.Elector.Terms {
		return !o.SameTerm
	}
	allowed := elector.Elector.Overlap
	return allowed != nil && o.To-o.From <= int64(allowed(elector.Config))
}

// blame finds the first thing of the whole run that was not to be.
func (f *Fold) blame() {
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
