// Package section folds a history into sections: what became of each request. Measures and checks are made
// from the same sections, so that a wait, an overlap or the window is one thing in figures and in verdicts.
package section

import (
	"turnstile/nodes"
	"turnstile/nodes/history"
)

// A State is how far a section has come, or how it has ended.
type State uint8

// The states of a section. Those after Inside are ends.
const (
	Waiting   State = iota + 1 // asked for, and not entered yet
	Inside                     // entered, and not left yet
	Exited                     // left by Release
	Revoked                    // left without Release, since its lease or epoch was lost
	Crashed                    // inside when its node crashed
	Unended                    // inside when the history ended
	Abandoned                  // waited when its node crashed
	Unserved                   // waited when the history ended
	Unissued                   // due, but its client never came to ask
)

// A Section is one request of a client for a resource, and what became of it.
type Section struct {
	Resource *Resource
	Node     nodes.ID
	Entry    uint32 // its number among the requests of its client
	Units    uint32 // of the resource, that it wants or holds
	State    State

	Due, Asked, Entered, Ended int64 // as far as its state says that they have come

	Alone     bool   // nobody held or waited when it was asked for
	Overtaken uint64 // how many others asked later and entered earlier
	Handed    bool   // it took what an exit had freed, and had been asked for before that exit
	FreedAt   int64  // that exit, if Handed

	Taken    uint32 // units taken when it entered, by the register
	Fence    uint64 // under which it entered; 0: none
	Read     int64  // what the account held when it entered
	Written  int64  // what it wrote to the account, once it has exited
	Violates bool   // it overlapped others beyond the capacity, and for longer than stamps may err

	place int // in its line
}

// Served reports whether the section was ever entered.
func (s *Section) Served() bool { return s.State >= Inside && s.State <= Unended }

// An Observer is told of every section, and then of the event by which it has come so far. A section that has
// ended is used for another one afterwards.
type Observer interface {
	history.Fold
	Asked(s *Section)
	Entered(s *Section)
	Ended(s *Section) // s.State says how; an Unissued one was never told of before
}
