package trial

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"
	"time"

	"turnstile/bench/site"
	"turnstile/hosts/cluster"
	"turnstile/nodes"
	"turnstile/nodes/host"
	"turnstile/nodes/port"
)

// connections are the connections, brokers and routes that carry the messages of a trial. Faults put strains
// on them. Each strain has the number of its fault, which also ends it.
type connections struct {
	*journal
	site    *site.Site
	servers site.Servers
	nodes   *nodeSet
	orders  *orders
	cutter  networkCutter
	// reconnects is set if nodes survive the loss of their connections.
	reconnects bool
	resets     map[int]bool // numbers of the faults in force that close connections or routes
	// functions that end the strains in force, by number of the fault
	ends     map[int]func() error
	outage   outage
	carriers []cluster.Process // processes that carry messages, including ended ones
}

// include watches for the end of a process that carries messages.
func (c *connections) include(p cluster.Process) {
	c.carriers = append(c.carriers, p)
	c.nodes.follow(p)
}

// brokers implements the interface members for the brokers of a run.
type brokers struct{ *connections }

// Up reports whether a broker runs.
func (b brokers) Up(i int) bool { return b.site.CheckBroker(i) == nil && b.site.Running(i) }

// Kill ends a broker, without ending the trial.
func (b brokers) Kill(i int) error {
	if err := b.site.CheckBroker(i); err != nil {
		return err
	}
	if err := b.lose(); err != nil {
		return err
	}
	return b.site.KillBroker(i)
}

// Start starts a broker again, at its old address.
func (b brokers) Start(i int, _ bool) error {
	if err := b.site.CheckBroker(i); err != nil {
		return err
	}
	if err := b.site.RestartBroker(b.nodes.ctx, i); err != nil {
		return err
	}
	b.include(b.site.Broker(i))
	b.mayBeBack()
	return nil
}

// Stop suspends a broker, and Continue resumes it.
func (b brokers) Stop(i int) error { return b.signal(i, syscall.SIGSTOP) }

func (b brokers) Continue(i int) error { return b.signal(i, syscall.SIGCONT) }

// signal sends a signal to a broker. If its process is gone, signal does nothing.
func (b brokers) signal(i int, s syscall.Signal) error {
	err := b.site.CheckBroker(i)
	if err == nil {
		err = b.site.Broker(i).Signal(s)
	}
	if errors.Is(err, os.ErrProcessDone) {
		return nil
	}
	return err
}

// SetClock returns an error: no fault can set the clock of a broker.
func (b brokers) SetClock(int, time.Duration, float64) error {
	return errors.New("nothing that a broker does depends on its clock")
}

// connected returns the nodes that are up and connect to a broker.
func (b brokers) connected(i int) (all []port.Member) {
	for _, id := range b.nodes.up() {
		if b.site.Connects(id, i) {
			all = append(all, port.NodeOf(id))
		}
	}
	return all
}

// mayBeBack notes that nodes can connect again, unless a broker is down or another fault still closes
// connections.
func (c *connections) mayBeBack() {
	if c.site.AllRun() && len(c.resets) == 0 {
		c.outage.back, c.outage.round = c.now(), 0
	}
}

// strain begins a strain on connections, and keeps the function that ends it.
func (c *connections) strain(number int, s port.Strain) (err error) {
	if len(s.Links) == 0 {
		return fmt.Errorf("fault %d is on no connection", number)
	}
	a, b := s.Links[0].A.Role, s.Links[0].B.Role
	var end func() error
	switch {
	case a == port.Server || b == port.Server:
		end, err = c.servers.Strain(number, s)
	case a == port.Host:
		end, err = c.cutNetwork(number, s)
	case a == port.Broker:
		end, err = c.cutRoutes(number, s)
	default:
		end, err = c.strainNodes(number, s)
	}
	if c.ends == nil {
		c.ends = map[int]func() error{}
	}
	if c.ends[number] = end; end == nil {
		delete(c.ends, number)
	}
	return err
}

// relieve ends a strain.
func (c *connections) relieve(number int) error {
	end := c.ends[number]
	if end == nil {
		return fmt.Errorf("no fault %d is on connections", number)
	}
	delete(c.ends, number)
	return end()
}

// cutRoutes closes the routes between brokers (see cluster.Brokers.Cut). After the cut, the brokers take some
// seconds to open their routes again; settled reports when they have.
func (c *connections) cutRoutes(number int, s port.Strain) (func() error, error) {
	switch {
	case !c.site.OwnBrokers():
		return nil, site.ErrNotOurs
	case !c.site.Proxies.Any():
		return nil, cluster.ErrNoProxies
	}
	if err := c.beginReset(number); err != nil {
		return nil, err
	}
	var routes [][2]int
	for _, l := range s.Links {
		routes = append(routes, [2]int{l.A.I, l.B.I})
	}
	end := func() error { return c.ended(number, c.site.FirstBrokers().Heal(c.nodes.ctx, number)) }
	if err := c.site.FirstBrokers().Cut(c.nodes.ctx, number, routes); err != nil {
		return end, err
	}
	return end, c.orders.give(host.Order{Do: host.Parted}, c.nodes.up()...)
}

