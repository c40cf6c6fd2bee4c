// Package section folds a history into sections: what became of each request. Measures and checks are made
// from the same sections, so that waits, overlaps and the window mean the same in figures and in verdicts.
//
// A [Fold] takes events in the order of time, and then what each node counted. It tells each [Observer] of a
// request, an entry and an end as they come, with the [Section] that they are about, and keeps of all that
// only what is open. Besides, it keeps what both sides need: the [Window] that is measured, each [Resource]
// with the overlaps of its sections, pauses, deaths of nodes, what failure detectors found, and faults.
//
// It knows neither what a figure is called nor what an algorithm promises.
package section

import (
	"turnstile/nodes"
	"turnstile/nodes/history"
)

// A State is how far a section has come, or how it has ended.
type State uint8

// The states of a section. Those after inside are ends.
const (
	waiting   State = iota + 1 // asked for, and not entered yet
	inside                     // entered, and not left yet
	Exited                     // left by Release
	Revoked                    // left without Release, since its lease or epoch was lost
	Crashed                    // inside when its node crashed
	Unended                    // inside when the history ended
	Abandoned                  // waited when its node crashed
	Unserved                   // waited when the history ended
	Unissued                   // an arrival that never became a request
)

// A Section is one request of a client for a resource, and what became of it.
type Section struct {
	Resource *Resource
	Node     nodes.ID
	Entry    uint32 // its number among the requests of its client
	Units    uint32 // of the resource that it wants or holds; 0: unknown, of an arrival
	State    State

	Due, Asked, Entered, Ended int64 // times, as far as its state has come

	Alone     bool   // nobody held or waited when it was asked for
	Overtaken uint64 // how many others asked later and entered earlier
	Handed    bool   // it took units that an exit had freed, and was requested before that exit
	FreedAt   int64  // the time of that exit, if Handed

	Taken    uint32 // units taken when it entered, by the register
	Fence    uint64 // under which it entered; 0: none
	Read     int64  // what the account held when it entered
	Written  int64  // what it wrote to the account, once it has exited
	Refused  bool   // the account did not take that, since somebody had entered under a higher fence number
	Violates bool   // it was in a certain overlap

	Told     bool  // its client was told that it had lost what it held
	ToldAt   int64 // when, if Told
	Met      bool  // another was inside at some time while it was
	Followed int64 // when the first other entered while it was inside; math.MaxInt64: nobody has

	twin, maybe bool // it was in an overlap, certain or not, with another under the same fence number

	passed   *Section  // a copy of who entered under a fence number no lower, and of these read the least
	above    uint64    // the highest number of these
	clock    nodeClock // of the stamp of its entry, where hosts have several
	place    int       // in its line
	missing  uint64    // units, when it was asked for: see Contended
	takenOut uint32    // see Resource, when it was asked for
}

// Served reports whether the section was ever entered.
func (s *Section) Served() bool { return s.State >= inside && s.State <= Unended }

// Contended reports whether, when the section was asked for, fewer units were free than it and those who
// waited take together. Units that were given back within the error of the stamps were free.
func (s *Section) Contended() bool { return s.missing > 0 }

// An Observer is told of every change of a section, and then of the event that caused it. The memory of a
// section that has ended is used again.
type Observer interface {
	history.Fold
	Asked(s *Section)
	Entered(s *Section)
	Ended(s *Section) // s.State says how. An Unissued section was never Asked.
}

// An OverlapObserver is an observer that is also told when there were certain overlaps: of each when it is
// over, so that those of one resource come in their order.
type OverlapObserver interface {
	Observer
	Overlapped(r *Resource, when Window)
}

// Moments keep what is needed to tell whether one of several things happened inside the model of the
// algorithm. Assumptions begin or cease to hold at turns. Between two turns an excuse may run out, and none
// begins: so of what happened between two turns, the first thing and the one that began last are enough, and
// memory is taken for turns alone.
type Moments[T any] struct{ of []Hook[T] }

// A Hook is one of them: it happened at a time, and what led to it began no later, such as the stay of who
// was inside already.
type Hook[T any] struct {
	From    int64
	At      int64
	What    T
	stretch int
	last    bool // of its stretch, by From; else the first, by At
}

// keep takes something that began at a time and happened at another, which is in a stretch.
func (m *Moments[T]) keep(stretch int, from, at int64, what T) {
	one := Hook[T]{from, at, what, stretch, false}
	first, last := -1, -1
	for i := len(m.of) - 1; i >= 0 && m.of[i].stretch >= stretch; i-- {
		switch have := &m.of[i]; {
		case have.stretch > stretch:
		case have.last:
			last = i
		default:
			first = i
		}
	}
	switch {
	case first < 0:
		m.of = append(m.of, one)
		return
	case at < m.of[first].At:
		m.of[first], one = one, m.of[first]
	}
	switch one.last = true; {
	case last < 0:
		m.of = append(m.of, one)
	case one.From > m.of[last].From:
		m.of[last] = one
	}
}

// Least returns the earliest of those that happened outside the model least, as outside tells; nil: there are
// none.
func (m *Moments[T]) Least(outside func(from, at int64) bool) (least *Hook[T]) {
	excused := false
	for i := range m.of {
		one := &m.of[i]
		switch is := outside(one.From, one.At); {
		case least == nil, excused && !is, excused == is && one.At < least.At:
			least, excused = one, is
		}
	}
	return least
}
