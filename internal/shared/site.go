// Package shared shows which exclusion the agent and the application of a node need over the variables that
// they share (D. W. Jones, 22C:116, note 27, with its two exercises). It serves no run: in those one
// goroutine owns a machine, and nothing is shared.
//
// A [Site] is a node of Ricart and Agrawala's algorithm as the notes draw it. The agent answers a request at
// once, or notes it. The application asks, waits for the replies, and sends those that were deferred as it
// leaves. Each step that looks at the variables and then changes them has to be whole:
//
//   - An agent that is a thread needs a lock. Without it the application may leave between the look of the
//     agent, which finds it inside, and its note: nobody ever sends that reply.
//   - An agent that is an interrupt handler runs in the middle of the application, which is never in the
//     middle of the handler. A lock would not do: the handler would wait for whom it interrupts. So the
//     application holds off interrupts, by a [Mask].
//
// A [Member] is a node of a token ring with such an agent.
package shared

import "sync"

// State is that of the application.
type State int

// The states.
const (
	Outside State = iota
	Waiting
	Inside
)

// A Request is what a site asks all others for, under its priority: the lowest comes first, and of two equal
// ones that of the lower site.
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

// Sites returns so many sites, each with an exclusion over its variables that guard makes. With a [Mask]
// their agents are interrupt handlers.
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

// Enter has the application ask, and wait until all others have replied. How many have is its own affair.
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
		if s.replied() {
			needed--
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

// replied waits for a reply. An application whose agent is a handler may be interrupted instead.
func (s *Site) replied() bool {
	if s.mask == nil {
		<-s.replies
		return true
	}
	select {
	case <-s.replies:
		return true
	case r := <-s.requests:
		s.mask.Raise(func() { s.Handle(r) })
		return false
	}
}

// interrupted has the requests that have come interrupt the application, if its agent is a handler.
func (s *Site) interrupted() {
	for s.mask != nil && len(s.requests) > 0 {
		r := <-s.requests
		s.mask.Raise(func() { s.Handle(r) })
	}
}

// Compute has the application do something else until it is told to stop. Interrupts interrupt it.
func (s *Site) Compute(stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			return
		case r := <-s.interrupts():
			s.mask.Raise(func() { s.Handle(r) })
		}
	}
}

// interrupts returns what interrupts the application; nil: nothing does.
func (s *Site) interrupts() chan Request {
	if s.mask == nil {
		return nil
	}
	return s.requests
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
