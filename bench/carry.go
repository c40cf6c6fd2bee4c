package bench

import (
	"context"
	"errors"
	"fmt"

	"turnstile/bench/cluster"
	"turnstile/nodes"
	"turnstile/nodes/host"
)

// What a plan can do to the transport of a trial. Faults of connections and routes have numbers, and each is
// healed by its own.

var (
	errNoProxies = errors.New("connections and routes run through no proxies in this run: " +
		"begin it with --proxies")
	errNotOurs = errors.New("the broker is not one of the run's own: leave out --nats")
)

// killBroker ends a broker by SIGKILL. The end of the process is no trouble.
func (t *trial) killBroker(ctx context.Context, i int) error {
	if err := t.transport.check(i); err != nil {
		return err
	}
	if err := t.connectionsAway(ctx); err != nil {
		return err
	}
	brokers, at := t.transport.broker(i)
	return brokers.Kill(at)
}

// restartBroker starts a broker again that was killed, at the same address. It takes the time in which a
// process starts.
func (t *trial) restartBroker(ctx context.Context, i int) error {
	if err := t.transport.check(i); err != nil {
		return err
	}
	brokers, at := t.transport.broker(i)
	if err := brokers.Restart(ctx, at); err != nil {
		return err
	}
	t.follow(brokers.Process(at))
	t.mayBeBack()
	return nil
}

// mayBeBack says that connections are back, if nothing keeps any away.
func (t *trial) mayBeBack() {
	for i := range t.transport.brokerCount() {
		if !t.transport.running(i) {
			return
		}
	}
	if len(t.resets) == 0 {
		t.connectionsBack()
	}
}

// check says whether there is a broker with that number.
func (t *transport) check(i int) error {
	switch {
	case t.brokers == nil:
		return errNotOurs
	case i < 0 || i >= t.brokerCount():
		return fmt.Errorf("there is no broker %d: they count from 0 to %d", i, t.brokerCount()-1)
	}
	return nil
}

// cutRoutes cuts the routes between brokers of different groups (see cluster.Brokers.Cut).
func (t *trial) cutRoutes(ctx context.Context, number int, groups [][]int, stall bool) error {
	switch {
	case !t.transport.own():
		return errNotOurs
	case t.transport.proxies == nil:
		return errNoProxies
	}
	if !stall {
		if err := t.resetsBegin(ctx, number); err != nil {
			return err
		}
	}
	if err := t.transport.brokers.Cut(ctx, number, groups, stall); err != nil || stall {
		return err
	}
	return t.order(ctx, host.Order{Do: host.Parted}, t.up()...)
}

// resetsBegin says that a fault is about to close connections or routes.
func (t *trial) resetsBegin(ctx context.Context, number int) error {
	if t.resets == nil {
		t.resets = map[int]bool{}
	}
	t.resets[number] = true
	return t.connectionsAway(ctx)
}

// resetsEnd says that a fault is healed that may have.
func (t *trial) resetsEnd(number int) {
	if t.resets[number] {
		delete(t.resets, number)
		t.mayBeBack()
	}
}

// healRoutes takes the cut with that number back. Brokers open their routes again within some seconds, which
// settled reports.
func (t *trial) healRoutes(ctx context.Context, number int) error {
	if !t.transport.own() {
		return errNotOurs
	}
	if err := t.transport.brokers.Heal(ctx, number); err != nil {
		return err
	}
	t.resetsEnd(number)
	return nil
}

// beginConnection puts a fault in force on the connections of some nodes to their brokers on a network.
func (t *trial) beginConnection(ctx context.Context, of []nodes.ID, network int,
	f cluster.ConnectionFault) error {
	if t.transport.proxies == nil {
		return errNoProxies
	}
	f.Names = nil
	for _, id := range of {
		f.Names = append(f.Names, connectionName(id, network))
	}
	if f.Reset {
		if err := t.resetsBegin(ctx, f.Number); err != nil {
			return err
		}
	}
	return t.transport.proxies.Begin(ctx, f)
}

// healConnection takes the fault with that number back.
func (t *trial) healConnection(ctx context.Context, number int) error {
	if t.transport.proxies == nil {
		return errNoProxies
	}
	if err := t.transport.proxies.Heal(ctx, number); err != nil {
		return err
	}
	t.resetsEnd(number)
	return nil
}

// inForce returns the numbers of the faults of connections and routes that are in force.
func (t *trial) inForce(ctx context.Context) ([]int, error) {
	if t.transport.proxies == nil {
		return nil, nil
	}
	return t.transport.proxies.InForce(ctx)
}

// settled reports whether all brokers run, with all of their routes, and know what all nodes have subscribed
// to that are up. Only then does every message find its way, even if each node is connected to its own
// broker.
func (t *trial) settled(ctx context.Context) (bool, error) {
	if !t.transport.own() {
		return true, nil
	}
	short, cancel := context.WithTimeout(ctx, tick) // a broker may stand still
	defer cancel()
	if second := t.transport.second; second != nil && !second.Running(0) {
		return false, nil
	}
	is, err := t.transport.brokers.Settled(short, t.subscriptions(t.isUp))
	if errors.Is(err, context.DeadlineExceeded) {
		return false, ctx.Err()
	}
	return is, err
}
