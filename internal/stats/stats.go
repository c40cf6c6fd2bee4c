// Package stats compares samples of numbers, and assumes nothing of how they are distributed: medians with
// their intervals, the difference of two samples with its interval, and the probability that equal
// distributions differ as much, by ranks.
package stats

import (
	"math"
	"slices"

	"golang.org/x/perf/benchmath"
)

// Level is the significance of a difference: the greatest probability that it is chance.
const Level = 0.05

// confidence is that of all intervals: each holds what it is of with this probability at least.
const confidence = 1 - Level

// An Estimate is a number with its interval. An end of the interval is infinite if the samples are too small
// to bound it.
type Estimate struct{ Value, Low, High float64 }

// Bounded reports whether the samples were large enough for an interval.
func (e Estimate) Bounded() bool { return !math.IsInf(e.Low, 0) && !math.IsInf(e.High, 0) }

// Median returns the median of a sample, which must not be empty. Its interval is made of two of the sample,
// and takes six of them.
func Median(x []float64) Estimate {
	s := benchmath.AssumeNothing.Summary(sampleOf(x), confidence)
	return Estimate{s.Center, s.Lo, s.Hi}
}

// MannWhitney returns the probability that two samples of one distribution differ as much as x and y or more,
// in either direction. It is exact up to 50 of each, of samples with ties up to 25, and else that of the
// normal approximation. Of samples that are all the same number, and of an empty one, it is 1.
//
// H. B. Mann and D. R. Whitney, "On a test of whether one of two random variables is stochastically larger
// than the other", Annals of Mathematical Statistics 18 (1), 1947; with ties J. H. Klotz, "The Wilcoxon,
// ties, and the computer", Journal of the American Statistical Association 61 (315), 1966.
func MannWhitney(x, y []float64) float64 {
	// With ties, the distribution is lopsided, and twice its smaller tail may exceed 1.
	return min(1, benchmath.AssumeNothing.Compare(sampleOf(x), sampleOf(y)).P)
}

// sampleOf copies a sample, since benchmath sorts what it is given.
func sampleOf(x []float64) *benchmath.Sample {
	return benchmath.NewSample(slices.Clone(x), &benchmath.DefaultThresholds)
}

// LeastP returns the least that MannWhitney may return of samples of m and n numbers: all of one are below
// all of the other.
func LeastP(m, n int) float64 { return min(1, 2/choose(m+n, m)) }

// Enough returns how many numbers each sample has to have for a difference to be shown at all, when so many
// comparisons are made and Holm's correction is applied: the least n of which LeastP, times the comparisons,
// is below Level.
func Enough(comparisons int) (n int) {
	for n = 1; LeastP(n, n)*float64(comparisons) >= Level; n++ {
	}
	return n
}

// choose returns in how many ways k of n can be chosen.
func choose(n, k int) float64 {
	ways := 1.0
	for i := 1; i <= k; i++ {
		ways = ways * float64(n-k+i) / float64(i)
	}
	return ways
}

// Holm corrects probabilities for being several: each is the least significance at which Holm's procedure
// calls its comparison significant, which keeps the probability of one wrong call among all of them below
// that.
//
// S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6,
// 1979.
func Holm(p []float64) []float64 {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		switch {
		case p[i] < p[j]:
			return -1
		case p[i] > p[j]:
			return 1
		}
		return 0
	})
	corrected := make([]float64, len(p))
	least := 0.0
	for done, i := range order {
		least = max(least, min(1, p[i]*float64(len(p)-done)))
		corrected[i] = least
	}
	return corrected
}
