package bench

import (
	"turnstile/bench/cluster"
	"turnstile/nodes"
	"turnstile/nodes/port"
)

// What carries the messages of a trial suffers faults too.
var _ port.Transport = faultCluster{}

// BrokerUp implements port.Transport.
func (s faultCluster) BrokerUp(i int) bool { return s.transport.running(i) }

// NodesAt implements port.Transport.
func (s faultCluster) NodesAt(i int) (count int) {
	for id := range nodes.ID(s.total()) {
		if s.isUp(id) && (s.transport.brokerOf(id) == i || i >= s.transport.brokers.Count()) {
			count++
		}
	}
	return count
}

// KillBroker implements port.Transport.
func (s faultCluster) KillBroker(i int) error { return s.killBroker(s.context, i) }

// RestartBroker implements port.Transport.
func (s faultCluster) RestartBroker(i int) error { return s.restartBroker(s.context, i) }

// PauseBroker implements port.Transport.
func (s faultCluster) PauseBroker(i int) error { return s.transport.process(i).Stop(true) }

// ResumeBroker implements port.Transport.
func (s faultCluster) ResumeBroker(i int) error { return s.transport.process(i).Stop(false) }

// CutRoutes implements port.Transport.
func (s faultCluster) CutRoutes(number int, groups [][]int) error {
	return s.cutRoutes(s.context, number, groups, false)
}

// HealRoutes implements port.Transport.
func (s faultCluster) HealRoutes(number int) error { return s.healRoutes(s.context, number) }

// BeginConnection implements port.Transport.
func (s faultCluster) BeginConnection(number int, of []nodes.ID, strain port.Strain) error {
	return s.beginConnection(s.context, of, int(strain.Network), cluster.ConnectionFault{Number: number,
		Latency: strain.Latency, Bandwidth: strain.Bandwidth, Stall: strain.Stall, Reset: strain.Reset})
}

// HealConnection implements port.Transport.
func (s faultCluster) HealConnection(number int) error { return s.healConnection(s.context, number) }

// Connected implements port.Transport.
func (s faultCluster) Connected() bool { return !s.outage.away }
