package section

import "turnstile/nodes/history"

// hear takes what a client has heard of its lock. Once its node was killed, that does not matter any more.
func (f *Fold) hear(e *history.Event, r *Resource, c *Client) {
	if _, dead := f.dead[e.Node]; dead {
		return
	}
	s := c.open
	mine := s != nil && s.Entry == e.Entry
	switch {
	case e.Kind == history.TryRefused && mine && s.State == waiting:
		r.refuseTry(e, f.clocks.all)
	case e.Kind == history.TryRefused:
		f.irregular(e, "is refused without a request")
	case mine && s.State == inside:
		s.tell(e.At)
	default:
		f.irregular(e, "is told that it has lost what it does not hold")
	}
}

// tell notes that the client of a section was told that what it holds is lost. Only the first time counts.
func (s *Section) tell(at int64) {
	if !s.Told {
		s.Told, s.ToldAt = true, at
	}
}

// refuseTry counts a try that was refused. It was refused although nobody was inside if, by the stamps,
// nobody has been at any moment of it. A client leaves before it asks again, whatever stamps err by.
func (r *Resource) refuseTry(e *history.Event, stampError int64) {
	r.Tries++
	others := r.lastLeft
	if r.lastBy == e.Node {
		others = r.others
	}
	if len(r.inside) == 0 && others < e.Value-stampError {
		r.FreeTries++
	}
}

// Late reports whether another entered while a section was inside, before its client was told that what it
// held was lost, if it ever was: by more than the stamps may err, and in a certain overlap.
func (s *Section) Late(stampError int64) bool {
	return s.Violates && s.Ended-stampError > s.Followed && (!s.Told || s.ToldAt-stampError > s.Followed)
}
