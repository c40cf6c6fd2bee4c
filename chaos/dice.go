// Package chaos is what goes wrong on purpose: delays, losses, partitions and crashes, as values that
// a host or the simulator applies. Nothing here is random by itself: every decision is a hash.
package chaos

import "turnstile/nodes"

// Dice makes every random decision of a run from its seed. Each roll is a hash of what it is for, so
// no two decisions share a stream: one more node, one message fewer or one fault removed moves no
// other decision, and a seed means the same in a real run and in the simulator.
type Dice uint64

// A Purpose is what a roll is for.
type Purpose uint64

// The purposes.
const (
	ForTrial   Purpose = iota + 1 // the seed of the count-th trial
	ForThink                      // how long a client thinks before its count-th request
	ForHold                       // how long it holds
	ForArrival                    // how long after the one before the count-th arrival is due
	ForTimer                      // when in its range a machine's timer runs out
	ForChoice                     // what Env.Choose answers
	ForDelay                      // how late the count-th message of a link arrives
	ForNode                       // which node asks next
	ForLoss                       // whether the count-th message of a link is lost
	ForCopy                       // whether it arrives twice
)

// A Roll names one decision: the count-th for a purpose, at a node or on a link, for a kind.
type Roll struct {
	Purpose  Purpose
	From, To nodes.ID // the node in both, when it is no link
	Kind     uint64
	Count    uint64
}

// Bits returns 64 bits for r, all alike random.
func (d Dice) Bits(r Roll) uint64 {
	h := mix(uint64(d) ^ 0x9e3779b97f4a7c15)
	h = mix(h ^ uint64(r.Purpose))
	h = mix(h ^ uint64(uint32(r.From))<<32 ^ uint64(uint32(r.To)))
	h = mix(h ^ r.Kind)
	return mix(h ^ r.Count)
}

// Unit returns a number for r, at least 0 and below 1.
func (d Dice) Unit(r Roll) float64 { return float64(d.Bits(r)>>11) / (1 << 53) }

// Below returns a whole number for r, from 0 to n-1. A bias of n in 2^64 is left in.
func (d Dice) Below(r Roll, n int) int { return int(d.Bits(r) % uint64(n)) }

// Exponential returns a number for r from the exponential distribution of mean 1.
func (d Dice) Exponential(r Roll) float64 { return -ln(1 - d.Unit(r)) }

// Normal returns a number for r from the normal distribution of mean 0 and deviation 1.
func (d Dice) Normal(r Roll) float64 {
	return normalQuantile((float64(d.Bits(r)>>11) + 0.5) / (1 << 53)) // never at an end, which is infinite
}

// mix is the finalizer of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014) after its increment.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
