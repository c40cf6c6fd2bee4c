package primitives

import (
	"sync"
	"testing"
)

// semaphore has one permit at most.
type semaphore chan struct{}

func (s semaphore) wait()   { <-s }
func (s semaphore) signal() { s <- struct{}{} }

// A Member is a node of a token ring by D. W. Jones, note 27. Its agent passes the token on, independently of
// what the application does. The two share one variable and two semaphores.
type Member struct {
	guard   sync.Mutex // over letMeIn
	letMeIn bool       // the application wants to enter, or is inside
	entry   semaphore  // on which the application waits
	goOn    semaphore  // on which the agent waits while the application is inside
	token   chan struct{}
	next    *Member
}

// Ring returns so many members. The first has the token.
func Ring(n int) []*Member {
	ring := make([]*Member, n)
	for i := range ring {
		ring[i] = &Member{entry: make(semaphore, 1), goOn: make(semaphore, 1), token: make(chan struct{}, 1)}
	}
	for i, m := range ring {
		m.next = ring[(i+1)%n]
	}
	ring[0].token <- struct{}{}
	return ring
}

// Serve is the agent. It ends when it is told to and has no token.
func (m *Member) Serve(stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			return
		case <-m.token:
			m.passOn()
		}
	}
}

// passOn lets the application in if that wants to, and passes the token on.
func (m *Member) passOn() {
	m.guard.Lock()
	lets := m.letMeIn
	m.guard.Unlock()
	if lets {
		m.entry.signal()
		m.goOn.wait()
	}
	m.next.token <- struct{}{}
}

// Enter has the application wait until its agent lets it in.
func (m *Member) Enter() {
	m.set(true)
	m.entry.wait()
}

// Leave has the application leave. It clears letMeIn before it lets the agent go on: otherwise the token
// could come back in between, and the agent would let in an application that does not ask.
func (m *Member) Leave() {
	m.set(false)
	m.goOn.signal()
}

func (m *Member) set(letMeIn bool) {
	m.guard.Lock()
	m.letMeIn = letMeIn
	m.guard.Unlock()
}

// Agents pass the token on beside their applications. One application is inside at a time. One of them never
// asks, and delays nobody.
func TestRingOfAgents(t *testing.T) {
	const n, entries = 4, 100
	ring, count, stop := Ring(n), 0, make(chan struct{})
	var applications, agents sync.WaitGroup
	for _, m := range ring {
		agents.Go(func() { m.Serve(stop) })
	}
	for _, m := range ring[1:] {
		applications.Go(func() {
			for range entries {
				m.Enter()
				count++
				m.Leave()
			}
		})
	}
	applications.Wait()
	close(stop)
	agents.Wait()
	if count != (n-1)*entries {
		t.Errorf("%d entries, and not %d", count, (n-1)*entries)
	}
}

// An application that leaves clears letMeIn first. If it lets its agent go on before, and the token comes
// back in between, the agent lets in an application that does not ask, and the ring stands still.
func TestDoneBeforeGoOn(t *testing.T) {
	for _, first := range []bool{true, false} {
		m := Ring(1)[0]
		var agent sync.WaitGroup
		round := func() {
			<-m.token
			agent.Go(m.passOn)
		}
		m.set(true)
		round()
		m.entry.wait() // it is inside
		if first {
			m.set(false)
		}
		m.goOn.signal()
		agent.Wait()
		round() // the token comes back
		if first {
			agent.Wait()
			if len(m.token) != 1 || len(m.entry) != 0 {
				t.Error("the token is not passed on")
			}
			continue
		}
		m.entry.wait() // nobody has asked
		m.set(false)
		if len(m.token) != 0 {
			t.Error("the token is passed on")
		}
		m.goOn.signal()
		agent.Wait()
	}
}
