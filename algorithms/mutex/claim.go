package mutex

import (
	"time"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

// Sources of the claims of several algorithms.
const (
	paper    = "the paper of the algorithm"
	lozes    = "Lozes and Henrio, Distributed Algorithms: Mutual exclusion (lecture notes)"
	textbook = "Kshemkalyani and Singhal, Distributed Computing, ch. 9"
)

// nine is the number of nodes in claims about delays.
var nine = []int{9}

// exactly and formula are the values of claims: one number for any size, or one that depends on the size.
func exactly(x float64) func(nodes.Config) algorithm.Range {
	return func(nodes.Config) algorithm.Range { return algorithm.Exactly(x) }
}

func formula(f func(n float64) float64) func(nodes.Config) algorithm.Range {
	return func(c nodes.Config) algorithm.Range { return algorithm.Exactly(f(float64(c.N))) }
}

// utilisation claims W/(W+delay) for several holds W: one entry takes its hold and the delay, in hops.
func utilisation(source string, delay float64) (claims []algorithm.Claim) {
	for _, hold := range []float64{0.1, 0.5, 1, 2, 10, 100} {
		claims = append(claims, algorithm.Claim{Figure: algorithm.Utilisation, Source: source, Sizes: []int{8},
			Hold: time.Duration(hold * float64(algorithm.Hop)), Value: exactly(hold / (hold + delay))})
	}
	return claims
}
