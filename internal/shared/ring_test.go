package shared

import (
	"sync"
	"testing"
)

// Agents pass the token on beside their applications, of which one is inside at a time. One of them never
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

// An application that leaves says that it is done first. If it has its agent go on before, and the token
// comes back in between, the agent lets in whoever does not ask, and the ring stands.
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
