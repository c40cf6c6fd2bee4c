package trial

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/host"
	"turnstile/nodes/port"
)

// members are the processes of a run with one role. Faults act on them by these calls, which return once the
// action is done.
type members interface {
	Up(i int) bool
	Kill(i int) error
	Start(i int, forget bool) error
	Stop(i int) error
	Continue(i int) error
	SetClock(i int, jump time.Duration, rate float64) error
}

// A faultCluster is the cluster of a trial as the fault driver sees it.
type faultCluster struct {
	*connections
	counts *messageCounts
	faults *faults
}

var _ port.Cluster = faultCluster{}

// of returns the members of a role.
func (c faultCluster) of(r port.Role) members {
	switch r {
	case port.Node:
		return nodeMembers{c}
	case port.Broker:
		return brokers{c.connections}
	case port.Server:
		return c.servers
	}
	return hostMembers{}
}

// Now and the actions on members implement port.Cluster.
func (c faultCluster) Now() int64                             { return c.now() }
func (c faultCluster) Up(m port.Member) bool                  { return c.of(m.Role).Up(m.I) }
func (c faultCluster) Kill(m port.Member) error               { return c.of(m.Role).Kill(m.I) }
func (c faultCluster) Start(m port.Member, forget bool) error { return c.of(m.Role).Start(m.I, forget) }
func (c faultCluster) Stop(m port.Member) error               { return c.of(m.Role).Stop(m.I) }
func (c faultCluster) Continue(m port.Member) error           { return c.of(m.Role).Continue(m.I) }
func (c faultCluster) Strain(number int, s port.Strain) error { return c.strain(number, s) }
func (c faultCluster) Relieve(number int) error               { return c.relieve(number) }

// Lost implements port.Cluster. Only answers of servers are lost one by one.
func (c faultCluster) Lost(number int) (port.Lost, error) { return c.servers.Lost(number) }

// SetClock implements port.Cluster.
func (c faultCluster) SetClock(m port.Member, jump time.Duration, rate float64) error {
	return c.of(m.Role).SetClock(m.I, jump, rate)
}

// Promote implements port.Cluster.
func (c faultCluster) Promote(m port.Member) error {
	if m.Role != port.Server {
		return fmt.Errorf("%v cannot be promoted: only servers can", m)
	}
	return c.servers.Promote(m.I)
}

// Leave implements port.Cluster.
func (c faultCluster) Leave(m port.Member, linger time.Duration) error {
	l := &c.nodes.lives[m.I]
	l.expected, l.leaves = true, true
	return c.orders.give(host.Order{Do: host.Leave, Linger: linger}, m.ID())
}

// Delete and Expire implement port.Cluster.
func (c faultCluster) Delete(m port.Member, inside bool) error {
	return c.servers.Delete(m.ID(), inside)
}
func (c faultCluster) Expire(m port.Member) error { return c.servers.Expire(m.ID()) }

// Find implements port.Cluster.
func (c faultCluster) Find(r port.Relation, to port.Member) ([]port.Member, error) {
	switch r {
	case port.Leads:
		return c.servers.Leading()
	case port.Answered:
		return c.servers.Answered(to.ID())
	}
	return brokers{c.connections}.connected(to.I), nil
}

// Record implements port.Cluster.
func (c faultCluster) Record(e port.FaultEvent) error {
	return errors.Join(c.Add(history.FaultEvent(e)), c.counts.record(e.At, !e.Healed))
}

// nodeMembers are the nodes of a trial.
type nodeMembers struct{ faultCluster }

func (n nodeMembers) Up(i int) bool        { return n.nodes.isUp(nodes.ID(i)) }
func (n nodeMembers) Kill(i int) error     { return n.nodes.kill(nodes.ID(i)) }
func (n nodeMembers) Stop(i int) error     { return n.signal(i, syscall.SIGSTOP) }
func (n nodeMembers) Continue(i int) error { return n.signal(i, syscall.SIGCONT) }

// Start returns once the node has its orders. It does nothing if another fault has started the node again.
func (n nodeMembers) Start(i int, forget bool) error {
	id := nodes.ID(i)
	switch l := &n.nodes.lives[id]; {
	case !l.down && l.leaves:
		return fmt.Errorf("node %d has not left yet: %w", id, port.ErrLater)
	case !l.down:
		return nil
	}
	// Without this check the trial would deadlock: the node waits for its broker, this call waits for the node,
	// and so no fault is healed that would bring the broker back.
	if n.outage.away || n.site.StandsStill(id) {
		return fmt.Errorf("node %d cannot be started: %w", id, port.ErrLater)
	}
	if err := n.faults.syncState(nil); err != nil { // other hosts must know that the new process does not lead
		return err
	}
	if err := n.nodes.restart(id, forget); err != nil {
		return err
	}
	return n.orders.goOn(id)
}

// signal sends a signal to a node. It does nothing if the node has just killed itself.
func (n nodeMembers) signal(i int, s syscall.Signal) error {
	if err := n.nodes.lives[i].node.Signal(s); !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return nil
}

func (n nodeMembers) SetClock(i int, jump time.Duration, rate float64) error {
	return n.orders.give(host.Order{Do: host.SetClock, Jump: jump, Rate: rate}, nodes.ID(i))
}

// hostMembers refuse all actions: faults act on the processes of a host, or on its packets.
type hostMembers struct{}

var errHost = errors.New("no fault hits a host as a whole: name its nodes, as in kill: host 1")

func (hostMembers) Up(int) bool                                { return false }
func (hostMembers) Kill(int) error                             { return errHost }
func (hostMembers) Start(int, bool) error                      { return errHost }
func (hostMembers) Stop(int) error                             { return errHost }
func (hostMembers) Continue(int) error                         { return errHost }
func (hostMembers) SetClock(int, time.Duration, float64) error { return errHost }
