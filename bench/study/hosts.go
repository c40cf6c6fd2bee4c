package study

import (
	"errors"
	"fmt"
	"slices"

	"turnstile/bench"
	"turnstile/chaos/effect"
	"turnstile/chaos/place"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

// A Spread says how the nodes of each run are spread over hosts.
type Spread struct {
	Hosts int    // 0: all nodes are on one machine
	Place string // which node is on which host, as place.Parse reads it
}

// over spreads the nodes of a run over the hosts.
func (s Spread) over(o *bench.Options) { o.Hosts, o.Place = s.Hosts, s.Place }

// placement returns which node is on which host in a run of an algorithm, servers included.
func (s Spread) placement(spec *algorithm.Algorithm, config nodes.Config) (place.Placement, error) {
	p, err := place.Parse(s.Place, config.N+spec.ServerCount(spec.Explicit(config)), s.Hosts)
	if err != nil {
		return p, fmt.Errorf("%s: %w", spec.Name, err)
	}
	return p, nil
}

// Check returns an error if the nodes of a run of the matrix cannot be spread over the hosts as asked.
func (m *Matrix) Check() error {
	for _, spec := range m.Algorithms {
		if _, err := m.placement(spec, nodes.Config{N: cellNodes}); err != nil {
			return err
		}
	}
	return nil
}

// settle replaces the hosts in cuts by their nodes. The servers of a scheme are in no cut.
func (c *SplitBrain) settle() error {
	var first place.Placement
	for i, spec := range c.Algorithms {
		p, err := c.placement(spec, c.config(spec))
		if err != nil {
			return err
		}
		if i == 0 {
			first = p
		}
		for id := range nodes.ID(c.N) {
			if p.HostOf(id) != first.HostOf(id) && slices.ContainsFunc(c.Cuts, namesHosts) {
				return errors.New("--cut: schemes with servers and schemes without place different nodes on a " +
					"host: name nodes, as in 0-1/2-4, or run these schemes separately")
			}
		}
	}
	isServer := func(id nodes.ID) bool { return int(id) >= c.N }
	on := func(host int) nodes.Group { return slices.DeleteFunc(first.Nodes(host), isServer) }
	for i, cut := range c.Cuts {
		if err := first.Check(cut.Hosts()); err != nil {
			return fmt.Errorf("--cut: %v: %w", cut, err)
		}
		settled, err := cut.Settled(on)
		if err != nil {
			return fmt.Errorf("--cut: %w", err)
		}
		c.Cuts[i] = settled
	}
	return nil
}

// namesHosts reports whether a cut is between hosts.
func namesHosts(c effect.Cut) bool { return len(c.Hosts()) > 0 }
