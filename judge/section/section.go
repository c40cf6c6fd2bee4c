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
	orphaned uint32    // units of the dead that the register may have counted shortly before it entered
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
