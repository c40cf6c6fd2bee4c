package section

import "slices"

// Where entries have fence numbers, the resource is to accept nothing that is written under a lower number
// than the highest that has entered. The account, which is one word with that number, tells what came first:
// who entered before a write has read less than was written. Stamps would not tell, since a process may stand
// still between a stamp and what it is of.

// fence takes an entry: whoever is inside under a number no higher has been passed. So has this one, if
// somebody has entered before under a number no lower.
func (r *Resource) fence(s *Section, stampError int64) {
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
		*r.highest() = *s
	}
	r.refused = slices.DeleteFunc(r.refused, func(one *Section) bool {
		late := s.Entered-one.Ended > stampError
		if late {
			r.baseless(one)
		}
		return late || one.Fence < s.Fence
	})
}

// highest returns where who entered under the highest number is kept.
func (r *Resource) highest() *Section {
	if r.top == nil {
		r.top = &Section{}
	}
	return r.top
}

// refuse takes an exit whose write was refused, and counts its entry.
func (f *Fold) refuse(r *Resource, s *Section, at int64) {
	f.Refused++
	if f.Window.Has(s.Entered) {
		f.RefusedInWindow++
	}
	r.refuse(s, at)
}

// refuse takes an exit whose write was refused. If nobody has entered by then under a higher number, somebody
// must have, by a later stamp within their error.
func (r *Resource) refuse(s *Section, at int64) {
	r.Refusals++
	if s.above <= s.Fence {
		one := *s
		one.Ended = at
		r.refused = append(r.refused, &one)
	}
}

// baseless takes a write that was refused though nobody had entered under a higher number.
func (r *Resource) baseless(s *Section) {
	if r.Baseless == nil {
		r.Baseless = s
	}
}

// accept takes an exit whose write was accepted. It should not have been if somebody had entered under a
// number no lower, and read less.
func (f *Fold) accept(r *Resource, s *Section, at int64) {
	if s.passed != nil && s.passed.Read < s.Written {
		writer := *s
		writer.Ended = at
		r.Stale.keep(f.stretch(at), at, Overlap{A: &writer, B: s.passed, From: s.passed.Entered, To: at})
	}
}
