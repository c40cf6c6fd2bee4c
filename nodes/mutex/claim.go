package mutex

import (
	"time"

	"turnstile/nodes"
)

// Sources of the claims of several algorithms.
const (
	paper    = "the paper of the algorithm"
	textbook = "Kshemkalyani and Singhal, Distributed Computing, ch. 9"
)

// nine is the number of nodes for claims about delays.
var nine = []int{9}

// exactly and formula are the values of claims: one number for any size, or one that depends on the size.
func exactly(x float64) func(nodes.Config) nodes.Range {
	return func(nodes.Config) nodes.Range { return nodes.Exactly(x) }
}

func formula(f func(n float64) float64) func(nodes.Config) nodes.Range {
	return func(c nodes.Config) nodes.Range { return nodes.Exactly(f(float64(c.N))) }
}

// utilisation claims W/(W+delay) for several holds W: one entry takes its hold and the delay, in hops.
func utilisation(source string, delay float64) (claims []nodes.Claim) {
	for _, hold := range []float64{0.1, 0.5, 1, 2, 10, 100} {
		claims = append(claims, nodes.Claim{Figure: nodes.Utilisation, Source: source, Sizes: []int{8},
			Hold: time.Duration(hold * float64(nodes.Hop)), Value: exactly(hold / (hold + delay))})
	}
	return claims
}
