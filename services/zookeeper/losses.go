package zookeeper

import (
	"sync"

	"turnstile/nodes/foreign/program"
)

// losses are the losses of a client's connection and of its session. A fall is a loss after which the client
// no longer counts on its lock.
type losses struct {
	mu    sync.Mutex
	falls int           // number of falls; the option "lost" of the service says which losses are falls
	ends  int           // number of sessions that have expired
	lost  chan struct{} // channel Lost of the latest grant; nil: the channel is closed, or the grant is over
	over  bool          // the session has expired since the latest request
	back  int           // falls when the session was last connected
}

// ask begins a request, and returns the number of falls so far.
func (l *losses) ask() (since int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = false
	return l.falls
}

// fallen returns the number of falls so far.
func (l *losses) fallen() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.falls
}

// ended returns the number of sessions that have expired so far.
func (l *losses) ended() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ends
}

// connected records that the session is connected: what the library grants from now on does not depend on
// earlier falls, unless the session has expired since the request.
func (l *losses) connected() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.back = l.falls
}

// connectedSince returns the number of falls when the session was last connected, or -1 if it has expired
// since the latest request.
func (l *losses) connectedSince() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		return -1
	}
	return l.back
}

// fall records the loss of the connection or the session. counts says whether the loss is a fall.
func (l *losses) fall(expired, counts bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if expired {
		l.over = true
		l.ends++
	}
	if !counts {
		return
	}
	l.falls++
	if l.lost != nil {
		close(l.lost)
		l.lost = nil
	}
}

// grant returns a grant, which is lost from the beginning if the number of falls differs from since.
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

// release ends the latest grant, whose loss is not reported any more. It returns whether the session has
// expired since the request.
func (l *losses) release() (over bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lost = nil
	return l.over
}
