package zookeeper

import (
	"sync"

	"turnstile/nodes/foreign/program"
)

// losses are the losses of a client's connection and its session.
type losses struct {
	mu    sync.Mutex
	falls int           // how often the connection or the session was lost, according to the option lost
	lost  chan struct{} // of the latest grant; nil: closed, or the grant is over
	over  bool          // the session has expired since the latest request
}

// ask begins a request, and returns the number of falls.
func (l *losses) ask() (since int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = false
	return l.falls
}

// fallen returns the number of falls.
func (l *losses) fallen() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.falls
}

// fall records the loss of the connection or the session, and whether it counts as a fall.
func (l *losses) fall(expired, counts bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = l.over || expired
	if !counts {
		return
	}
	l.falls++
	if l.lost != nil {
		close(l.lost)
		l.lost = nil
	}
}

// grant returns a grant. It is lost already if a fall occurred since then.
func (l *losses) grant(fence uint64, since int) program.Grant {
	l.mu.Lock()
	defer l.mu.Unlock()
	lost := make(chan struct{})
	if l.falls == since {
		l.lost = lost
	} else {
		close(lost)
	}
	return program.Grant{Fence: fence, Lost: lost}
}

// release ends the latest grant, which is not reported lost any more. It returns whether the session has
// expired since the request.
func (l *losses) release() (over bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lost = nil
	return l.over
}
