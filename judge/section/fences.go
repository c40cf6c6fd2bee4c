package section

import (
	"cmp"
	"slices"
)

// fences has what fence numbers show. The resource must refuse a write under a lower number than the highest
// that has entered. The account, one word together with that number, tells which came first: a client that
// entered before a write has read a lower value than was written. Stamps cannot tell, since a process may
// stand still between an action and its stamp.
type fences struct {
	Unfenced uint64           // entries without a fence number
	Refusals uint64           // exits whose write was refused
	Stale    Moments[Overlap] // writes by A that should have been refused, since B had entered before
	Baseless *Section         // the first section refused though no higher number had entered, or nil
	// Unguarded counts entries in a certain overlap with another under the same fence number: the resource
	// accepts both writes, though it demands numbers. MaybeUnguarded counts entries for which this is
	// uncertain.
	Unguarded, MaybeUnguarded uint64

	top     *Section   // a copy of the section with the highest fence number, or nil
	refused []*Section // copies of refused sections, until another section enters under a higher number
}

// fence compares the fence number of an entry with the others. A number is passed when another
// client enters under the same or a higher one. asked means that a process lets clients in some time before
// their stamps.
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

// refuse takes an exit whose write was refused. A client must have entered under a higher number before, or
// by a later stamp within the error.
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

// accept takes an exit whose write was accepted. The write should have been refused if another client had
// entered under the same or a higher number before the write. Then that client has read a lower value than
// was written.
func (f *Fold) accept(r *Resource, s *Section, at int64) {
	if s.passed != nil && s.passed.Read < s.Written {
		writer := *s
		writer.Ended = at
		r.Stale.keep(f.stretch(at), s.Entered, at, f.spared(at, s, s.passed),
			Overlap{A: &writer, B: s.passed, From: s.passed.Entered, To: at})
	}
}

// pair notes the sections that overlap with s, which ends, under the same fence number: a resource that
// demands numbers lets both write.
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

// unguarded counts a section that wrote beside another under the same fence number, if a resource that
// demands numbers accepts that write: by the stamps no client had entered under a higher number. If one had,
// the write may still have come before, since a process may stand still after it; so this is uncertain. The
// same holds if a process is asked, which lets clients in before their stamps.
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
