package measure

import (
	"math"

	"github.com/HdrHistogram/hdrhistogram-go"

	"turnstile/internal/figure"
)

// A Latency is a distribution of durations, in nanoseconds, to three significant figures. Those that did not
// end, such as the waits of requests that never entered, count with their age at the end of the run. Leaving
// them out would be wrong: the longest waits are the least likely to end. Its zero value is empty.
type Latency struct {
	Hist *hdrhistogram.Histogram // of all; nil if there are none
	open *hdrhistogram.Histogram // of those that did not end, which are in Hist too; nil if there are none
}

const longest = 1 << 62 // 146 years: no run lasts so long

// LatencyOf returns what latency.hlog holds under a tag, given its histograms by their tags.
func LatencyOf(all map[string]*hdrhistogram.Histogram, tag string) Latency {
	return Latency{Hist: all[tag], open: all[tag+OpenSuffix]}
}

// add adds a duration that has ended, or the age of one that has not.
func (l *Latency) add(ns int64, ended bool) {
	record(&l.Hist, ns)
	if !ended {
		record(&l.open, ns)
	}
}

func record(to **hdrhistogram.Histogram, ns int64) {
	if *to == nil {
		*to = hdrhistogram.New(1, longest, 3)
	}
	(*to).RecordValue(min(max(ns, 0), longest))
}

// Count returns how many durations there are.
func (l *Latency) Count() uint64 { return countOf(l.Hist) }

// Censored returns how many of them did not end.
func (l *Latency) Censored() uint64 { return countOf(l.open) }

func countOf(h *hdrhistogram.Histogram) uint64 {
	if h == nil {
		return 0
	}
	return uint64(h.TotalCount())
}

// Values returns all durations in microseconds, from the shortest, as cells of a table.
func (l *Latency) Values() (all []figure.Figure) {
	if l.Hist == nil {
		return nil
	}
	open := map[int64]int64{} // how many, by the lower end of their bar
	if l.open != nil {
		for _, bar := range l.open.Distribution() {
			open[bar.From] = bar.Count
		}
	}
	for _, bar := range l.Hist.Distribution() {
		for i := range bar.Count {
			all = append(all, microsOf(bar.To, i >= bar.Count-open[bar.From]))
		}
	}
	return all
}

// Quantile returns the least duration that a share q of all do not exceed. atLeast says that the true value
// may be greater: it would be if those that did not end went on for ever.
func (l *Latency) Quantile(q float64) (ns int64, atLeast bool) {
	if l.Hist == nil {
		return 0, false
	}
	rank := rankOf(q, l.Count())
	if l.open == nil {
		// A percentile between that of this rank and that of the rank before, however either is rounded.
		return l.Hist.ValueAtPercentile(100 * (float64(rank) - 0.25) / float64(l.Count())), false
	}
	return quantileOf(l.Hist.Distribution(), l.open.Distribution(), rank)
}

// quantileOf returns the upper end of the bar that the duration of a rank lies in, given the bars of all
// durations, and of those that did not end, in order.
func quantileOf(all, open []hdrhistogram.Bar, rank uint64) (ns int64, atLeast bool) {
	below := uint64(0)
	for _, bar := range all {
		below += uint64(bar.Count)
		if below >= rank {
			ns = bar.To
			break
		}
	}
	for _, bar := range open {
		if bar.From <= ns {
			below -= uint64(bar.Count)
		}
	}
	return ns, below < rank
}

// rankOf returns which of count things in order the quantile q is, from 1.
func rankOf(q float64, count uint64) uint64 {
	return max(1, uint64(math.Ceil(q*float64(count)-1e-9)))
}

// MicrosAt returns the quantile q in microseconds, as a cell of a table.
func (l *Latency) MicrosAt(q float64) figure.Figure {
	if l.Hist == nil {
		return figure.Figure{}
	}
	return microsOf(l.Quantile(q))
}

// microsOf returns a duration as a cell of a table.
func microsOf(ns int64, atLeast bool) figure.Figure {
	if atLeast {
		return figure.AtLeast(float64(ns) / 1e3)
	}
	return figure.Number(float64(ns) / 1e3)
}
