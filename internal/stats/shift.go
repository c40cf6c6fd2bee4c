package stats

import (
	"math"
	"slices"
	"sync"
)

// Shift returns by how much y is greater than x: the median of all differences of one of y and one of x, the
// estimate of J. L. Hodges and E. L. Lehmann ("Estimates of location based on rank tests", Annals of
// Mathematical Statistics 34, 1963). Neither sample may be empty.
//
// The interval holds the shifts that a rank-sum test does not refute (L. E. Moses; M. Hollander and D. A.
// Wolfe, "Nonparametric Statistical Methods", 1973, section 4.3): it ends at the k-th least and the k-th
// greatest of the differences. Up to 50 of each, k is that of the exact distribution without ties, and else
// of its normal approximation. Where there are ties, that interval is wider than need be, and never too
// narrow (G. E. Noether, "Wilcoxon confidence intervals for location parameters in the discrete case",
// Journal of the American Statistical Association 62, 1967).
func Shift(x, y []float64) Estimate {
	x, y = slices.Sorted(slices.Values(x)), slices.Sorted(slices.Values(y))
	pairs := len(x) * len(y)
	e := Estimate{Low: math.Inf(-1), High: math.Inf(1)}
	e.Value = difference(x, y, (pairs+1)/2)
	if pairs%2 == 0 {
		e.Value = (e.Value + difference(x, y, pairs/2+1)) / 2
	}
	if k := refuted(len(x), len(y)); k > 0 {
		e.Low, e.High = difference(x, y, k), difference(x, y, pairs+1-k)
	}
	return e
}

// difference returns the k-th least of the differences of one of y and one of x, which are sorted. It bisects
// the numbers there are, in their order, so it takes 64 steps however many pairs there are.
func difference(x, y []float64, k int) float64 {
	low, high := ordinal(y[0]-x[len(x)-1]), ordinal(y[len(y)-1]-x[0])
	for low < high {
		middle := low + (high-low)/2
		if upTo(x, y, numberOf(middle)) >= k {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return numberOf(low)
}

// upTo counts the differences of one of y and one of x, which are sorted, that are at most d.
func upTo(x, y []float64, d float64) (count int) {
	j := 0 // the differences of y[:j] and x[i] are at most d
	for _, from := range x {
		for j < len(y) && y[j]-from <= d {
			j++
		}
		count += j
	}
	return count
}

// ordinal returns the place of a number in the order of all.
func ordinal(x float64) uint64 {
	bits := math.Float64bits(x + 0) // -0 is 0
	if bits>>63 == 1 {
		return ^bits
	}
	return bits | 1<<63
}

// numberOf returns the number at a place in the order of all.
func numberOf(ordinal uint64) float64 {
	if ordinal>>63 == 1 {
		return math.Float64frombits(ordinal &^ (1 << 63))
	}
	return math.Float64frombits(^ordinal)
}

// exactUpTo is the size of samples up to which the distribution of the rank sum is computed.
const exactUpTo = 50

// refuted returns how many values of the rank-sum statistic, from the least on, refute that there is no shift
// between samples of m and n numbers: those that have a probability below half of Level together.
func refuted(m, n int) int {
	if m > exactUpTo || n > exactUpTo {
		const z = 1.959963984540054 // of confidence
		a, b := float64(m), float64(n)
		return max(0, int(a*b/2+0.5-z*math.Sqrt(a*b*(a+b+1)/12)))
	}
	sizes := [2]int{min(m, n), max(m, n)}
	if k, known := refutedBefore.Load(sizes); known {
		return k.(int)
	}
	total, sum := choose(m+n, m), 0.0
	k := 0
	for _, ways := range rankSums(m, n) {
		if sum += ways; sum/total > Level/2 {
			break
		}
		k++
	}
	refutedBefore.Store(sizes, k)
	return k
}

// refutedBefore has what refuted has returned, by the sizes of the samples.
var refutedBefore sync.Map

// rankSums returns in how many ways m of m+n ranks can be drawn whose sum is the least possible, one more,
// and so on up to half of the way to the greatest. They are the coefficients of the Gaussian binomial of m+n
// and m.
func rankSums(m, n int) []float64 {
	ways := make([]float64, m*n/2+1)
	ways[0] = 1
	for i := 1; i <= m; i++ { // times 1 - q^(n+i), by 1 - q^i
		for u := len(ways) - 1; u >= n+i; u-- {
			ways[u] -= ways[u-n-i]
		}
		for u := i; u < len(ways); u++ {
			ways[u] += ways[u-i]
		}
	}
	return ways
}
