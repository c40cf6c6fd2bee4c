package bench

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"turnstile/bench/cluster"
	"turnstile/nodes"
	"turnstile/nodes/host"
	"turnstile/nodes/port"
)

// connections are what carries the messages of a trial, which suffers faults. Those of connections and routes
// have numbers, and each is healed by its own.
type connections struct {
	*journal
	servers
	transport *transport
	nodes     *nodeSet
	orders    *orders
	cutter    networkCutter // nil: no host of the run can
	// reconnects says that nodes outlive the loss of their connections.
	reconnects bool
	resets     map[int]bool // faults in force that close connections or routes, by number
	outage     outage
	carriers   []cluster.Process // those that have ended included
}

// include has the end of a process that carries messages be noticed.
func (c *connections) include(p cluster.Process) {
	c.carriers = append(c.carriers, p)
	c.nodes.follow(p)
}

var (
	errNoProxies = errors.New("connections and routes run through no proxies in this run: " +
		"begin it with --proxies")
	errNotOurs = errors.New("the broker is not one of the run's own: leave out --nats")
)

// Connected, BrokerUp and PauseBroker implement port.Transport.
func (c *connections) Connected() bool         { return !c.outage.away }
func (c *connections) BrokerUp(i int) bool     { return c.transport.running(i) }
func (c *connections) PauseBroker(i int) error { return c.transport.process(i).Signal(syscall.SIGSTOP) }

// ResumeBroker implements port.Transport.
func (c *connections) ResumeBroker(i int) error {
	return c.transport.process(i).Signal(syscall.SIGCONT)
}

// NodesAt implements port.Transport.
func (c *connections) NodesAt(i int) (count int) {
	for _, id := range c.nodes.up() {
		if c.transport.brokerOf(id) == i || i >= c.transport.brokers.Count() {
			count++
		}
	}
	return count
}

// KillBroker implements port.Transport. The end of the process is no trouble.
func (c *connections) KillBroker(i int) error {
	if err := c.transport.check(i); err != nil {
		return err
	}
	if err := c.lose(); err != nil {
		return err
	}
	brokers, at := c.transport.broker(i)
	return brokers.Kill(at)
}

// RestartBroker implements port.Transport. The broker keeps its address. The call returns
// once its process has started.
func (c *connections) RestartBroker(i int) error {
	if err := c.transport.check(i); err != nil {
		return err
	}
	brokers, at := c.transport.broker(i)
	if err := brokers.Restart(c.nodes.ctx, at); err != nil {
		return err
	}
	c.include(brokers.Process(at))
	c.mayBeBack()
	return nil
}

// mayBeBack says that connections are back, if nothing keeps any away.
func (c *connections) mayBeBack() {
	for i := range c.transport.brokerCount() {
		if !c.transport.running(i) {
			return
		}
	}
	if len(c.resets) == 0 {
		c.outage.back, c.outage.round = c.now(), 0
	}
}

// CutRoutes implements port.Transport (see cluster.Brokers.Cut).
func (c *connections) CutRoutes(number int, groups [][]int) error {
	switch {
	case !c.transport.own():
		return errNotOurs
	case c.transport.proxies == nil:
		return errNoProxies
	}
	if err := c.beginReset(number); err != nil {
		return err
	}
	if err := c.transport.brokers.Cut(c.nodes.ctx, number, groups); err != nil {
		return err
	}
	return c.orders.give(host.Order{Do: host.Parted}, c.nodes.up()...)
}

// HealRoutes implements port.Transport. Brokers open their routes again within some seconds, which settled
// reports.
func (c *connections) HealRoutes(number int) error {
	if !c.transport.own() {
		return errNotOurs
	}
	if err := c.transport.brokers.Heal(c.nodes.ctx, number); err != nil {
		return err
	}
	c.endReset(number)
	return nil
}

// A networkCutter has the kernels of hosts drop the packets of messages, and has them pass again. Hosts count
// from 0. Each cut has a number, and a heal names it.
type networkCutter interface {
	cutNetwork(number int, hosts []int) error
	healNetwork(number int) error
}

var errNoCutter = errors.New("no host of this run can cut its network off: it takes hosts with networks of " +
	"their own and NET_ADMIN; write cut: in place of cut-network:, as in cut: host 1")

// CutNetwork implements port.Transport. TCP sends again what is dropped, but brokers give up what waits for
// too long.
func (c *connections) CutNetwork(number int, hosts []int) error {
	if c.cutter == nil {
		return errNoCutter
	}
	if err := c.beginReset(number); err != nil {
		return err
	}
	if err := c.cutter.cutNetwork(number, hosts); err != nil {
		return err
	}
	return c.orders.give(host.Order{Do: host.Parted}, c.nodes.up()...)
}

