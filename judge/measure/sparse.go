package measure

import (
	"maps"
	"math/bits"
	"slices"

	"github.com/HdrHistogram/hdrhistogram-go"

	"turnstile/internal/figure"
)

// A sparse is a Latency of the same resolution that takes memory only for the values that it holds, since
// each phase of each fault has one. Its zero value is empty.
type sparse struct {
	all, open     map[int64]int64 // counts, by the least value that counts as the same
	count, censor uint64
}

// resolution is how many bits of a value an HdrHistogram of three significant figures keeps.
const resolution = 11

func lowestOf(ns int64) (low, width int64) {
	shift := max(0, bits.Len64(uint64(ns))-resolution)
	return ns >> shift << shift, 1 << shift
}

// add adds a duration, which has ended or not.
func (s *sparse) add(ns int64, ended bool) {
	if s.all == nil {
		s.all, s.open = map[int64]int64{}, map[int64]int64{}
	}
	low, _ := lowestOf(min(max(ns, 0), longest))
	s.all[low]++
	s.count++
	if !ended {
		s.open[low]++
		s.censor++
	}
}

func (s *sparse) clone() sparse {
	return sparse{maps.Clone(s.all), maps.Clone(s.open), s.count, s.censor}
}

// microsAt returns the quantile q in microseconds, as Latency.MicrosAt does.
func (s *sparse) microsAt(q float64) figure.Figure {
	if s.count == 0 {
		return figure.Figure{}
	}
	return microsOf(quantileOf(barsOf(s.all), barsOf(s.open), rankOf(q, s.count)))
}

func barsOf(counts map[int64]int64) (bars []hdrhistogram.Bar) {
	for _, low := range slices.Sorted(maps.Keys(counts)) {
		_, width := lowestOf(low)
		bars = append(bars, hdrhistogram.Bar{From: low, To: low + width - 1, Count: counts[low]})
	}
	return bars
}
