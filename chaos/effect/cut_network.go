package effect

import (
	"fmt"
	"slices"
	"time"

	"turnstile/nodes"
)

// CutNetwork has the kernels of hosts drop all packets of the run's messages that come from other hosts or go
// to them.
type CutNetwork struct {
	plain
	Of hostGroup `yaml:"cut-network"`
}

var cutNetwork = Kind{Key: "cut-network", Layer: ofHosts,
	Says: "the kernels of hosts drop all packets of messages from and to other hosts; it takes --hosts, and " +
		"NET_ADMIN there",
	Example: "cut-network: host 1, for: 500ms", Breaks: nodes.NoLoss | nodes.Timing, Cuts: true,
	StandIn: "a cut between the nodes there and those of other hosts", Zero: new(CutNetwork),
	Flag: "have the kernels of hosts, as in 'host 1', drop all packets of `messages` from and to other hosts"}

// Leaves returns for how long brokers may take to find each other again. How long TCP waits until it tries
// again depends on how long the cut was: see Tail.
func (*CutNetwork) Leaves() time.Duration { return reconnecting }

// longestRetry is the longest time between two attempts of TCP to send a packet again, on Linux.
const longestRetry = 2 * time.Minute

// Tail returns for how long the effect of a cut may last that lasted so long, 0: to the end. TCP doubles its
// waits, so the one during which the cut is healed is no longer than the cut.
func (c *CutNetwork) Tail(lasts time.Duration) time.Duration {
	if lasts == 0 || lasts > longestRetry {
		lasts = longestRetry
	}
	return lasts + c.Leaves()
}

// Cut returns the cut that it makes between nodes, given how many hosts there are and the nodes on each: each
// of its hosts from all others.
func (c *CutNetwork) Cut(hosts int, on func(host int) Group) Cut {
	var groups []Group
	var others Group
	for h := range hosts {
		if slices.Contains(c.Of.Group, nodes.ID(h)) {
			groups = append(groups, on(h))
		} else {
			others = append(others, on(h)...)
		}
	}
	if others != nil {
		groups = append(groups, slices.Sorted(slices.Values(others)))
	}
	return CutInto(false, groups...)
}

// Begin has the transport drop packets on its hosts.
func (c *CutNetwork) Begin(on *Carrier, _ Group) (hit int, err error) {
	var hosts []int
	for _, h := range c.Of.Group {
		hosts = append(hosts, int(h))
		for _, id := range on.NodesOn(int(h)) {
			if on.Up(id) {
				hit++
			}
		}
	}
	if err := on.Transport.CutNetwork(on.Number, hosts); err != nil {
		return 0, fmt.Errorf("cutting the network of %v: %w", c.Of, err)
	}
	return hit, nil
}

// Heal has the packets pass again.
func (*CutNetwork) Heal(c *Carrier) error { return c.HealNetwork(c.Number) }

// Start is of the cut that stands in for it: nodes of one host reach each other.
func (c *CutNetwork) Start(at *Place) Link {
	is := func(host int) bool { return slices.Contains(c.Of.Group, nodes.ID(host)) }
	return func(p *nodes.Packet, fate nodes.Fate, begun int) (nodes.Fate, bool) {
		if from, to := at.HostOf(p.From), at.HostOf(p.To); from != to && (is(from) || is(to)) {
			return fate[:begun], true
		}
		return fate, false
	}
}
