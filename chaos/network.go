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
}

// Longest returns a latency that fewer than one message in a million exceeds.
func (n *Network) Longest() time.Duration {
	if n.Regions.None() {
		return n.Latency.Longest()
	}
	return n.Regions.Longest()
}

// Bound returns a latency that no message exceeds, if there is one.
func (n *Network) Bound() (most time.Duration, bounded bool) {
	if n.Regions.None() {
		_, most, bounded = n.Latency.Bounds()
		return most, bounded
	}
	for _, row := range n.Regions.Latency {
		for _, l := range row {
			_, longest, has := l.Bounds()
			if !has {
				return 0, false
			}
			most = max(most, longest)
		}
	}
	return most, true
}

// Constant reports whether all messages take the same time.
func (n *Network) Constant() bool { return n.Regions.None() && n.Latency.IsConstant() }

// Shaper returns the shaper of the network under the seed of dice with the faults of a run, or nil if each
// message is delivered at once.
func (n *Network) Shaper(dice chance.Dice, faults []Fault, b *SharedState, codec *nodes.Codec) (nodes.Shaper,
	error) {
	s := n.undisturbed(dice)
	switch {
	case slices.ContainsFunc(faults, func(f Fault) bool { return f.OfLinks() }):
		return newRules(faults, b, s, codec)
	case n.Constant() && n.Latency.Zero():
		return nil, nil
	}
	return s, nil
}

// undisturbed returns the shaper of the network without faults, even if it delivers each message at once.
func (n *Network) undisturbed(dice chance.Dice) nodes.Shaper {
	if !n.Regions.None() {
		return regionalLatency{Regions: n.Regions, Dice: dice}
	}
	return Latency{Of: n.Latency, Dice: dice}
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
