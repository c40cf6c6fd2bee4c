package shared

import (
	"sync"
	"testing"
)

// nothing is no exclusion.
type nothing struct{}

func (nothing) Lock()   {}
func (nothing) Unlock() {}

// The guards: a lock beside an agent that is a thread, a mask against interrupts, and nothing.
func lock() sync.Locker   { return &sync.Mutex{} }
func mask() sync.Locker   { return &Mask{} }
func nobody() sync.Locker { return nothing{} }

// Agents and applications with a lock or a mask exclude each other: what the applications count inside is one
// word without a protection of its own, which the race detector watches, as it does the variables of a site.
func TestAgentsAndApplications(t *testing.T) {
	const n, entries = 4, 100
	for name, guard := range map[string]func() sync.Locker{"lock": lock, "mask": mask} {
		sites, count, done := Sites(n, guard), 0, make(chan struct{})
		var entering, all sync.WaitGroup
		for _, s := range sites {
			if s.mask == nil {
				all.Go(s.Serve)
			}
			entering.Add(1)
			all.Go(func() {
				for range entries {
					s.Enter()
					count++
					s.Leave()
				}
				entering.Done()
				s.Compute(done) // others may still ask
			})
		}
		entering.Wait()
		close(done)
		for _, s := range sites {
			if s.mask == nil {
				close(s.requests)
			}
		}
		all.Wait()
		if count != n*entries {
			t.Errorf("%s: %d entries, and not %d", name, count, n*entries)
		}
	}
}

// between has something happen at a site in the middle of its next step: at once if nothing is in the way, in
// another thread beside a lock, and as an interrupt beside a mask. It returns how to wait until it has
// happened.
func between(s *Site, do func()) (happens func()) {
	var other sync.WaitGroup
	s.between = func() {
		s.between = func() {}
		switch s.guard.(type) {
		case *sync.Mutex:
			other.Go(do)
		case *Mask:
			s.mask.Raise(do)
		default:
			do()
		}
	}
	return other.Wait
}

// The application leaves while the agent is about to note that it is inside: without a lock nobody sends the
// reply, and who asks waits for ever.
func TestLeavingWhileTheAgentDefers(t *testing.T) {
	for name, test := range map[string]struct {
		guard   func() sync.Locker
		replies int
	}{"nothing": {nobody, 0}, "lock": {lock, 1}} {
		sites := Sites(2, test.guard)
		s := sites[0]
		s.state = Inside
		left := between(s, s.Leave)
		s.Handle(Request{1, 1})
		left()
		if got := len(sites[1].replies); got != test.replies || s.state != Outside || len(s.pending) != 1-got {
			t.Errorf("%s: %d replies, %d deferred by a site in state %d", name, got, len(s.pending), s.state)
		}
	}
}

// A request comes while the application leaves, and has taken what it has deferred. It may come to an agent
// or interrupt: in both ways the reply is lost without exclusion.
func TestARequestWhileTheApplicationLeaves(t *testing.T) {
	for name, test := range map[string]struct {
		guard   func() sync.Locker
		replies int
	}{"nothing": {nobody, 0}, "lock": {lock, 1}, "mask": {mask, 1}} {
		sites := Sites(2, test.guard)
		s := sites[0]
		s.state = Inside
		handled := between(s, func() { s.Handle(Request{1, 1}) })
		s.Leave()
		handled()
		if got := len(sites[1].replies); got != test.replies || s.state != Outside || len(s.pending) != 1-got {
			t.Errorf("%s: %d replies, %d deferred by a site in state %d", name, got, len(s.pending), s.state)
		}
	}
}

// A request comes while the application has its priority, and does not wait yet. Without exclusion the agent
// replies to one that comes after its own, and two are inside together.
func TestARequestWhileTheApplicationAsks(t *testing.T) {
	for name, test := range map[string]struct {
		guard   func() sync.Locker
		replies int // to the site that has to wait
	}{"nothing": {nobody, 1}, "lock": {lock, 0}, "mask": {mask, 0}} {
		sites := Sites(2, test.guard)
		s, other := sites[0], sites[1]
		other.state, other.mine, other.highest = Waiting, Request{1, 1}, 1
		handled := between(s, func() { s.Handle(other.mine) })
		var agent sync.WaitGroup
		agent.Go(other.Serve)
		s.Enter()
		handled()
		close(other.requests)
		agent.Wait()
		if got := len(other.replies); got != test.replies || s.state != Inside {
			t.Errorf("%s: %d replies to a site that comes after the one inside", name, got)
		}
	}
}

// An interrupt handler that takes a lock would wait for ever: who has it is whom it interrupts.
func TestALockDoesNotHoldOffInterrupts(t *testing.T) {
	s := Sites(1, lock)[0]
	s.state = Inside
	s.between = func() {
		if s.guard.(*sync.Mutex).TryLock() {
			t.Error("the application leaves, and the variables are free")
		}
	}
	s.Leave()
}
