package trial

import (
	"fmt"
	"slices"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/host"
)

// An outage is what a trial knows of connections between its nodes and its broker that are taken away on
// purpose.
type outage struct {
	away    bool  // from the time when the first is taken away until all nodes are known to be connected again
	back    int64 // since when nothing keeps nodes from connecting, if it is not 0
	count   int   // of outages that are over
	round   int   // of the question to which all must answer by their new connections; 0: none is open
	askedAt int64
}

// askAgain is how long after a question to nodes that have just connected another is asked.
const askAgain = int64(250 * time.Millisecond)

// lose puts on record that connections will be lost, and tells the nodes. It is called before that happens,
// and while some are lost already, it changes nothing but that these will not be back soon.
func (c *connections) lose() error {
	c.nodes.watch.lossy = true
	c.outage.away, c.outage.back, c.outage.round = true, 0, 0
	if err := c.broke(nodes.NoLoss); err != nil {
		return err
	}
	return c.orders.give(host.Order{Do: host.Outage}, c.nodes.up()...)
}

// follow finds out whether all nodes are connected again, and if so, tells them. It is an error if a node
// loses its connection though none was taken away.
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
			return cause // such as that the proxies have died
		}
		return fmt.Errorf("%s lost its connection to the broker, and no fault had taken it away",
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
	n.pauses.disturbed = true // until now
	return c.orders.give(host.Order{Do: host.Restored, Round: o.count}, n.up()...)
}

// disconnected reports whether a node has no connection.
func disconnected(l *history.Watched) bool {
	if l == nil {
		return false // the node is down, or that is not known
	}
	reconnects := l.Reconnects.Load() // first, since it is never the larger one
	return l.Disconnects.Load() != reconnects
}

// resting reports whether a trial is at rest. Where messages may have been lost without a trace, no counts
// need balance: then no request is open, nothing is pending, and no count changes while all nodes answer
// twice. What is on its way when they are first asked has arrived when they answer for the second time.
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

// unchanged reports whether all nodes answer, having done all that was due, and the counts are still s.
func (t *Trial) unchanged(s sums) (bool, error) {
	all, err := t.orders.allAnswer()
	return all && s.same(t.sums()), err
}
