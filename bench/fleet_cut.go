package bench

import (
	"context"
	"errors"
	"fmt"

	"turnstile/bench/agent"
	"turnstile/bench/cluster"
	"turnstile/chaos"
	"turnstile/chaos/effect"
)

// A fleetCutter is a networkCutter by the agents of a run.
type fleetCutter struct {
	*fleet
	transport *transport
	cut       map[int][]int // the hosts that each cut is of, by its number
}

var _ networkCutter = (*fleetCutter)(nil)

// cutNetwork implements networkCutter.
func (c *fleetCutter) cutNetwork(number int, hosts []int) error {
	var ports []uint16
	for _, b := range []*cluster.Brokers{c.transport.brokers, c.transport.second} {
		if b != nil {
			ports = append(ports, b.Ports()...)
		}
	}
	for _, i := range hosts {
		c.cut[number] = append(c.cut[number], i) // which may have been cut, whatever the error
		if err := c.hosts[i].Cut(context.Background(), number, ports); err != nil {
			return err
		}
	}
	return nil
}

// healNetwork implements networkCutter.
func (c *fleetCutter) healNetwork(number int) error {
	for _, i := range c.cut[number] {
		if err := c.hosts[i].Heal(context.Background(), number); err != nil {
			return err
		}
	}
	delete(c.cut, number)
	return nil
}

// checkCuts says why the kernels of the hosts of a run cannot cut off those that its faults cut off, if they
// cannot. Hosts are those of the run, by their numbers; none: agents on this machine.
func (j *Job) checkCuts(hosts []agent.Description) error {
	const instead = "write cut: in place of cut-network:, or make the run in containers (compose.faults.yml)"
	faults, err := j.resolve(0, 1)
	if err != nil {
		return err
	}
	for i := range faults {
		of := networksOf(&faults[i])
		if of == nil {
			continue
		}
		if len(hosts) == 0 {
			return fmt.Errorf("%s: agents that a run starts itself share the network of this machine: %s",
				faults[i].What(), instead)
		}
		for _, number := range of {
			d := hosts[number]
			if d.NetCut != "" {
				return fmt.Errorf("%s: host %d (%s): %s", faults[i].What(), number, d.Name, d.NetCut)
			}
			for _, other := range hosts {
				if other.Name != d.Name && other.Network == d.Network {
					return fmt.Errorf("%s: hosts %s and %s share a network: %s", faults[i].What(), d.Name,
						other.Name, instead)
				}
			}
		}
	}
	return nil
}

// checkMemory says which hosts that share a machine have too little memory together, if some have. What each
// may take by itself it says when it joins.
func (j *Job) checkMemory(hosts []agent.Description) error {
	type machine struct{ nodes, free int }
	of := map[string]*machine{}
	for i, d := range hosts {
		if d.Kernel.Boot == "" || d.FreeMB == 0 {
			continue
		}
		m := of[d.Kernel.Boot]
		if m == nil {
			m = &machine{}
			of[d.Kernel.Boot] = m
		}
		m.nodes, m.free = m.nodes+len(j.placed.Nodes(i)), max(m.free, d.FreeMB)
	}
	for _, m := range of {
		if needs := m.nodes * agent.NodeMB; needs > m.free {
			return fmt.Errorf("%d nodes on hosts of one machine take about %d MB of memory, and it has %d: use fewer "+
				"nodes, or hosts on more machines", m.nodes, needs, m.free)
		}
	}
	return nil
}

// checkApart says why the run cannot be made on hosts that share no memory, if these are such and it cannot.
func (j *Job) checkApart(f *fleet) error {
	if !f.apart() {
		return nil
	}
	if !j.AsksProcess() && len(j.Stack.Mutexes()) > 0 {
		return errors.New("these hosts share no memory in which nodes could keep what witnesses exclusion: take " +
			"--resource process")
	}
	faults, err := j.resolve(0, 1)
	if err == nil {
		err = chaos.CheckApart(faults)
	}
	return err
}

// networksOf returns the hosts whose networks a fault cuts off; nil: it cuts off none.
func networksOf(f *chaos.Fault) (all []int) {
	if _, is := f.Effect.(*effect.CutNetwork); !is {
		return nil
	}
	for _, host := range effect.HostsOf(f.Effect) {
		all = append(all, int(host))
	}
	return all
}
