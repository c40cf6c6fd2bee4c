package chance

import (
	"math"
	"testing"
)

// Numbers come as often as Zipf's distribution has it, and the shares of all add up to one.
func TestZipf(t *testing.T) {
	const draws, n = 20_000, 8
	for _, s := range []float64{0, 0.5, 1, 1.1, 2, 10} {
		var seen [n]float64
		for count := range uint64(draws) {
			seen[Dice(7).Zipf(Roll{Purpose: ForResource, Count: count}, n, s)]++
		}
		sum := 0.0
		for k := range n {
			p := ZipfShare(k, n, s)
			sum += p
			if want := math.Pow(float64(k+1), -s) / zipfSum(n, s); math.Abs(p-want) > 1e-12 {
				t.Errorf("exponent %v: the share of %d is %v, want %v", s, k, p, want)
			}
			if deviation := math.Sqrt(draws*p*(1-p)) + 1; math.Abs(seen[k]-draws*p) > 5*deviation {
				t.Errorf("exponent %v: %v draws of %d, want about %.0f", s, seen[k], k, draws*p)
			}
		}
		if math.Abs(sum-1) > 1e-12 {
			t.Errorf("exponent %v: the shares add up to %v", s, sum)
		}
	}
}
