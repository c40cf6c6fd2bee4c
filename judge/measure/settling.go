package measure

import (
	"turnstile/judge/section"
	"turnstile/nodes"
	"turnstile/nodes/history"
)

// A settling passes on what it observes in the same order, but each entry only after its section has ended:
// only then it is known whether the resource refused the write. Until then it queues all that follows.
type settling struct {
	to    section.OverlapObserver
	queue []step
	gone  uint64              // how many steps have been passed on
	open  map[clientOf]uint64 // by client inside: the number of the step in which it entered
}

type clientOf struct {
	instance uint16
	node     nodes.ID
}

// A step is one observed call. It has a copy of the section, whose memory is reused.
type step struct {
	section section.Section
	do      func(to section.OverlapObserver, s *section.Section)
	waits   bool // its section has not ended
}

// Asked implements section.Observer.
func (o *settling) Asked(s *section.Section) {
	if len(o.queue) == 0 {
		o.to.Asked(s)
		return
	}
	o.take(step{section: *s, do: section.OverlapObserver.Asked})
}

// Entered implements section.Observer.
func (o *settling) Entered(s *section.Section) {
	fenced := s.Fence > 0 // without a fence number, no write can be refused
	if fenced {
		o.open[clientOf{s.Resource.Instance, s.Node}] = o.gone + uint64(len(o.queue))
	} else if len(o.queue) == 0 {
		o.to.Entered(s)
		return
	}
	o.take(step{section: *s, do: section.OverlapObserver.Entered, waits: fenced})
}

// Ended implements section.Observer.
func (o *settling) Ended(s *section.Section) {
	if len(o.queue) == 0 {
		o.to.Ended(s)
		return
	}
	client := clientOf{s.Resource.Instance, s.Node}
	if number, inside := o.open[client]; inside && s.Served() {
		entry := &o.queue[number-o.gone]
		entry.section.Refused, entry.waits = s.Refused, false
		delete(o.open, client)
	}
	o.take(step{section: *s, do: section.OverlapObserver.Ended})
}

// Overlapped implements section.OverlapObserver.
func (o *settling) Overlapped(r *section.Resource, when section.Window) {
	o.take(step{do: func(to section.OverlapObserver, _ *section.Section) { to.Overlapped(r, when) }})
}

// Add implements history.Fold.
func (o *settling) Add(e history.Event) {
	if len(o.queue) == 0 {
		o.to.Add(e)
		return
	}
	o.take(step{do: func(to section.OverlapObserver, _ *section.Section) { to.Add(e) }})
}

// Close implements history.Fold. All sections have ended.
func (o *settling) Close(logs []*history.NodeLog) { o.to.Close(logs) }

// take adds a step, and passes on all up to the first whose section has not ended.
func (o *settling) take(s step) {
	o.queue = append(o.queue, s)
	done := 0
	for ; done < len(o.queue) && !o.queue[done].waits; done++ {
		o.queue[done].do(o.to, &o.queue[done].section)
	}
	if done == 0 {
		return
	}
	o.gone += uint64(done)
	o.queue = append(o.queue[:0], o.queue[done:]...)
}
