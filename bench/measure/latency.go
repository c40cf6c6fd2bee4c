package measure

import (
	"math"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"turnstile/results"
)

// A Latency is a distribution of lengths of time, in nanoseconds, to three significant figures. Those
// of which only the beginning was seen, such as the waits of requests that never entered, count with
// the age they had at the end. To leave them out would flatter: the worst waits are the likeliest not
// to end. Its zero value is empty.
type Latency struct {
	Hist *hdrhistogram.Histogram // of all; nil if there are none
	open *hdrhistogram.Histogram // of those that had not ended, which are in Hist too; nil if none
}

const longest = time.Hour // longer ones count as this

func newHist() *hdrhistogram.Histogram { return hdrhistogram.New(1, int64(longest), 3) }

// Add counts one that has ended.
func (l *Latency) Add(ns int64) {
	if l.Hist == nil {
		l.Hist = newHist()
	}
	l.Hist.RecordValue(min(max(ns, 0), int64(longest)))
}

// AddOpen counts one that has not ended and is of this age.
func (l *Latency) AddOpen(ns int64) {
	l.Add(ns)
	if l.open == nil {
		l.open = newHist()
	}
	l.open.RecordValue(min(max(ns, 0), int64(longest)))
}

// Merge counts all of other too.
func (l *Latency) Merge(other *Latency) {
	mergeInto(&l.Hist, other.Hist)
	mergeInto(&l.open, other.open)
}

func mergeInto(to **hdrhistogram.Histogram, from *hdrhistogram.Histogram) {
	if from == nil {
		return
	}
	if *to == nil {
		*to = newHist()
	}
	(*to).Merge(from)
}

// Count returns how many there are.
func (l *Latency) Count() uint64 { return countOf(l.Hist) }

// Censored returns how many of them had not ended.
func (l *Latency) Censored() uint64 { return countOf(l.open) }

func countOf(h *hdrhistogram.Histogram) uint64 {
	if h == nil {
		return 0
	}
	return uint64(h.TotalCount())
}

// Quantile returns the least length that a share q of all do not exceed. atLeast tells that it may be
// longer in truth: it would come out longer if those that had not ended went on for ever.
func (l *Latency) Quantile(q float64) (ns int64, atLeast bool) {
	if l.Hist == nil {
		return 0, false
	}
	rank := rankOf(q, l.Count())
	below := uint64(0)
	for _, bar := range l.Hist.Distribution() {
		below += uint64(bar.Count)
		if below >= rank {
			ns = bar.To
			break
		}
	}
	return ns, below-upTo(l.open, ns) < rank
}

// upTo returns how many in h are no longer than ns.
func upTo(h *hdrhistogram.Histogram, ns int64) uint64 {
	if h == nil {
		return 0
	}
	count := uint64(0)
	for _, bar := range h.Distribution() {
		if bar.From <= ns {
			count += uint64(bar.Count)
		}
	}
	return count
}

// rankOf returns which of count things in order the quantile q is, from 1.
func rankOf(q float64, count uint64) uint64 {
	return max(1, uint64(math.Ceil(q*float64(count)-1e-9)))
}

// MicrosAt returns the quantile q in microseconds, as a cell of a table.
func (l *Latency) MicrosAt(q float64) results.Figure {
	if l.Hist == nil {
		return results.Figure{}
	}
	ns, atLeast := l.Quantile(q)
	if atLeast {
		return results.AtLeast(float64(ns) / 1e3)
	}
	return results.Number(float64(ns) / 1e3)
}
