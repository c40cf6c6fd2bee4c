package chaos

import (
	"slices"
	"time"

	"turnstile/internal/chance"
	"turnstile/nodes"
	"turnstile/nodes/port"
)

// A Network is what the links do to messages, the same during the whole run. Its zero value delivers each at
// once.
type Network struct {
	Latency chance.Distribution `json:"latency"`
	Regions Regions             `json:"regions"` // instead of Latency, if there are any
	// RegionOf is the region of each node; nil: they take turns. See Regions.Of.
	RegionOf []int `json:"region_of,omitempty"`
}

// latencies returns those of all links: one of all, or one for each pair of regions.
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

// Bound returns a latency that no message exceeds, if there is one.
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

// Shaper returns the shaper of the network under the seed of dice with the faults of a run, or nil if each
// message is delivered at once.
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

// undisturbed delays every message by the latency of its link. Hosts keep the order of a link under it.
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

// A simulation is what the simulator takes of a network and of faults.
type simulation struct {
	FaultDriver port.FaultDriver // nil: there are no faults
	Latency     time.Duration    // of every message, if there is no Shaper
	Shaper      nodes.Shaper
}

// Simulated returns what the simulator takes of the network, with faults that Resolve has returned, under a
// seed.
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
