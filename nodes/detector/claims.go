package detector

import (
	"math"

	"turnstile/nodes"
	"turnstile/nodes/row"
)

// swimClaims are what the paper has of SWIM's load, and of how soon a crashed member is pinged: in section
// 3.1 each of n members pings a random one per period, so that a given member is pinged by somebody with
// probability 1-(1-1/(n-1))^(n-1), if all periods begin together. Where they do not, about one ping in a
// period comes to each member, at any time.
var swimClaims = []row.Claim{
	{Figure: row.MessagesPerMember, Source: "a ping and an ack, whatever N is", Sizes: []int{8, 32, 128},
		Options: map[string]string{"in-step": "yes"},
		Value:   func(nodes.Config) row.Range { return row.Exactly(2) }},
	{Figure: row.PeriodsToProbe, Source: "1/(1-(1-1/(N-1))^(N-1)), in step", Within: row.Mean,
		Sizes: []int{4, 8, 32}, Options: map[string]string{"order": "random", "suspicion": "0", "in-step": "yes"},
		Value: func(c nodes.Config) row.Range {
			n := float64(c.N - 1)
			return row.Exactly(1 / (1 - math.Pow(1-1/n, n)))
		}},
	{Figure: row.PeriodsToProbe, Source: "about 1, each member at its own time", Within: row.Beside,
		Sizes: []int{8, 32}, Options: map[string]string{"order": "random", "suspicion": "0"},
		Value: func(nodes.Config) row.Range { return row.Exactly(1) }},
}
