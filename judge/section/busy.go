package section

// A busy adds up for how much of the window somebody was inside who was not refused.
type busy struct {
	Busy  int64    // in nanoseconds, up to when nobody was inside
	stays []Window // since then, in order
}

// left takes a section that is over; empty says that nobody is inside any more. None before it ended later.
func (b *busy) left(s *Section, empty bool, w Window) {
	if !s.Refused {
		stay, last := Window{s.Entered, s.Ended}, len(b.stays)
		for ; last > 0 && b.stays[last-1].To >= stay.From; last-- {
			stay.From = min(stay.From, b.stays[last-1].From)
		}
		b.stays = append(b.stays[:last], stay)
	}
	if empty {
		for _, stay := range b.stays {
			b.Busy += w.Overlap(stay.From, stay.To)
		}
		b.stays = b.stays[:0]
	}
}

// Busy returns for how many nanoseconds of the window somebody was inside any of the resources who was not
// refused.
func (f *Fold) Busy() (ns int64) {
	if f.Named > 1 {
		return f.any.Busy
	}
	for _, r := range f.Resources {
		if r != nil {
			ns += r.Busy
		}
	}
	return ns
}

// left takes a section of any of the resources that is over.
func (f *Fold) left(s *Section) {
	if f.within--; f.Named > 1 {
		f.any.left(s, f.within == 0, f.Window)
	}
}