// A networkCutter makes the kernels of hosts drop packets that carry messages, and let them pass again. Hosts
// are numbered from 0. HealNetwork takes the number that was given to CutNetwork.
type networkCutter interface {
	CutsNetworks() bool
	CutNetwork(number int, hosts []int, ports []uint16) error
	HealNetwork(number int) error
}

var errNoCutter = errors.New("no host of this run can cut its network: that takes hosts with networks of " +
	"their own and NET_ADMIN; leave out kernel, as in cut: host 1")

// cutNetwork makes kernels drop packets between hosts. TCP sends a dropped packet again, but a broker drops a
// message that waits too long.
func (c *connections) cutNetwork(number int, s port.Strain) (func() error, error) {
	if !c.cutter.CutsNetworks() {
		return nil, errNoCutter
	}
	if err := c.beginReset(number); err != nil {
		return nil, err
	}
	var hosts []int
	for _, l := range s.Links {
		if !slices.Contains(hosts, l.A.I) {
			hosts = append(hosts, l.A.I)
		}
	}
	end := func() error { return c.ended(number, c.cutter.HealNetwork(number)) }
	if err := c.cutter.CutNetwork(number, hosts, c.site.Ports()); err != nil {
		return end, err
	}
	return end, c.orders.give(host.Order{Do: host.Parted}, c.nodes.up()...)
}

// beginReset notes that a fault is about to close connections or routes.
func (c *connections) beginReset(number int) error {
	if c.resets == nil {
		c.resets = map[int]bool{}
	}
	c.resets[number] = true
	return c.lose()
}

// ended notes that a fault is healed, unless err is set. If the fault closed connections, nodes may reconnect
// now.
func (c *connections) ended(number int, err error) error {
	if err == nil && c.resets[number] {
		delete(c.resets, number)
		c.mayBeBack()
	}
	return err
}

// strainNodes puts a strain on the connections of nodes to their brokers.
func (c *connections) strainNodes(number int, s port.Strain) (func() error, error) {
	if !c.site.Proxies.Any() {
		return nil, cluster.ErrNoProxies
	}
	f := cluster.ConnectionFault{Number: number, Latency: s.Latency, Bandwidth: s.Bandwidth, Stall: s.Stall,
		Reset: s.Close}
	for _, l := range s.Links {
		f.Names = append(f.Names, site.ConnectionName(l.A.ID(), int(s.Network)))
	}
	if f.Reset {
		if err := c.beginReset(number); err != nil {
			return nil, err
		}
	}
	end := func() error { return c.ended(number, c.site.Proxies.Heal(c.nodes.ctx, number)) }
	return end, c.site.Proxies.Begin(c.nodes.ctx, f)
}

// unhealed lists the faults of connections and routes in force, and the brokers that are down.
func (c *connections) unhealed() (left []string, err error) {
	numbers, err := c.site.Proxies.InForce(c.nodes.ctx)
	for _, number := range numbers {
		left = append(left, fmt.Sprintf("fault %d of a connection or a route", number))
	}
	for i := range c.site.BrokerCount() {
		if !c.site.Running(i) {
			left = append(left, c.site.Broker(i).Name()+" is down")
		}
	}
	return left, err
}

// settled reports whether all brokers run, have all their routes, and know the subscriptions of all nodes
// that are up. Until then a message may be lost, even if each node is connected to its own broker.
func (c *connections) settled() (bool, error) {
	if !c.site.OwnBrokers() {
		return true, nil
	}
	short, cancel := context.WithTimeout(c.nodes.ctx, tick) // a suspended broker does not answer
	defer cancel()
	if !c.site.AllRun() {
		return false, nil
	}
	is, err := c.site.FirstBrokers().Settled(short, c.subscriptions(c.nodes.isUp))
	if errors.Is(err, context.DeadlineExceeded) {
		return false, c.nodes.ctx.Err()
	}
	return is, err
}

// subscriptions returns how many subscriptions each broker should know once the nodes that has() selects are
// subscribed: one for each such node. With multicasts it adds one for each client of this broker, and one for
// each other broker that has clients.
func (c *connections) subscriptions(has func(nodes.ID) bool) []int {
	all, brokers := 0, c.site.FirstBrokers().Count()
	own := make([]int, brokers) // number of clients of each broker
	for id := range nodes.ID(c.nodes.Total()) {
		switch {
		case !has(id):
			continue
		case int(id) < c.nodes.Config.N:
			own[c.site.BrokerOf(id)]++
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

// awaitSubscriptions waits until each broker knows the subscriptions of all nodes if all is set, or else of
// no node. A node is ready once its own broker knows its subscription, but messages through other brokers are
// lost until those brokers know it too.
func (c *connections) awaitSubscriptions(all bool) error {
	if !c.site.OwnBrokers() {
		return nil
	}
	has := func(nodes.ID) bool { return all }
	err := c.site.FirstBrokers().AwaitSubscriptions(c.nodes.ctx, c.subscriptions(has))
	if c.nodes.ctx.Err() != nil {
		return ErrInterrupted
	}
	return err
}
