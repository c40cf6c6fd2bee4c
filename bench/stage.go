package bench

import (
	"turnstile/bench/cluster"
	"turnstile/nodes"
)

// What carries the messages of a trial suffers faults too.
var _ nodes.Transport = stage{}

// BrokerUp implements nodes.Transport.
func (s stage) BrokerUp(i int) bool { return s.transport.running(i) }

// NodesAt implements nodes.Transport.
func (s stage) NodesAt(i int) (count int) {
	for id := range nodes.ID(s.total()) {
		if s.isUp(id) && (s.transport.brokerOf(id) == i || i >= s.transport.brokers.Count()) {
			count++
		}
	}
	return count
}

// KillBroker implements nodes.Transport.
func (s stage) KillBroker(i int) error { return s.killBroker(s.context, i) }

// RestartBroker implements nodes.Transport.
func (s stage) RestartBroker(i int) error { return s.restartBroker(s.context, i) }

// PauseBroker implements nodes.Transport.
func (s stage) PauseBroker(i int) error { return s.transport.process(i).Stop(true) }

// ResumeBroker implements nodes.Transport.
func (s stage) ResumeBroker(i int) error { return s.transport.process(i).Stop(false) }

// CutRoutes implements nodes.Transport.
func (s stage) CutRoutes(number int, groups [][]int) error {
	return s.cutRoutes(s.context, number, groups, false)
}

// HealRoutes implements nodes.Transport.
func (s stage) HealRoutes(number int) error { return s.healRoutes(s.context, number) }

// BeginConnection implements nodes.Transport.
func (s stage) BeginConnection(number int, of []nodes.ID, strain nodes.Strain) error {
	return s.beginConnection(s.context, of, int(strain.Network), cluster.ConnectionFault{Number: number,
		Latency: strain.Latency, Bandwidth: strain.Bandwidth, Stall: strain.Stall, Reset: strain.Reset})
}

// HealConnection implements nodes.Transport.
func (s stage) HealConnection(number int) error { return s.healConnection(s.context, number) }

// Connected implements nodes.Transport.
func (s stage) Connected() bool { return !s.outage.away }
