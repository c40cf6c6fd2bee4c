// Package stats compares samples of numbers without assumptions about their distribution: medians with their
// intervals, the difference of two samples with its interval, and rank tests.
package stats

import (
	"cmp"
	"math"
	"math/big"
	"slices"

	moremath "github.com/aclements/go-moremath/stats"

	"turnstile/internal/figure"
)

// Level is the significance level: the greatest probability that a significant difference is chance.
const Level = 0.05

// An Estimate is a number with its interval. An end of the interval is infinite if the samples are too small
// to bound it.
type Estimate struct {
	Value, Low, High float64
	Coverage         float64 // for a median: the probability that the interval contains it
}

// Bounded reports whether the samples were large enough for an interval.
func (e Estimate) Bounded() bool { return !math.IsInf(e.Low, 0) && !math.IsInf(e.High, 0) }

// Median returns the median of a sample, which must not be empty. Its interval reaches from the k-th least to
// the k-th greatest value. k is the greatest number for which the interval contains the true median with a
// probability of at least 1 - Level. At least six values are needed.
func Median(x []float64) Estimate {
	x = slices.Sorted(slices.Values(x))
	n := len(x)
	e := Estimate{(x[n/2] + x[(n-1)/2]) / 2, math.Inf(-1), math.Inf(1), 1}
	// The true median is outside if fewer than k of n values are below it, or fewer than k above it.
	ways, of := new(big.Int), big.NewInt(1)
	for k := range n / 2 {
		ways.Add(ways, of)
		of.Div(of.Mul(of, big.NewInt(int64(n-k))), big.NewInt(int64(k+1)))
		outside, _ := new(big.Float).SetMantExp(new(big.Float).SetInt(ways), 1-n).Float64()
		if outside > Level {
			break
		}
		e.Low, e.High, e.Coverage = x[k], x[n-1-k], 1-outside
	}
	return e
}

// MedianOf returns the median of figures. It is unknown if figures is empty or has an unknown one, and a
// lower bound if a figure at or below the median is a bound.
func MedianOf(figures []figure.Figure) figure.Figure {
	values := make([]float64, len(figures))
	for i, f := range figures {
		x, known := f.Value()
		if !known {
			return figure.Figure{}
		}
		values[i] = x
	}
	if len(values) == 0 {
		return figure.Figure{}
	}
	median := Median(values).Value
	upper := slices.Sorted(slices.Values(values))[len(values)/2]
	if slices.ContainsFunc(figures, func(f figure.Figure) bool {
		x, _ := f.Value()
		return f.IsBound() && x <= upper
	}) {
		return figure.AtLeast(median)
	}
	return figure.Number(median)
}

// MannWhitney returns the probability that two samples of one distribution differ as much as x and y or more,
// in either direction. It is exact up to 50 values each, or 25 with ties; beyond that it is the normal
// approximation. It is 1 if all values are equal, or a sample is empty.
//
// H. B. Mann and D. R. Whitney, "On a test of whether one of two random variables is stochastically larger
// than the other", Annals of Mathematical Statistics 18 (1), 1947.
func MannWhitney(x, y []float64) float64 { return min(1, 2*min(less(x, y), less(y, x))) }

// less returns the probability that x lies as far below y as it does, or further, by chance. MannWhitney
// tests both directions: with ties and samples of different sizes, the distribution is not symmetric.
func less(x, y []float64) float64 {
	test, err := moremath.MannWhitneyUTest(x, y, moremath.LocationLess)
	if err != nil { // all values are equal, or a sample is empty
		return 1
	}
	return test.P
}

// LeastP returns the least result of MannWhitney for samples of m and n numbers: if all numbers of one are
// below all of the other.
func LeastP(m, n int) float64 {
	draws, _ := new(big.Int).Binomial(int64(m+n), int64(m)).Float64()
	return min(1, 2/draws)
}

// Enough returns the least size of samples that can show a difference in a number of comparisons, with the
// correction of Holm: LeastP times the comparisons is below Level.
func Enough(comparisons int) (n int) {
	for n = 1; LeastP(n, n)*float64(comparisons) >= Level; n++ {
	}
	return n
}

// Holm corrects the p-values of several comparisons. Each result is the least level at which Holm's procedure
// calls that comparison significant. The procedure keeps the probability of any wrong call below the level.
//
// S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6,
// 1979.
func Holm(p []float64) []float64 {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(p[i], p[j]) })
	corrected := make([]float64, len(p))
	least := 0.0
	for done, i := range order {
		least = max(least, min(1, p[i]*float64(len(p)-done)))
		corrected[i] = least
	}
	return corrected
}

// Shift returns by how much y is greater than x: the median of the differences of all pairs of a value of y
// and a value of x, the estimate of J. L. Hodges and E. L. Lehmann ("Estimates of location based on rank
// tests", Annals of Mathematical Statistics 34, 1963). Neither sample may be empty.
//
// The interval has the shifts that a rank-sum test does not reject (L. E. Moses; M. Hollander and D. A.
// Wolfe, "Nonparametric Statistical Methods", 1973, section 4.3): from the k-th least to the k-th greatest
// difference. Up to 50 values each, k comes from the exact distribution without ties, beyond that from its
// normal approximation. With ties the interval is wider than necessary, but never too narrow (G. E. Noether,
// "Wilcoxon confidence intervals for location parameters in the discrete case", Journal of the American
// Statistical Association 62, 1967).
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

// difference returns the k-th least difference of a value of y and a value of x, which are sorted. It bisects
// the numbers between the least and the greatest difference, so it needs no list of all.
func difference(x, y []float64, k int) float64 {
	low, high := math.Nextafter(y[0]-x[len(x)-1], math.Inf(-1)), y[len(y)-1]-x[0]
	for {
		middle := low/2 + high/2
		switch {
		case middle <= low || middle >= high:
			return high
		case upTo(x, y, middle) >= k:
			high = middle
		default:
			low = middle
		}
	}
}

// upTo counts the differences up to d of a value of y and a value of x, which are sorted.
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

// exactUpTo is the size of samples up to which the distribution of the rank sum is computed.
const exactUpTo = 50

// refuted returns how many values of the rank-sum statistic, from the least on, reject the hypothesis of no
// shift between samples of m and n numbers: together they have a probability below half of Level.
func refuted(m, n int) int {
	if m > exactUpTo || n > exactUpTo {
		const z = 1.959963984540054 // the normal quantile for 1 - Level/2
		a, b := float64(m), float64(n)
		return max(0, int(a*b/2+0.5-z*math.Sqrt(a*b*(a+b+1)/12)))
	}
	most := Level / LeastP(m, n) // how many choices of ranks may lead to rejection
	for k, ways := range rankSums(m, n) {
		if most -= ways; most < 0 {
			return k
		}
	}
	return 0
}

// rankSums returns, for each rank sum from the least possible up to half way to the greatest, in how many
// ways m of m+n ranks have that sum: the coefficients of the Gaussian binomial of m+n and m.
func rankSums(m, n int) []float64 {
	ways := make([]float64, m*n/2+1)
	ways[0] = 1
	for i := 1; i <= m; i++ { // multiply by 1 - q^(n+i), and divide by 1 - q^i
		for u := len(ways) - 1; u >= n+i; u-- {
			ways[u] -= ways[u-n-i]
		}
		for u := i; u < len(ways); u++ {
			ways[u] += ways[u-i]
		}
	}
	return ways
}
