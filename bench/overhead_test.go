package bench

import (
	"math"
	"testing"
)

func TestOverheadConcludes(t *testing.T) {
	r := &OverheadResult{}
	for i := range 7 { // ratios 0.80, 0.81, ... 0.86
		r.Pairs = append(r.Pairs, Pair{Testbed: 80 + float64((i*3)%7), Bare: 100})
	}
	r.conclude()
	near := func(what string, got, want float64) {
		if math.Abs(got-want) > 1e-9 {
			t.Errorf("%s is %v, not %v", what, got, want)
		}
	}
	near("the median ratio", r.Ratio, 0.83)
	near("the testbed's median", r.Testbed, 83)
	near("the bare loop's median", r.Bare, 100)
	// Of seven pairs the median of all lies between the extremes unless all fall to one side: 2/128.
	near("the low end", r.Low, 0.80)
	near("the high end", r.High, 0.86)
	near("the coverage", r.Coverage, 1-2.0/128)
}

func TestOverheadIntervalNarrowsWithPairs(t *testing.T) {
	r := &OverheadResult{}
	for i := range 20 {
		r.Pairs = append(r.Pairs, Pair{Testbed: float64(i + 1), Bare: 1})
	}
	r.conclude()
	// By the binomial distribution the 6th from either end: 2 * P(fewer than 6 of 20) = 0.041.
	if r.Low != 6 || r.High != 15 || math.Abs(r.Coverage-0.9586) > 1e-3 {
		t.Errorf("the interval is %v to %v with %v, not 6 to 15 with 0.9586", r.Low, r.High, r.Coverage)
	}
}
