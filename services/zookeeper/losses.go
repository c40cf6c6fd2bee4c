package zookeeper

import (
	"sync"

	"turnstile/nodes/foreign/program"
)

// Losses are what a client hears of its connection and its session.
type losses struct {
	mu    sync.Mutex
	falls int           // how often the connection or the session was lost, whichever counts
	lost  chan struct{} // of the latest grant; nil: it is closed, or over
	over  bool          // the session has expired since the latest request
}

// ask begins a request, and returns how often something that counts was lost.
func (l *losses) ask() (since int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = false
	return l.falls
}

// fallen returns how often something that counts was lost.
func (l *losses) fallen() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.falls
}

// fall takes it that the connection or the session was lost, and whether that counts.
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

// grant returns a grant, which is lost already if something fell since then.
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

// release ends the latest grant: nobody is told any more that it is lost. It reports whether the session has
// expired since it was asked for.
func (l *losses) release() (over bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lost = nil
	return l.over
}
