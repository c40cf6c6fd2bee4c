package mutex

import (
	"testing"

	"turnstile/judge/check"
	"turnstile/nodes"
)

var suzukiModuloAlgorithm = variantOf(&suzukiKasamiAlgorithm, "suzuki-kasami-modulo",
	func(s suzukiKasami) nodes.Machine { return &suzukiModulo{s, 8} })

// Numbers that have begun anew hundreds of times serve everyone, at the same cost.
func TestNumbersModuloEightAreEnough(t *testing.T) {
	for _, c := range []nodes.Config{{N: 2}, {N: 3}, {N: 5}, {N: 9}} {
		for _, scan := range scanOption.Values {
			c := c.With("scan", scan)
			o := saturated(&suzukiModuloAlgorithm, c, 1)
			o.Entries = 2000
			if v := judge(t, o, suzukiKasamiAlgorithm.Mutex.Cost(c).Any); v.Outcome != check.Valid {
				t.Errorf("%d nodes, scan %s: %v: %s", c.N, scan, v.Outcome, v.Reason)
			}
		}
	}
}
