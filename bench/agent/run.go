package agent

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/nats-io/nats.go"

	"turnstile/bench/access"
)

// A Run is a run at the control plane: it answers the agents that ask whether its orchestrator is there.
type Run struct {
	Name  string
	Stops atomic.Uint64 // see Host
	conn  *nats.Conn
	alive *nats.Subscription

	mu      sync.Mutex
	clients []access.Identity // its hosts, by their keys, and as they are without
}

// NewRun begins to answer for a run.
func NewRun(conn *nats.Conn, name string) (*Run, error) {
	r := &Run{Name: name, conn: conn}
	var err error
	r.alive, err = conn.Subscribe(aliveSubject(name), func(m *nats.Msg) {
		if r.isInbox(m.Reply) {
			m.Respond(nil)
		}
	})
	if err == nil {
		err = conn.FlushTimeout(answerLimit)
	}
	if err != nil {
		return nil, fmt.Errorf("reaching the control plane: %w", err)
	}
	return r, nil
}

// isInbox reports whether a host of the run gets answers on a subject.
func (r *Run) isInbox(subject string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.clients, func(i access.Identity) bool { return i.IsInbox(subject) })
}

// Close says that the orchestrator of the run is gone: its hosts end what is left.
func (r *Run) Close() { r.alive.Unsubscribe() }