// HealNetwork implements port.Transport.
func (c *connections) HealNetwork(number int) error {
	if c.cutter == nil {
		return errNoCutter
	}
	if err := c.cutter.healNetwork(number); err != nil {
		return err
	}
	c.endReset(number)
	return nil
}

// beginReset says that a fault is about to close connections or routes.
func (c *connections) beginReset(number int) error {
	if c.resets == nil {
		c.resets = map[int]bool{}
	}
	c.resets[number] = true
	return c.lose()
}

// endReset says that a fault is healed that may have.
func (c *connections) endReset(number int) {
	if c.resets[number] {
		delete(c.resets, number)
		c.mayBeBack()
	}
}

// BeginConnection implements port.Transport.
func (c *connections) BeginConnection(number int, of []nodes.ID, s port.Strain) error {
	if c.transport.proxies == nil {
		return errNoProxies
	}
	f := cluster.ConnectionFault{Number: number, Latency: s.Latency, Bandwidth: s.Bandwidth, Stall: s.Stall,
		Reset: s.Reset}
	for _, id := range of {
		f.Names = append(f.Names, connectionName(id, int(s.Network)))
	}
	if f.Reset {
		if err := c.beginReset(number); err != nil {
			return err
		}
	}
	return c.transport.proxies.Begin(c.nodes.ctx, f)
}

// HealConnection implements port.Transport.
func (c *connections) HealConnection(number int) error {
	if c.transport.proxies == nil {
		return errNoProxies
	}
	if err := c.transport.proxies.Heal(c.nodes.ctx, number); err != nil {
		return err
	}
	c.endReset(number)
	return nil
}

// unhealed says which faults of connections and routes are in force, and which brokers are down.
func (c *connections) unhealed() (left []string, err error) {
	if c.transport.proxies != nil {
		var numbers []int
		numbers, err = c.transport.proxies.InForce(c.nodes.ctx)
		for _, number := range numbers {
			left = append(left, fmt.Sprintf("fault %d of a connection or a route", number))
		}
	}
	for i := range c.transport.brokerCount() {
		if !c.transport.running(i) {
			left = append(left, c.transport.process(i).Name()+" is down")
		}
	}
	return left, err
}

// settled reports whether all brokers run, with all of their routes, and know what all nodes have subscribed
// to that are up. Only then does every message find its way, even if each node is connected to its own
// broker.
func (c *connections) settled() (bool, error) {
	if !c.transport.own() {
		return true, nil
	}
	short, cancel := context.WithTimeout(c.nodes.ctx, tick) // a broker may stand still
	defer cancel()
	if second := c.transport.second; second != nil && !second.Running(0) {
		return false, nil
	}
	is, err := c.transport.brokers.Settled(short, c.subscriptions(c.nodes.isUp))
	if errors.Is(err, context.DeadlineExceeded) {
		return false, c.nodes.ctx.Err()
	}
	return is, err
}

// subscriptions returns how many subscriptions each of several brokers knows once some nodes have theirs: one
// of each node, and, if there are multicasts, one of each of its own clients, and one of each other broker
// that has any.
func (c *connections) subscriptions(has func(nodes.ID) bool) []int {
	all, brokers := 0, c.transport.brokers.Count()
	own := make([]int, brokers) // clients
	for id := range nodes.ID(c.nodes.total()) {
		switch {
		case !has(id):
			continue
		case int(id) < c.nodes.Config.N:
			own[c.transport.brokerOf(id)]++
		}
		all++
	}
	want := make([]int, brokers)
	for i := range want {
		want[i] = all
		for j := 0; j < brokers && c.nodes.Multicast; j++ {
			if j == i {
				want[i] += own[j]
			} else {
				want[i] += min(1, own[j])
			}
		}
	}
	return want
}

// awaitSubscriptions waits until each broker knows what all nodes have subscribed to, or what none has, and
// nothing else. A node is ready when its own broker knows, and messages that come by others would be lost
// until these do.
func (c *connections) awaitSubscriptions(all bool) error {
	if !c.transport.own() {
		return nil
	}
	has := func(nodes.ID) bool { return all }
	err := c.transport.brokers.AwaitSubscriptions(c.nodes.ctx, c.subscriptions(has))
	if c.nodes.ctx.Err() != nil {
		return errInterrupted
	}
	return err
}
