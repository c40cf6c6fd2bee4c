package trial

import (
	"fmt"
	"slices"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/host"
)

// An outage describes the loss of connections between nodes and brokers that faults have caused.
type outage struct {
	away    bool  // set from the first loss until all nodes are known to be connected again
	back    int64 // time from which nodes can reconnect; 0: a fault still prevents it
	count   int   // how many outages are over
	round   int   // number of the question that all nodes must answer over new connections; 0: not asked
	askedAt int64
}

// askAgain is how long follow waits for all answers before it asks the nodes again.
const askAgain = int64(250 * time.Millisecond)

// lose records that connections will be lost, and tells the nodes. Call it before they are lost. During an
// outage, it only prolongs the outage.
func (c *connections) lose() error {
	c.nodes.watch.lossy = true
	c.outage.away, c.outage.back, c.outage.round = true, 0, 0
	if err := c.broke(nodes.NoLoss); err != nil {
		return err
	}
	return c.orders.give(host.Order{Do: host.Outage}, c.nodes.up()...)
}

// follow checks whether all nodes are connected again after an outage. If so, it tells them. It returns an
// error if a node loses its connection without a fault.
func (c *connections) follow(now int64) (err error) {
	if !c.reconnects {
		return nil
	}
	n, o := c.nodes, &c.outage
	cut := slices.IndexFunc(n.watch.of, disconnected)
	switch {
	case !o.away && cut < 0:
		return nil
	case !o.away:
		if cause := n.wait(200 * time.Millisecond); cause != nil {
			return cause // for example, the proxies have died
		}
		return fmt.Errorf("%s lost its connection to the broker, though no fault took it away",
			n.lives[cut].node.Name())
	case o.back == 0:
		return nil
	case now-o.back > int64(n.LongestPause()) && len(n.pauses.since) == 0:
		return fmt.Errorf("%v after the broker was back, not all nodes are connected to it", n.LongestPause())
	case cut >= 0:
		o.round = 0
		return nil
	case o.round == 0 || now-o.askedAt > askAgain:
		o.askedAt = now
		o.round, err = c.orders.report()
		return err
	}
	if _, silent := n.notes.status(o.round, n.isUp); silent >= 0 {
		return nil
	}
	if settled, err := c.settled(); !settled || err != nil {
		return err
	}
	*o = outage{count: o.count + 1}
	n.pauses.disturbed = true // that nothing moved until now is no sign of a stall
	return c.orders.give(host.Order{Do: host.Restored, Round: o.count}, n.up()...)
}

// disconnected reports whether a node has lost its connection.
func disconnected(l *history.Watched) bool {
	if l == nil {
		return false // the node is down, or not known yet
	}
	reconnects := l.Reconnects.Load() // read before Disconnects, so never greater; equal: connected
	return l.Disconnects.Load() != reconnects
}

// resting reports whether a trial is at rest. If messages may have been lost uncounted, the counts need not
// balance. Then the trial is at rest if no request is open, nothing is pending, and no count changes while
// all nodes answer twice: messages in transit at the first question have arrived by the second answer.
func (t *Trial) resting(s sums) (bool, error) {
	if !t.watch.lossy {
		return s.atRest(), nil
	}
	if t.connections.outage.away || s.open() || s.pending > 0 {
		return false, nil
	}
	if unchanged, err := t.unchanged(s); !unchanged || err != nil {
		return false, err
	}
	return t.unchanged(s)
}

// unchanged reports whether all nodes answer, after doing all that was due, and the counts still equal s.
func (t *Trial) unchanged(s sums) (bool, error) {
	all, err := t.orders.allAnswer()
	return all && s.same(t.sums()), err
}
