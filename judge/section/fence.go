package section

import (
	"cmp"
	"slices"
)

// Where entries have fence numbers, the resource is to accept nothing that is written under a lower number
// than the highest that has entered. The account, which is one word with that number, tells what came first:
// who entered before a write has read less than was written. Stamps would not tell, since a process may stand
// still between a stamp and what it is of.

// fence compares the fence number of an entry with those of the others: a number is passed once another
// enters under the same or a higher one. Of an entry that a process was asked for, the number counts before
// the stamp.
func (r *Resource) fence(s *Section, stampError int64, asked bool) {
	if s.Fence == 0 {
		r.Unfenced++
		return
	}
	for _, one := range r.inside {
		if one.Fence > s.Fence {
			continue
		}
		one.above = max(one.above, s.Fence)
		if one.passed == nil || s.Read < one.passed.Read {
			one.passed = new(*s)
		}
	}
	if r.top != nil && r.top.Fence >= s.Fence {
		s.passed, s.above = new(*r.top), r.top.Fence
	} else {
		if r.top == nil {
			r.top = &Section{}
		}
		*r.top = *s
	}
	r.refused = slices.DeleteFunc(r.refused, func(one *Section) bool {
		late := !asked && s.Entered-one.Ended > stampError
		if late {
			r.Baseless = cmp.Or(r.Baseless, one)
		}
		return late || one.Fence < s.Fence
	})
}

// refuse takes an exit whose write was refused. If nobody has entered by then under a higher number, somebody
// must have, by a later stamp within their error.
func (f *Fold) refuse(r *Resource, s *Section, at int64) {
	f.Refused++
	if f.Window.Has(s.Entered) {
		f.RefusedInWindow++
	}
	r.Refusals++
	if s.above <= s.Fence {
		one := *s
		one.Ended = at
		r.refused = append(r.refused, &one)
	}
}

// accept takes an exit whose write was accepted. It should not have been if somebody had entered under a
// number no lower, and read less.
func (f *Fold) accept(r *Resource, s *Section, at int64) {
	if s.passed != nil && s.passed.Read < s.Written {
		writer := *s
		writer.Ended = at
		r.Stale.keep(f.stretch(at), s.Entered, at, Overlap{A: &writer, B: s.passed, From: s.passed.Entered, To: at})
	}
}

// pair notes who was in an overlap with s, which ends, under the same fence number: a resource that demands
// numbers lets both write.
func (r *Resource) pair(s *Section, c *clocks) {
	for _, other := range r.inside {
		switch {
		case other == s || other.Fence != s.Fence || s.Fence == 0:
		case c.together(other, s, s.Ended):
			other.twin, s.twin = true, true
		case s.Ended > other.Entered && s.Ended > s.Entered:
			other.maybe, s.maybe = true, true
		}
	}
}

// unguarded counts a section that has ended if it wrote beside another under the same fence number, and a
// resource that demands numbers accepts that: by its stamps, nobody has entered under a higher number before.
// If one has, the write may have come before that all the same, since a process may stand still after it. A
// process that is asked enters a client some time before its stamp.
func (f *Fold) unguarded(r *Resource, s *Section) {
	wrote := s.State == Exited && !s.Refused
	passed := s.above > s.Fence || f.Asked
	switch {
	case !s.twin && !s.maybe || !wrote && s.State != Crashed:
	case wrote && s.twin && (f.Demands || !passed):
		r.Unguarded++
	default:
		r.MaybeUnguarded++
	}
}
