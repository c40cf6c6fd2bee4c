package spacetime

import (
	"cmp"
	"slices"

	"turnstile/nodes/history"
)

// A Step is one thing that a node did: it sent a message, or several by one multicast, handled one, or had an
// event.
type Step struct {
	At       int64
	Messages []int32        // among those of the extract; nil: it had an event
	Receipt  bool           // the message was handled
	Event    *history.Event // nil: the step is about messages
	// Clock is the vector clock of the node after the step: how many steps of each node it can know of.
	Clock []uint32

	place int32 // among the records of the node
}

// Steps returns the steps of each node in the window, with their vector clocks (C. J. Fidge, 1988; F.
// Mattern, 1989). At one time a node first handles what has come; that is the order of its log otherwise.
func (f *Extract) Steps() [][]Step {
	all := make([][]Step, f.Stack.Total())
	for i := range f.Messages {
		m := &f.Messages[i]
		if m.Sent != Unknown && f.touches(m.Sent, m.Sent) {
			all[m.From] = append(all[m.From], Step{At: m.Sent, Messages: []int32{int32(i)}, place: m.sent})
		}
		if m.Fate == Handled && f.touches(m.Over, m.Over) {
			all[m.To] = append(all[m.To], Step{At: m.Over, Messages: []int32{int32(i)}, Receipt: true, place: m.over})
		}
	}
	events := make([][]history.Event, len(all))
	for _, e := range f.Events {
		events[e.Node] = append(events[e.Node], e)
	}
	for id := range all {
		slices.SortStableFunc(all[id], func(a, b Step) int { return cmp.Compare(a.place, b.place) })
		all[id] = merged(joined(all[id]), events[id])
	}
	f.setClocks(all)
	return all
}

// joined makes one step of those of one record: a multicast, or a message and its copies by the network.
func joined(steps []Step) (all []Step) {
	for _, s := range steps {
		if last := len(all) - 1; last >= 0 && all[last].place == s.place {
			all[last].Messages = append(all[last].Messages, s.Messages...)
			continue
		}
		all = append(all, s)
	}
	return all
}

// merged puts the events of a node among its other steps.
func merged(steps []Step, events []history.Event) (all []Step) {
	for i := range events {
		e := &events[i]
		for len(steps) > 0 && (steps[0].At < e.At || steps[0].At == e.At && steps[0].Receipt) {
			all, steps = append(all, steps[0]), steps[1:]
		}
		all = append(all, Step{At: e.At, Event: e})
	}
	return append(all, steps...)
}

// setClocks lets each node take its steps, a receipt once the message was sent.
func (f *Extract) setClocks(all [][]Step) {
	clocks := make([][]uint32, len(all))
	next := make([]int, len(all))
	sent := make([][]uint32, len(f.Messages)) // the clocks with which they were sent
	for id := range all {
		clocks[id] = make([]uint32, len(all))
	}
	left := 0
	for id := range all {
		left += len(all[id])
	}
	for force := false; left > 0; {
		before := left
		for id := range all {
			for ; next[id] < len(all[id]); left, force = left-1, false {
				s := &all[id][next[id]]
				if s.Receipt && !force && f.awaits(s, sent) {
					break
				}
				f.takeStep(s, id, clocks[id], sent)
				next[id]++
			}
		}
		force = left == before // stamps that err have made a circle: one receipt goes first
	}
}

// awaits reports whether a receipt comes before its send, which the window has.
func (f *Extract) awaits(s *Step, sent [][]uint32) bool {
	m := &f.Messages[s.Messages[0]]
	return sent[s.Messages[0]] == nil && m.Sent != Unknown && f.touches(m.Sent, m.Sent)
}

// takeStep gives a step of a node its clock.
func (f *Extract) takeStep(s *Step, id int, clock []uint32, sent [][]uint32) {
	if s.Receipt {
		for of, count := range sent[s.Messages[0]] {
			clock[of] = max(clock[of], count)
		}
	}
	clock[id]++
	s.Clock = slices.Clone(clock)
	if s.Event == nil && !s.Receipt {
		for _, i := range s.Messages {
			sent[i] = s.Clock
		}
	}
}
