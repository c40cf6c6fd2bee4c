// Package section folds a history into sections: the life of each request. Measures and checks use the same
// sections, so waits, overlaps and the window mean the same in figures and in verdicts.
//
// A [Fold] takes events in the order of time, and then the counters of each node. It passes each request,
// entry and end to each [Observer], with its [Section], and keeps only open sections. It also keeps what
// measures and checks share: the [Window] that is measured, each [Resource] with its overlaps, pauses, deaths
// of nodes, suspicions of failure detectors, and faults.
//
// It knows neither the names of figures nor the promises of algorithms.
package section

import (
	"turnstile/nodes"
	"turnstile/nodes/history"
)

// A State is the state of a section: open, or how it ended.
type State uint8

// The states of a section. From Exited on it has ended.
const (
	waiting   State = iota + 1 // asked for, and not entered yet
	inside                     // entered, and not left yet
	Exited                     // left by Release
	Revoked                    // left without Release, since its lease or epoch was lost
	Crashed                    // inside when its node crashed
	Unended                    // inside when the history ended
	Abandoned                  // waited when its node crashed
	Unserved                   // waited when the history ended
	Unissued                   // was due, but its client was busy until issuing ended
	GaveUp                     // waited until its client gave up
)

// A Section is one request of a client for a resource, and what became of it.
type Section struct {
	Resource *Resource
	Node     nodes.ID
	Entry    uint32 // its number among the requests of its client
	Units    uint32 // units that it wants or holds; 0: unknown (some Unissued sections)
	State    State

	Due, Asked, Entered, Ended int64 // when each of these happened, if it did

	Alone     bool   // no client held the resource or waited for it when the request was made
	Overtaken uint64 // how many others asked later and entered earlier
	Handed    bool   // it took units that an exit had freed, and was requested before that exit
	FreedAt   int64  // the time of that exit, if Handed

	Taken    uint32 // units that the register counted when it entered, its own included
	Fence    uint64 // the fence number under which it entered; 0: without one
	Read     int64  // the value of the account when it entered
	Written  int64  // the value that it wrote to the account, once it has exited
	Refused  bool   // the account refused the write, since another had entered under a higher fence number
	Violates bool   // it was in an overlap longer than the error of the stamps: see Resource

	Told     bool  // its client was told that it had lost the lock
	ToldAt   int64 // when it was told, if Told
	Met      bool  // another client was inside at some time during this section
	Followed int64 // when the first other client entered during this section, or math.MaxInt64

	twin, maybe bool // it overlapped, certainly (twin) or perhaps (maybe), a section of the same fence number

	passed   *Section  // a copy of a section that passed it, the one with the lowest Read: see Resource.fence
	above    uint64    // the highest fence number under which another client passed it: see Resource.fence
	clock    nodeClock // bounds the error of the stamp of its entry, if hosts have different clocks
	place    int       // its place in the line of waiting sections: see line
	missing  uint64    // units that were missing when it was asked for: see Contended
	takenOut uint32    // Resource.takenOut when it was asked for
}

// Served reports whether the section was ever entered.
func (s *Section) Served() bool { return s.State >= inside && s.State <= Unended }

// Contended reports whether units were missing when the section was asked for: fewer were free than all
// waiting requests and this one take together. Units that were given back within the error of the stamps
// count as free.
func (s *Section) Contended() bool { return s.missing > 0 }

// An Observer receives every change of a section, and then the event that caused it. The memory of a section
// that has ended is reused.
type Observer interface {
	history.Fold
	Asked(s *Section)
	Entered(s *Section)
	Ended(s *Section) // s.State says how. An Unissued section was never Asked.
}

// An OverlapObserver is an observer that also receives each certain overlap (see Resource) when it is over.
// The overlaps of one resource come in order.
type OverlapObserver interface {
	Observer
	Overlapped(r *Resource, when Window)
}

// Moments keep enough incidents of a series to tell whether one happened inside the model of the algorithm.
// Assumptions begin or cease to hold only at turns. Of the incidents of a stretch between two turns, the one
// whose cause began last is inside if any is, since its cause met the fewest turns. So Moments keep two of
// each stretch: this one, and the first to happen; and of those whose nodes were spared two more. Memory
// grows with the number of turns only.
type Moments[T any] struct{ of []Hook[T] }

// A Hook is an incident that happened at the time At. Its cause, for example the section of the client that
// was inside already, began at From, no later than At.
type Hook[T any] struct {
	From    int64
	At      int64
	What    T
	Spared  bool // neither its nodes nor their processes were hit by anything: see Fold.Touches
	stretch int
	last    bool // the incident of its stretch with the latest From; otherwise the one with the earliest At
}

// keep takes an incident of a stretch, with the times at which its cause began and at which it happened.
func (m *Moments[T]) keep(stretch int, from, at int64, spared bool, what T) {
	one := Hook[T]{from, at, what, spared, stretch, false}
	first, last := -1, -1
	for i := len(m.of) - 1; i >= 0 && m.of[i].stretch >= stretch; i-- {
		switch have := &m.of[i]; {
		case have.stretch > stretch, have.Spared != spared:
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

// Least returns the earliest incident inside the model or, if all are outside, the earliest of all; nil if
// there is no incident. outside reports whether an incident is outside.
func (m *Moments[T]) Least(outside func(from, at int64, spared bool) bool) (least *Hook[T]) {
	leastOutside := false
	for i := range m.of {
		one := &m.of[i]
		switch is := outside(one.From, one.At, one.Spared); {
		case least == nil, leastOutside && !is, leastOutside == is && one.At < least.At:
			least, leastOutside = one, is
		}
	}
	return least
}
