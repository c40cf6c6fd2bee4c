package election

import (
	"math"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

// How many messages an election takes on a ring: for given identities if all begin at once, and at most. The
// announcement of the leader counts, one message for each node.

// ringCosts returns the messages of an election on a ring. atOnce returns them for given identities if all
// begin at once, and most the maximum for n nodes, both without the announcement.
func ringCosts(atOnce func(ids []uint32) int,
	most func(n int) int) func(nodes.Config) algorithm.ElectionCost {
	return func(c nodes.Config) algorithm.ElectionCost {
		if c.N == 1 {
			return algorithm.ElectionCost{} // a node's messages to itself do not count
		}
		ids, _ := identities(c.N, c.Value(idsOption)) // the option is valid
		return algorithm.ElectionCost{AtOnce: atOnce(ids) + c.N, Most: most(c.N) + c.N}
	}
}

var (
	leLannCosts = ringCosts(func(ids []uint32) int { return len(ids) * len(ids) },
		func(n int) int { return n * n })
	changRobertsCosts       = ringCosts(changRobertsMessages, func(n int) int { return n * (n + 1) / 2 })
	hirschbergSinclairCosts = ringCosts(sinclairMessages, sinclairMost)
	franklinCosts           = ringCosts(franklinMessages, franklinMost)
	dolevKlaweRodehCosts    = ringCosts(dolevMessages, dolevMost)
)

// sinclairMost is 8N + 8 N lg N (Hirschberg and Sinclair 1980).
func sinclairMost(n int) int { return 8*n + 8*int(math.Ceil(float64(n)*math.Log2(float64(n)))) }

// franklinMost is 2N floor(lg N) + 2N (Franklin 1982; his 3N include the announcement).
func franklinMost(n int) int { return 2*n*floorLog(n) + 2*n }

// dolevMost is 2N floor(lg N) + N (Dolev, Klawe and Rodeh 1982, the basic form).
func dolevMost(n int) int { return 2*n*floorLog(n) + n }

// changRobertsMessages: an identity goes on to the next higher one, and the highest all the way round.
func changRobertsMessages(ids []uint32) (sent int) {
	for at := range ids {
		sent += toHigherOne(ids, at, 1)
	}
	return sent
}

// toHigherOne returns the hops to the next higher identity in a direction, 1 or -1; from the highest, all
// the way round.
func toHigherOne(ids []uint32, at, direction int) int {
	n := len(ids)
	for hops := 1; hops < n; hops++ {
		if ids[(at+hops*direction+n)%n] > ids[at] {
			return hops
		}
	}
	return n
}

// sinclairMessages: in each phase, the remaining candidates send probes some distance both ways, or to the
// first higher node. A probe that meets no higher node is answered, and a candidate with both replies goes
// on, twice as far.
func sinclairMessages(ids []uint32) (sent int) {
	reach := make([][2]int, len(ids))
	for at := range ids {
		reach[at] = [2]int{toHigherOne(ids, at, 1), toHigherOne(ids, at, -1)}
	}
	for far := 1; ; far *= 2 {
		for _, r := range reach {
			if far > 1 && min(r[0], r[1]) <= far/2 {
				continue // this candidate was stopped in an earlier phase
			}
			for _, hops := range r {
				sent += min(far, hops)
				if far < hops {
					sent += far
				}
			}
		}
		if far >= len(ids) {
			return sent
		}
	}
}

// franklinMessages: in each round, the candidates' identities take each link once in each direction. A
// candidate remains if it is higher than the candidates on both sides. The last round has one.
func franklinMessages(ids []uint32) (sent int) {
	for left := ids; ; {
		sent += 2 * len(ids)
		if len(left) == 1 {
			return sent
		}
		var higher []uint32
		for at, id := range left {
			n := len(left)
			if id > left[(at+1)%n] && id > left[(at+n-1)%n] {
				higher = append(higher, id)
			}
		}
		left = higher
	}
}

// dolevMessages: in each half of a round, the candidates' values take each link once. A candidate remains if
// the value before it is higher than its own and than the value two before it; it takes the value before it.
// The last round has one candidate, and ends after its first half, when its value has come all the way round.
func dolevMessages(ids []uint32) (sent int) {
	for left := ids; ; {
		sent += len(ids)
		if len(left) == 1 {
			return sent
		}
		sent += len(ids)
		var values []uint32
		for at, value := range left {
			n := len(left)
			if before := left[(at+n-1)%n]; before > value && before > left[(at+n+n-2)%n] {
				values = append(values, before)
			}
		}
		left = values
	}
}
