package site

import (
	"context"
	"errors"
	"fmt"

	"turnstile/hosts/cluster"
	"turnstile/nodes"
)

// ErrNotOurs is the error for a fault of an external broker.
var ErrNotOurs = errors.New("the broker is not one of the run's own: leave out --nats")

// OwnBrokers reports whether the run's own brokers carry its messages.
func (s *Site) OwnBrokers() bool { return s.networks[0].Count() > 0 }

// BrokerCount returns how many brokers the run has of its own, on all networks.
func (s *Site) BrokerCount() (count int) {
	for _, b := range s.networks {
		count += b.Count()
	}
	return count
}

// among returns the network that has broker i, counted over all networks, and the number of the broker in
// that network.
func (s *Site) among(i int) (*cluster.Brokers, int) {
	if first := s.networks[0].Count(); i >= first {
		return s.networks[1], i - first
	}
	return s.networks[0], i
}

// CheckBroker returns an error unless broker i is one of the run's own.
func (s *Site) CheckBroker(i int) error {
	switch {
	case !s.OwnBrokers():
		return ErrNotOurs
	case i < 0 || i >= s.BrokerCount():
		return fmt.Errorf("there is no broker %d: they count from 0 to %d", i, s.BrokerCount()-1)
	}
	return nil
}

// Broker returns the latest process of a broker.
func (s *Site) Broker(i int) cluster.Process {
	b, at := s.among(i)
	return b.Process(at)
}

// Running reports whether a broker has not ended.
func (s *Site) Running(i int) bool {
	b, at := s.among(i)
	return b.Running(at)
}

// KillBroker ends a broker at once.
func (s *Site) KillBroker(i int) error {
	b, at := s.among(i)
	return b.Kill(at)
}

// RestartBroker restarts a broker at its old address.
func (s *Site) RestartBroker(ctx context.Context, i int) error {
	b, at := s.among(i)
	return b.Restart(ctx, at)
}

// Connects reports whether a node connects to a broker.
func (s *Site) Connects(id nodes.ID, broker int) bool {
	return s.brokerAt[id] == broker || broker >= s.networks[0].Count()
}

// StandsStill reports whether some broker that a node connects to is suspended.
func (s *Site) StandsStill(id nodes.ID) bool {
	for i := range s.BrokerCount() {
		if s.Connects(id, i) && s.Broker(i).Turns()%2 == 1 {
			return true
		}
	}
	return false
}

// BrokerOf returns the broker of a node on the first network.
func (s *Site) BrokerOf(id nodes.ID) int { return s.brokerAt[id] }

// FirstBrokers returns the brokers of the first network, or the external server.
func (s *Site) FirstBrokers() *cluster.Brokers { return s.networks[0] }

// AllRun reports whether all brokers run.
func (s *Site) AllRun() bool {
	for i := range s.BrokerCount() {
		if !s.Running(i) {
			return false
		}
	}
	return true
}

// Ports returns the ports that brokers listen on.
func (s *Site) Ports() (all []uint16) {
	for _, b := range s.networks {
		all = append(all, b.Ports()...)
	}
	return all
}
