package bench

import (
	"context"
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

// connectionsAway puts on record that connections will be lost, and tells the nodes. It is called before that
// happens, and while some are lost already, it changes nothing but that these will not be back soon.
func (t *trial) connectionsAway(ctx context.Context) error {
	t.lossy = true
	t.outage.away, t.outage.back, t.outage.round = true, 0, 0
	err := t.journal.Add(history.Event{At: t.now(), Kind: history.AssumptionBroken, Node: nodes.None,
		Value: int64(nodes.NoLoss)})
	if err != nil {
		return err
	}
	return t.order(ctx, host.Order{Do: host.Outage}, t.up()...)
}

// connectionsBack says that nothing keeps nodes from connecting any more.
func (t *trial) connectionsBack() { t.outage.back, t.outage.round = t.now(), 0 }

// followOutage finds out whether all nodes are connected again, and if so, tells them. It is an error if a
// node loses its connection though none was taken away.
func (t *trial) followOutage(ctx context.Context, now int64) error {
	if !t.reconnects {
		return nil
	}
	o, cut := &t.outage, slices.IndexFunc(t.watch.logs, disconnected)
	switch {
	case !o.away && cut < 0:
		return nil
	case !o.away:
		if cause := t.wait(ctx, 200*time.Millisecond); cause != nil {
			return cause // such as that the proxies have died
		}
		return fmt.Errorf("%s lost its connection to the broker, and no fault had taken it away",
			t.processes[cut].Name)
	case o.back == 0:
		return nil
	case now-o.back > int64(t.longestPause()) && len(t.pauses.since) == 0:
		return fmt.Errorf("%v after the broker was back, not all nodes are connected to it", t.longestPause())
	case cut >= 0:
		o.round = 0
		return nil
	case o.round == 0 || now-o.askedAt > askAgain:
		t.asked++
		o.round, o.askedAt = t.asked, now
		return t.order(ctx, host.Order{Do: host.Report, Round: t.asked}, t.up()...)
	}
	if _, missing := t.notes.status(o.round, t.isUp); missing > 0 {
		return nil
	}
	if settled, err := t.settled(ctx); !settled || err != nil {
		return err
	}
	*o = outage{count: o.count + 1}
	t.pauses.disturbed = true // until now
	return t.order(ctx, host.Order{Do: host.Restored, Round: o.count}, t.up()...)
}

// disconnected reports whether a node has no connection.
func disconnected(l *history.Watched) bool {
	if l == nil {
		return false // the node is down
	}
	reconnects := l.Reconnects.Load() // first, since it is never the larger one
	return l.Disconnects.Load() != reconnects
}

// resting reports whether a trial is at rest. Where messages may have been lost without a trace, no counts
// need balance: then no request is open, nothing is pending, and no count changes while all nodes answer
// twice. What is on its way when they are first asked has arrived when they answer for the second time.
func (t *trial) resting(ctx context.Context, s sums) (bool, error) {
	if !t.lossy {
		return s.atRest(), nil
	}
	if t.outage.away || s.open() || s.pending > 0 {
		return false, nil
	}
	if unchanged, err := t.unchanged(ctx, s); !unchanged || err != nil {
		return false, err
	}
	return t.unchanged(ctx, s)
}

// unchanged reports whether all nodes answer, having done all that was due, and the counts are still s.
func (t *trial) unchanged(ctx context.Context, s sums) (bool, error) {
	status, err := t.ask(ctx, time.Second)
	return err == nil && t.unanswered(status) < 0 && t.sums() == s, err
}
