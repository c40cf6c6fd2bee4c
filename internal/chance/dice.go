// Package chance makes reproducible random decisions: each is a hash of a seed and of its purpose. It has
// distributions of durations, whose functions give the same bits on every architecture.
package chance

import (
	"math/bits"
)

// Dice makes every random decision of a run from its seed. Decisions do not share a stream of random numbers:
// one node more, or one message or fault fewer, changes no other decision, and a seed means the same in a
// real run and in the simulator.
type Dice uint64

// A Purpose is the subject of a decision.
type Purpose uint64

// The purposes.
const (
	ForTrial    Purpose = iota + 1 // the seed of the count-th trial
	ForThink                       // how long a client thinks before its count-th request
	ForHold                        // how long a client stays inside after its count-th request
	ForArrival                     // the time between the count-th arrival and the one before
	ForTimer                       // when a machine's timer expires, within its range
	ForChoice                      // what Env.Choose returns
	ForDelay                       // the delay of the count-th message of a link
	ForNode                        // which node is next, to request or in a shuffle
	ForLoss                        // whether the count-th message of a link is lost
	ForCopy                        // whether the count-th message of a link arrives twice
	ForResource                    // which resource a client requests next, and the dice of each resource
	ForUnits                       // whether the count-th request wants all units
	ForFault                       // the random choices of the count-th fault of a plan
	ForVictim                      // the victims of a fault, by a shuffle of the nodes
	ForJitter                      // how much later than planned a fault begins
	ForReorder                     // the delay of the count-th message of a link that may be overtaken
	ForBurst                       // whether a message changes the state of a link that loses in bursts
	ForPlan                        // the count-th decision of a random plan
	ForCampaign                    // the random choices of a campaign of runs
	ForCalm                        // the order of runs without faults
	ForPoll                        // when a node first polls
)

// A Roll names one decision: the count-th for a purpose, at a node or on a link, for a kind.
type Roll struct {
	Purpose Purpose
	Link    uint64 // from linkOf: both ends of the link; for a decision at one node, that node twice
	Kind    uint64
	Count   uint64
} // four words: the compiler keeps no larger struct in registers

func linkOf[ID ~int32](from, to ID) uint64 { return uint64(uint32(from))<<32 | uint64(uint32(to)) }

// At names the count-th decision for a purpose at a node.
func At[ID ~int32](purpose Purpose, node ID, count uint64) Roll {
	return Roll{Purpose: purpose, Link: linkOf(node, node), Count: count}
}

// OnLink names the count-th decision for a purpose about a kind of message on a link.
func OnLink[ID ~int32](purpose Purpose, from, to ID, kind uint8, count uint64) Roll {
	return Roll{purpose, linkOf(from, to), uint64(kind), count}
}

// Bits returns 64 random bits for r. Without the last fold the bits would be almost linear in the count.
func (d Dice) Bits(r Roll) uint64 {
	what := bits.RotateLeft64(uint64(r.Purpose), 32) ^ r.Kind
	h := fold(uint64(d)^0xa0761d6478bd642f, r.Link^0xe7037ed1a0b428db)
	h = fold(h^r.Count, what^0x8ebc6af09c88c6e3)
	return fold(h, h^0x589965cc75374cc3)
}

// Of returns the dice for the n-th thing of a kind, such as a resource; for n = 0 it is d itself. Decisions
// about different things are independent.
func (d Dice) Of(purpose Purpose, n int) Dice {
	if n == 0 {
		return d
	}
	return Dice(d.Bits(Roll{Purpose: purpose, Count: uint64(n)}))
}

// Unit returns a number for r, at least 0 and below 1.
func (d Dice) Unit(r Roll) float64 { return unit(d.Bits(r)) }

// unit returns the first 53 bits as a fraction, exactly.
func unit(random uint64) float64 { return float64(random>>11) / (1 << 53) }

// Below returns a whole number for r, from 0 to n-1, with a bias of n in 2^64.
func (d Dice) Below(r Roll, n int) int { return int(d.Bits(r) % uint64(n)) }

// Exponential returns a number for r from the exponential distribution of mean 1.
func (d Dice) Exponential(r Roll) float64 { return -ln(1 - unit(d.Bits(r))) }

// Normal returns a number for r from the normal distribution of mean 0 and deviation 1.
func (d Dice) Normal(r Roll) float64 {
	return normalQuantile((float64(d.Bits(r)>>11) + 0.5) / (1 << 53)) // never 0 or 1, which give infinity
}

// fold multiplies two numbers and folds the product onto itself, as the hash wyhash does (Wang Yi, 2019).
// The factors are folded in too, so that a factor of zero does not erase the other.
func fold(a, b uint64) uint64 {
	high, low := bits.Mul64(a, b)
	return high ^ low ^ a ^ b
}
