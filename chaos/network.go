package chaos

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"turnstile/chaos/effect"
	"turnstile/chaos/place"
	"turnstile/internal/chance"
	"turnstile/internal/yamlfile"
	"turnstile/nodes"
	"turnstile/nodes/port"
)

// A Network is the latency of the links during the whole run. Its zero value delivers messages at once.
type Network struct {
	Latency chance.Distribution `json:"latency"`
	Regions Regions             `json:"regions"` // replaces Latency, unless empty
	// RegionOf is the region of each node; nil: node i is in region i mod their number. See Regions.Of.
	RegionOf []int `json:"region_of,omitempty"`
}

// latencies returns the latencies of all links: one in all, or one for each pair of regions.
func (n *Network) latencies() []chance.Distribution {
	if n.Regions.None() {
		return []chance.Distribution{n.Latency}
	}
	return slices.Concat(n.Regions.Latency...)
}

// Longest returns a latency that fewer than one message in a million exceeds.
func (n *Network) Longest() (longest time.Duration) {
	for _, l := range n.latencies() {
		longest = max(longest, l.Longest())
	}
	return longest
}

// Bound returns the upper bound of the latency, if it has one.
func (n *Network) Bound() (most time.Duration, bounded bool) {
	for _, l := range n.latencies() {
		_, longest, has := l.Bounds()
		if !has {
			return 0, false
		}
		most = max(most, longest)
	}
	return most, true
}

// Constant reports whether all messages take the same time.
func (n *Network) Constant() bool { return n.Regions.None() && n.Latency.IsConstant() }

// Shaper returns the shaper of the network with the faults of a run, or nil if each message is delivered at
// once. Dice make its random decisions.
func (n *Network) Shaper(dice chance.Dice, faults []Fault, b *SharedState, codec *nodes.Codec) (nodes.Shaper,
	error) {
	s := undisturbed{n, dice}
	switch {
	case slices.ContainsFunc(faults, func(f Fault) bool { return f.OfLinks() }):
		return newRules(faults, b, s, codec)
	case n.Constant() && n.Latency.Zero():
		return nil, nil
	}
	return s, nil
}

// undisturbed delays every message by the latency of its link. Hosts keep the order of each link.
type undisturbed struct {
	*Network
	dice chance.Dice
}

// Shape implements nodes.Shaper.
func (u undisturbed) Shape(p *nodes.Packet, fate nodes.Fate) nodes.Fate {
	l := u.Latency
	if !u.Regions.None() {
		l = u.Regions.between(p.From, p.To, u.RegionOf)
	}
	return append(fate, l.Draw(u.dice, chance.OnLink(chance.ForDelay, p.From, p.To, p.Kind, p.Number)))
}

// A simulation holds the arguments of the simulator for a network and faults.
type simulation struct {
	FaultDriver port.FaultDriver // begins and heals faults; nil: the run has no faults
	Latency     time.Duration    // latency of every message if Shaper is nil
	Shaper      nodes.Shaper
}

// Simulated returns the arguments of the simulator for the network and resolved faults, under a seed.
func (n *Network) Simulated(faults []Fault, s *Scene, seed uint64) (simulation, error) {
	if len(faults) == 0 && n.Constant() {
		return simulation{Latency: n.Latency.Mean()}, nil
	}
	state, codec := NewSharedState(s.Config.N), s.codec()
	shaper, err := n.Shaper(chance.Dice(seed), faults, state, codec)
	if err != nil || len(faults) == 0 {
		return simulation{Shaper: shaper}, err
	}
	driver, err := NewDriver(faults, state, s.Config.N, codec)
	if _, ruled := shaper.(*Rules); !ruled && n.Constant() {
		return simulation{FaultDriver: driver, Latency: n.Latency.Mean()}, err
	}
	return simulation{driver, 0, shaper}, err
}

// Regions is a latency for every pair of regions. Node i is in region i modulo the number of regions: with
// three regions, nodes 0, 3 and 6 are in the first. If the names of the regions are lists of hosts, as in
// host 0 and host 1-3, each region has the nodes on its hosts. The zero value has no regions.
type Regions struct {
	Names []string `yaml:"regions" json:"regions"`
	// Latency is one way, from the region of the row to that of the column.
	Latency [][]chance.Distribution `yaml:"latency" json:"latency"`
}

