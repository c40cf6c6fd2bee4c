package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"turnstile/bench/cluster"
	"turnstile/nodes"
	"turnstile/nodes/host"
)

// order gives an order to processes, by their pipes. It does not wait until they obey: one that stands still
// does so when it goes on.
func (t *trial) order(ctx context.Context, o host.Order, to ...*cluster.Process) error {
	b, err := json.Marshal(o)
	for i := 0; i < len(to) && err == nil; i++ {
		if err = to[i].Tell(b); err == nil {
			continue
		}
		if cause := t.wait(ctx, 200*time.Millisecond); cause != nil {
			return cause // such as that the process has died
		}
		if t.isPast(to[i]) { // as it was to
			err = nil
		}
	}
	if err == nil {
		return nil
	}
	return fmt.Errorf("ordering the nodes to %s: %w", o.Do, err)
}

// obeyed reports whether a node has obeyed all orders that it was given.
func (t *trial) obeyed(node int) bool {
	return t.watch.logs[node].Instances[0].Obeyed.Load() == t.processes[node].Told()
}

// allObeyed reports whether all nodes have obeyed all orders that they were given.
func (t *trial) allObeyed() bool {
	for node := range t.watch.logs {
		if t.isUp(nodes.ID(node)) && !t.obeyed(node) {
			return false
		}
	}
	return true
}

// notes are the latest Notes of the nodes of a trial.
type notes struct {
	mu     sync.Mutex
	latest []host.Note   // by node
	fresh  chan struct{} // there are new ones
}

func newNotes(total int) *notes {
	return &notes{latest: make([]host.Note, total), fresh: make(chan struct{}, 1)}
}

// put keeps a note of a node.
func (n *notes) put(id nodes.ID, note host.Note) {
	n.mu.Lock()
	n.latest[id] = note
	n.mu.Unlock()
	select {
	case n.fresh <- struct{}{}:
	default:
	}
}

// forget forgets what a node has said, and isReady reports whether it is ready and has said nothing since.
func (n *notes) forget(id nodes.ID) {
	n.mu.Lock()
	n.latest[id] = host.Note{}
	n.mu.Unlock()
}

func (n *notes) isReady(id nodes.ID) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.latest[id].Ready
}

// ready returns how many nodes are ready and have said nothing since.
func (n *notes) ready() (count int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, note := range n.latest {
		if note.Ready {
			count++
		}
	}
	return count
}

// status returns what the nodes have answered in a round, nil for those that have not, and how many these are
// that are up.
func (n *notes) status(round int, up func(nodes.ID) bool) (status []*nodes.NodeStatus, missing int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	status = make([]*nodes.NodeStatus, len(n.latest))
	for i, note := range n.latest {
		if status[i] = note.Status; note.Round != round || note.Status == nil {
			status[i] = nil
			if up(nodes.ID(i)) {
				missing++
			}
		}
	}
	return status, missing
}

// unanswered returns a node that is up and has no status, or -1.
func (t *trial) unanswered(status []*nodes.NodeStatus) int {
	for i, s := range status {
		if s == nil && t.isUp(nodes.ID(i)) {
			return i
		}
	}
	return -1
}

// ask asks every node that is up for its status, and returns what they answer within a time; nil for those
// that do not. Each has asked the broker for a sign of life before it answers.
func (t *trial) ask(ctx context.Context, within time.Duration) ([]*nodes.NodeStatus, error) {
	t.asked++
	if err := t.order(ctx, host.Order{Do: host.Report, Round: t.asked}, t.up()...); err != nil {
		return nil, err
	}
	begun := t.now()
	deadline := time.After(within)
	for {
		status, missing := t.notes.status(t.asked, t.isUp)
		if missing == 0 {
			return status, nil
		}
		select {
		case <-t.notes.fresh:
		case p := <-t.ended:
			if err := t.death(p); err != nil {
				return nil, err
			}
		case <-ctx.Done():
			return nil, errInterrupted
		case <-deadline:
			return status, t.overslept(begun+int64(2*within), t.now())
		}
	}
}
