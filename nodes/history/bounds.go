package history

import (
	"cmp"
	"math"
	"slices"

	"turnstile/nodes"
)

// NoClock is the number of a clock that jumped: not even stamps of one host can be compared meanwhile.
const NoClock = math.MaxUint64

// correct has the logs of a folder stamped by the reference's clock from now on.
func (f *folder) correct(all []Clock) {
	f.clocks = all
	for _, l := range f.readers {
		l.own = l.StampError
		for i := range all {
			if slices.Contains(all[i].Nodes, l.Node) {
				l.clock = &all[i]
				l.StampError += all[i].bound()
			}
		}
		for i := range l.Trace {
			l.Trace[i].At = l.corrected(l.Trace[i].At)
		}
	}
}

// corrected returns a time of a log by the reference's clock.
func (l *logReader) corrected(at int64) int64 {
	if l.clock == nil {
		return at
	}
	return l.clock.Correct(at)
}

// restamp corrects the times of the latest event. Stamps of a log never fall.
func (l *logReader) restamp(last int64) {
	if l.clock == nil {
		return
	}
	l.event.At = l.corrected(l.event.At)
	if l.count > 0 {
		l.event.At = max(l.event.At, last)
	}
	if l.event.Kind == Requested || l.event.Kind == Unissued {
		l.event.Value = l.corrected(l.event.Value)
	}
}

// bound notes how far the stamps of nodes may err from when on, in the order of time, of a history whose
// first event is at begin; nothing, if all nodes have the reference's clock.
func (f *folder) bound(begin int64) {
	if len(f.clocks) == 0 {
		return
	}
	own, clockOf := map[nodes.ID]int64{}, map[nodes.ID]int{}
	for _, l := range f.readers {
		own[l.Node] = max(own[l.Node], l.own)
	}
	for i := range f.clocks {
		for _, id := range f.clocks[i].Nodes {
			clockOf[id] = i + 1
		}
	}
	for id := range own {
		e := Event{At: begin, Kind: ClockBound, Count: uint32(id), Value: own[id], Node: nodes.None,
			Entry: uint32(min(own[id], math.MaxUint32))}
		if id == nodes.None {
			continue
		} else if i := clockOf[id]; i == 0 {
			f.bounds = append(f.bounds, e)
		} else {
			f.bounds = append(f.bounds, f.clocks[i-1].bounds(i, e)...)
		}
	}
	slices.SortFunc(f.bounds, func(a, b Event) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Count, b.Count))
	})
}

// bounds returns the bounds on the errors of stamps of a node that has the clock, of that number, given
// that by its log alone. They are told when they grow, and when they are half of what they were or less.
func (c *Clock) bounds(number int, own Event) (all []Event) {
	told := own
	told.Value, told.Fence = Unknowable, NoClock
	all = append(all, told)
	for i := range c.Pieces {
		p, now := &c.Pieces[i], own
		now.At, now.Fence = max(own.At, p.From-c.Reference), uint64(number)
		bound := min(p.Bound, Unknowable) + own.Value
		now.Value = bound
		if p.Unknown {
			now.Fence = NoClock
		} else if told.Fence == now.Fence && bound <= told.Value && bound > told.Value/2 {
			continue
		} else {
			now.Value += bound / 8 // so that it holds for a while
		}
		if told = now; all[len(all)-1].At == now.At {
			all[len(all)-1] = now
		} else {
			all = append(all, now)
		}
	}
	return all
}
