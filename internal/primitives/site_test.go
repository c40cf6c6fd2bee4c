// Package shared shows which locking the agent and the application of a node need over the variables that
// they share (D. W. Jones, 22C:116, note 27, with its two exercises). Its tests take away the locking, and
// see what goes wrong. In runs of Turnstile one goroutine owns a state machine, and shares no variables.
//
// A [Site] is a node of Ricart and Agrawala's algorithm as the notes draw it. The agent answers a request at
// once, or notes it. The application asks, waits for the replies, and sends the deferred ones as it
// leaves. Each step that looks at the variables and then changes them has to be atomic:
//
//   - An agent that is a thread needs a lock. Without it the application may leave after the agent has found
//     it inside, and before the agent has noted the request: nobody ever sends that reply.
//   - An agent that is an interrupt handler interrupts the application, but the application never interrupts
//     the handler. A lock would not do: the handler would wait for the code that it interrupts. So the
//     application holds off interrupts, by a [Mask].
//
// A [Member] is a node of a token ring with such an agent.
package primitives

import (
	"sync"
	"testing"
)

// State is that of the application.
type State int

// The states.
const (
	Outside State = iota
	Waiting
	Inside
)

// A Request asks all other sites for permission to enter. The lowest priority comes first, and of two equal
// priorities the one of the site with the lower number.
type Request struct{ Priority, From int }

// before reports whether r comes before another.
func (r Request) before(other Request) bool {
	return r.Priority < other.Priority || r.Priority == other.Priority && r.From < other.From
}

// A Site is a node: an application with its agent.
type Site struct {
	guard sync.Locker // over the variables that they share

	state   State
	mine    Request // the latest of the application
	highest int     // priority that the site has seen
	pending []int   // whose replies are deferred

	sites    []*Site
	requests chan Request  // to the agent
	replies  chan struct{} // to the application
	mask     *Mask         // of interrupts; nil: the agent is a thread
	between  func()        // called in the middle of a step
}

// Sites returns so many sites. For each, guard makes the lock or mask over the variables of the site. With a
// [Mask] the agents are interrupt handlers.
func Sites(n int, guard func() sync.Locker) []*Site {
	sites := make([]*Site, n)
	for id := range sites {
		s := &Site{guard: guard(), mine: Request{From: id}, sites: sites, requests: make(chan Request, n),
			replies: make(chan struct{}, n)}
		s.mask, _ = s.guard.(*Mask)
		s.between = s.interrupted
		sites[id] = s
	}
	return sites
}

// Serve is the agent as a thread. It ends when the requests do.
func (s *Site) Serve() {
	for r := range s.requests {
		s.Handle(r)
	}
}

// Handle is what the agent does with a request.
func (s *Site) Handle(r Request) {
	s.guard.Lock()
	s.highest = max(s.highest, r.Priority)
	defers := s.state == Inside || s.state == Waiting && s.mine.before(r)
	s.between()
	if defers {
		s.pending = append(s.pending, r.From)
	}
	s.guard.Unlock()
	if !defers {
		s.sites[r.From].replies <- struct{}{}
	}
}

// Enter has the application ask, and wait until all others have replied. Only the application counts replies.
func (s *Site) Enter() {
	s.guard.Lock()
	s.mine.Priority = s.highest + 1
	s.between()
	s.state = Waiting
	s.guard.Unlock()
	for _, other := range s.sites {
		if other != s {
			other.requests <- s.mine
		}
	}
	for needed := len(s.sites) - 1; needed > 0; {
		select {
		case <-s.replies:
			needed--
		case r := <-s.interrupts():
			s.interrupt(r)
		}
	}
	s.guard.Lock()
	s.state = Inside
	s.guard.Unlock()
}

// Leave has the application leave, and send the replies that were deferred.
func (s *Site) Leave() {
	s.guard.Lock()
	deferred := s.pending
	s.pending = nil
	s.between()
	s.state = Outside
	s.guard.Unlock()
	for _, id := range deferred {
		s.sites[id].replies <- struct{}{}
	}
}

// interrupts returns the requests that interrupt the application; nil if its agent is a thread.
func (s *Site) interrupts() chan Request {
	if s.mask == nil {
		return nil
	}
	return s.requests
}

// interrupt has the handler of requests interrupt the application.
func (s *Site) interrupt(r Request) { s.mask.Raise(func() { s.Handle(r) }) }

// interrupted lets all requests in the channel interrupt the application, if its agent is a handler.
func (s *Site) interrupted() {
	for len(s.interrupts()) > 0 {
		s.interrupt(<-s.requests)
	}
}

// Compute has the application do something else until it is told to stop. Interrupts interrupt it.
func (s *Site) Compute(stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			return
		case r := <-s.interrupts():
			s.interrupt(r)
		}
	}
}

// A Mask holds off the interrupts of one thread while it is locked. What is raised meanwhile is handled as it
// is unlocked. A handler runs with interrupts held off.
type Mask struct {
	depth  int
	raised []func()
}

// Lock holds off interrupts.
func (m *Mask) Lock() { m.depth++ }

// Unlock lets them come again.
func (m *Mask) Unlock() {
	for m.depth == 1 && len(m.raised) > 0 {
		handle := m.raised[0]
		m.raised = m.raised[1:]
		handle()
	}
	m.depth--
}

// Raise raises an interrupt, between two steps of the thread.
func (m *Mask) Raise(handle func()) {
	m.Lock()
	m.raised = append(m.raised, handle)
	m.Unlock()
}

// nothing is a guard that keeps nobody out.
type nothing struct{}

func (nothing) Lock()   {}
func (nothing) Unlock() {}

// The guards: a lock beside an agent that is a thread, a mask against interrupts, and nothing.
func lock() sync.Locker   { return &sync.Mutex{} }
func mask() sync.Locker   { return &Mask{} }
func nobody() sync.Locker { return nothing{} }

// With a lock or a mask, agents and applications exclude each other. Applications increment count only in the
// critical section: the race detector watches count, and the variables of each site.
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

// between has do called in the middle of the next step of a site: at once if the site has no guard, in a new
// thread if it has a lock, and as an interrupt if it has a mask. The returned function waits until that
// thread has ended.
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

// The application leaves after the agent has found it inside, and before the agent notes the request: without
// a lock nobody sends the reply, and the requester waits forever.
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

// A request comes while the application leaves, after the application has taken the list of deferred replies.
// Without a lock or a mask the agent defers one more reply, and that reply is lost.
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

// A request of another site arrives after the application has chosen the priority of its own request and
// before it has set its state to Waiting. If no lock keeps the agent out in between, the agent replies to
// this request although it comes after the request of its own site, and two sites are inside together.
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

// An interrupt handler that takes a lock would wait forever: the interrupted code holds it.
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