// ReadRegions reads regions as YAML:
//
//	regions: [eu, us, asia]
//	latency: # one way, from the region of the row to that of the column
//	  - [1ms, 40ms, 90ms]
//	  - [40ms, 1ms, "log-normal:70ms,200ms"]
//	  - [90ms, 70ms, 1ms]
func ReadRegions(r io.Reader) (Regions, error) {
	b, err := io.ReadAll(r)
	if err != nil {
		return Regions{}, err
	}
	var regions Regions
	if err := yamlfile.Decode(b, &regions); err != nil && err != io.EOF {
		return Regions{}, fmt.Errorf("reading the regions: %w; write regions: [eu, us], "+
			"and below it latency:, with a list of latencies for each region, as in docs/running.md", err)
	}
	return regions, regions.check()
}

func (r *Regions) check() error {
	n := len(r.Names)
	if n == 0 {
		return fmt.Errorf("there are no regions: name some, as in regions: [eu, us]")
	}
	for i, name := range r.Names {
		switch {
		case strings.TrimSpace(name) == "":
			return fmt.Errorf("region %d has no name: name it, as in regions: [eu, us]", i+1)
		case slices.Contains(r.Names[:i], name):
			return fmt.Errorf("two regions are called %s: rename one of them", name)
		}
	}
	if _, err := r.hosts(); err != nil {
		return err
	}
	if len(r.Latency) != n {
		return fmt.Errorf("%d regions take %d rows of latencies, and there are %d", n, n, len(r.Latency))
	}
	for i, row := range r.Latency {
		if len(row) != n {
			return fmt.Errorf("from %s there are %d latencies, and to %d regions it takes %d",
				r.Names[i], len(row), n, n)
		}
	}
	return nil
}

// None reports whether there are no regions.
func (r *Regions) None() bool { return len(r.Names) == 0 }

// Longest returns a latency that fewer than one message in a million exceeds.
func (r *Regions) Longest() time.Duration { return (&Network{Regions: *r}).Longest() }

// String names the regions.
func (r Regions) String() string { return "regions " + strings.Join(r.Names, ", ") }

// Matrix names the regions and lists the latencies, row by row.
func (r *Regions) Matrix() string {
	text := strings.Join(r.Names, " ")
	for _, row := range r.Latency {
		text += "; " + strings.Trim(fmt.Sprint(row), "[]")
	}
	return text
}

// between returns the latency of a link, given the region of each node; nil: see region.
func (r *Regions) between(from, to nodes.ID, of []int) chance.Distribution {
	return r.Latency[r.region(from, of)][r.region(to, of)]
}

// region returns the region of a node, given the region of each node; nil: node i is in region i modulo the
// number of regions.
func (r *Regions) region(id nodes.ID, of []int) int {
	if of != nil {
		return of[id]
	}
	return int(id) % len(r.Names)
}

// Region returns the region of a node, by its number. There must be regions.
func (n *Network) Region(id nodes.ID) int { return n.Regions.region(id, n.RegionOf) }

// hosts returns the hosts in each region if the regions are hosts, else nil.
func (r *Regions) hosts() (all []nodes.Group, err error) {
	var taken nodes.Group
	for i, name := range r.Names {
		hosts, are, err := effect.ParseHosts(name)
		switch {
		case are != (all != nil) && i > 0:
			return nil, fmt.Errorf("region %s: name hosts in all regions, as in regions: [host 0, host 1-3], or in "+
				"no region", name)
		case !are:
			continue
		case err != nil:
			return nil, fmt.Errorf("region %d: %w", i+1, err)
		}
		for _, h := range hosts {
			if slices.Contains(taken, h) {
				return nil, fmt.Errorf("host %d is in two regions: name it once", h)
			}
		}
		all, taken = append(all, hosts), append(taken, hosts...)
	}
	return all, nil
}

// Of returns the region of each node if the regions are hosts, else nil. It is an error if a host of the
// placement is in no region, or a region names an unknown host.
func (r *Regions) Of(p *place.Placement) (regions []int, err error) {
	hosts, err := r.hosts()
	if err != nil || hosts == nil {
		return nil, err
	}
	of := make([]int, p.Hosts())
	for i := range of {
		of[i] = -1
	}
	for region, list := range hosts {
		if err := p.Check(list); err != nil {
			return nil, fmt.Errorf("region %s: %w", r.Names[region], err)
		}
		for _, h := range list {
			of[h] = region
		}
	}
	if h := slices.Index(of, -1); h >= 0 {
		return nil, fmt.Errorf("host %d is in no region: name each host in one, as in "+
			"regions: [host 0, host 1-3]", h)
	}
	for id := range nodes.ID(p.Total()) {
		regions = append(regions, of[p.HostOf(id)])
	}
	return regions, nil
}
