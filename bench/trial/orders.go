package trial

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/host"
)

// orders give orders to the nodes of a trial, and ask for their status.
type orders struct {
	nodes      *nodeSet
	round      int    // number of the latest question to all nodes
	began, end int64  // ordered begin and end of issuing; 0: no order yet, or a number of entries ends it
	calmed     string // latest order to come to rest; empty: no such order yet
}

// give gives an order to nodes. It does not wait until they obey: a suspended node obeys when it is resumed.
func (o *orders) give(order host.Order, to ...nodes.ID) error {
	b, err := json.Marshal(order)
	for i := 0; i < len(to) && err == nil; i++ {
		l := &o.nodes.lives[to[i]]
		p := l.node
		if err = p.Tell(b); err == nil {
			l.ordered++
			continue
		}
		if cause := o.nodes.wait(200 * time.Millisecond); cause != nil {
			return cause // for example, the process has died
		}
		if o.nodes.endedAsExpected(p) || l.expected { // it is leaving
			err = nil
		}
	}
	if err == nil {
		return nil
	}
	return fmt.Errorf("ordering the nodes to %s: %w", order.Do, err)
}

// goOn gives a restarted node the orders that the other nodes have: when to issue requests, and whether to
// come to rest.
func (o *orders) goOn(id nodes.ID) error {
	if o.began == 0 {
		return nil // the node will get the order together with the others
	}
	err := o.give(host.Order{Do: host.Issue, Begin: max(o.nodes.now(), o.began), End: o.end, Since: o.began}, id)
	for peer := range nodes.ID(o.nodes.Total()) {
		if err == nil && o.nodes.informs && !o.nodes.isUp(peer) {
			err = o.give(host.Order{Do: host.Down, Peer: peer}, id)
		}
	}
	if err == nil && o.calmed != "" {
		err = o.give(host.Order{Do: o.calmed}, id)
	}
	return err
}

// inform tells the other nodes, if their programs have a failure detector, that a node is down or up again.
func (o *orders) inform(do string, id nodes.ID) error {
	if !o.nodes.informs {
		return nil
	}
	others := slices.DeleteFunc(o.nodes.up(), func(one nodes.ID) bool { return one == id })
	return o.give(host.Order{Do: do, Peer: id}, others...)
}

// obeyed reports whether the counters of a node show that it has obeyed all its orders.
func (o *orders) obeyed(id nodes.ID) bool {
	counters := o.nodes.watch.of[id]
	return counters != nil && counters.Instances[0].Obeyed.Load() == o.nodes.lives[id].ordered
}

// allObeyed reports whether all nodes have obeyed all their orders.
func (o *orders) allObeyed() bool {
	for _, id := range o.nodes.up() {
		if !o.obeyed(id) {
			return false
		}
	}
	return true
}

// quit has the nodes close their logs and end.
func (o *orders) quit() error {
	n := o.nodes
	if err := o.give(host.Order{Do: host.Quit}, n.up()...); err != nil {
		return err
	}
	late := time.After(n.LongestPause() + time.Duration(n.Total())*10*time.Millisecond)
	for _, id := range n.up() {
		p := n.lives[id].node
		select {
		case <-p.Ended():
			if fate := p.Fate(); !fate.Well {
				return fmt.Errorf("%s did not end well: %s", p.Name(), fate.Says)
			}
		case <-late:
			return fmt.Errorf("%s did not end when it was told to", p.Name())
		case <-n.ctx.Done():
			return ErrInterrupted
		}
	}
	return nil
}

// report asks every node that is up for its status. Before a node answers, it checks its connection with a
// ping to the broker.
func (o *orders) report() (round int, err error) {
	o.round++
	return o.round, o.give(host.Order{Do: host.Report, Round: o.round}, o.nodes.up()...)
}

// ask asks every node that is up for its status, and returns the answers that come within a time; status is
// nil for a node without an answer. Silent is a node that is up and has not answered, or -1.
func (o *orders) ask(within time.Duration) (status []*nodes.NodeStatus, silent int, err error) {
	round, err := o.report()
	if err != nil {
		return nil, -1, err
	}
	n, begun := o.nodes, o.nodes.now()
	for late := time.After(within); ; {
		if status, silent = n.notes.status(round, n.isUp); silent < 0 {
			return status, silent, nil
		}
		if news, err := n.news(late); err != nil {
			return nil, -1, err
		} else if !news {
			return status, silent, n.pauses.overslept(begun+int64(2*within), n.now())
		}
	}
}

// allAnswer reports whether every node that is up answers within about a second; with many nodes the limit is
// longer.
func (o *orders) allAnswer() (bool, error) {
	_, silent, err := o.ask(time.Second + time.Duration(o.nodes.Total())*5*time.Millisecond)
	return err == nil && silent < 0, err
}

// notes has the latest note of each node of a trial.
type notes struct {
	mu     sync.Mutex
	latest []host.Note   // indexed by node
	fresh  chan struct{} // signals a new note
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

// isReady reports whether the latest note of a node says that it is ready.
func (n *notes) isReady(id nodes.ID) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.latest[id].Ready
}

// status returns the answers of the nodes in a round; status is nil for a node without an answer. Silent is a
// node that is up and has not answered, or -1.
func (n *notes) status(round int, up func(nodes.ID) bool) (status []*nodes.NodeStatus, silent int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	status, silent = make([]*nodes.NodeStatus, len(n.latest)), -1
	for i, note := range n.latest {
		if note.Round == round && note.Status != nil {
			status[i] = note.Status
		} else if silent < 0 && up(nodes.ID(i)) {
			silent = i
		}
	}
	return status, silent
}
