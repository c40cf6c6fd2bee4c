package chaos

import (
	"fmt"
	"time"

	"turnstile/internal/chance"
	"turnstile/nodes"
)

// A Network is what the links do to messages, the same during the whole run. Its zero value delivers each at
// once.
type Network struct {
	Latency     chance.Distribution `json:"latency"`
	Regions     Regions             `json:"regions"`               // instead of Latency, if there are any
	Loss        float64             `json:"loss,omitempty"`        // share of messages that are lost
	Duplication float64             `json:"duplication,omitempty"` // share of messages that arrive twice
	Faults      []Fault             `json:"faults,omitempty"`      // at times from when issuing begins
}

// Validate says what is wrong with the network, if anything is.
func (n *Network) Validate() error {
	if !(n.Loss >= 0 && n.Loss <= 1 && n.Duplication >= 0 && n.Duplication <= 1) { // nor is either a NaN
		return fmt.Errorf("a loss of %v and a duplication of %v: shares lie between 0 and 1", n.Loss, n.Duplication)
	}
	return nil
}

// Longest returns a latency that fewer than one message in a million exceeds.
func (n *Network) Longest() time.Duration {
	if n.Regions.None() {
		return n.Latency.Longest()
	}
	return n.Regions.Longest()
}

// Constant reports whether all messages take the same time, and none is lost or duplicated.
func (n *Network) Constant() bool {
	return n.Regions.None() && n.Latency.IsConstant() && n.Loss == 0 && n.Duplication == 0 &&
		len(n.Faults) == 0
}

// Simulated returns what the simulator takes: the latency, if it is the same for all messages, or else the
// shaper under the seed of dice.
func (n *Network) Simulated(dice chance.Dice) (latency time.Duration, shaper nodes.Shaper) {
	if n.Constant() {
		return n.Latency.Mean(), nil
	}
	return 0, n.Shaper(dice)
}

// Shaper returns the shaper of the network under the seed of dice, or nil if each message is delivered at
// once.
func (n *Network) Shaper(dice chance.Dice) nodes.Shaper {
	if n.Constant() && n.Latency.Zero() {
		return nil
	}
	var s nodes.Shaper = Latency{Of: n.Latency, Dice: dice}
	if !n.Regions.None() {
		s = RegionalLatency{Regions: n.Regions, Dice: dice}
	}
	if n.Duplication > 0 {
		s = Duplication{Rate: n.Duplication, Dice: dice, Of: s}
	}
	if n.Loss > 0 {
		s = Loss{Rate: n.Loss, Dice: dice, Of: s}
	}
	if len(n.Faults) > 0 {
		s = &Cuts{Faults: n.Faults, Of: s}
	}
	return s
}
