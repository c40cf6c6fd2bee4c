package experiment

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"turnstile/bench/option"
	"turnstile/internal/figure"
	"turnstile/internal/stats"
	"turnstile/results"
)

// The kinds of intervals of a rate.
const (
	IntervalOfMedian = "95% of the median"
	IntervalOfAll    = "least and most"
)

// Rates returns a row for each configuration that has finished at least one search.
func (s *RateSweep) Rates() (rows []results.RateRow) {
	for cell, searches := range s.searches {
		if row := s.rateRow(searches); row != nil {
			clients := float64(s.Cells[cell].Config.N)
			row.TotalPerS, row.TotalLowPerS, row.TotalHighPerS = times(row.Number(option.RateColumn), clients),
				times(row.LowPerS, clients), times(row.HighPerS, clients)
			row.WaitBoundS = figure.Number(s.WaitBound.Seconds())
			rows = append(rows, *row)
		}
	}
	return rows
}

// times returns a figure multiplied by a positive number.
func times(f figure.Figure, by float64) figure.Figure {
	switch x, known := f.Value(); {
	case !known:
		return f
	case f.IsBound():
		return figure.AtLeast(x * by)
	default:
		return figure.Number(x * by)
	}
}

// rateRow sums up the searches of a configuration; nil: none is over.
func (s *RateSweep) rateRow(searches []*rateSearch) *results.RateRow {
	row := &results.RateRow{}
	var rates []figure.Figure
	var trials []int
	limits, reasons := map[string]int{}, map[string]string{}
	for i, r := range searches {
		if r == nil || !r.over {
			continue
		}
		if row.Version = r.version(); r.first != nil {
			row.Asked = r.first.Asked
		}
		row.Trials++
		row.Probes += len(r.said)
		limit, reason := r.limit()
		limits[limit]++
		reasons[limit] = cmp.Or(reasons[limit], reason)
		if r.stopped { // a violation: what others have found counts for nothing
			row.Asked = row.With(option.RateColumn, figure.Figure{})
			row.LimitedBy, row.Reason = limit, reason
			return row
		}
		rates, trials = append(rates, r.rate()), append(trials, i+1)
	}
	if len(rates) == 0 {
		return nil
	}
	names := slices.Sorted(maps.Keys(limits))
	row.LimitedBy = slices.MaxFunc(names, func(a, b string) int { return limits[a] - limits[b] })
	if limits[LimitCPU] > 0 {
		row.LimitedBy = LimitCPU // so it is no rate of the algorithm alone
	}
	row.Reason = reasons[row.LimitedBy]
	rate := positive(stats.MedianOf(rates))
	row.Asked = row.With(option.RateColumn, rate)
	row.LowPerS, row.HighPerS, row.Interval = medianInterval(rates)
	row.ServedNext = servedNext(rate, rates, trials)
	return row
}

// servedNext names the trials that serve the rate after one, and perhaps more, given what each serves.
func servedNext(rate figure.Figure, rates []figure.Figure, trials []int) string {
	const rounding = 0.999 // rates have four digits
	var served []string
	median, known := rate.Value()
	for i, f := range rates {
		if x, _ := f.Value(); known && x >= median*RateStep*rounding {
			served = append(served, strconv.Itoa(trials[i]))
		}
	}
	return strings.Join(served, " ")
}

// version returns which Turnstile made the first probe.
func (r *rateSearch) version() string {
	if r.first == nil {
		return ""
	}
	return r.first.Version
}

// positive returns a figure unless it is 0: then no rate was served.
func positive(f figure.Figure) figure.Figure {
	if x, _ := f.Value(); x == 0 {
		return figure.Figure{}
	}
	return f
}

// medianInterval returns the interval of the median of figures or, of too few, the least and the most of
// them. The upper end is a lower bound if a figure up to it is one.
func medianInterval(rates []figure.Figure) (low, high figure.Figure, is string) {
	var values []float64
	for _, f := range rates {
		x, _ := f.Value()
		values = append(values, x)
	}
	from, to, is := slices.Min(values), slices.Max(values), IntervalOfAll
	if e := stats.Median(values); e.Bounded() {
		from, to, is = e.Low, e.High, IntervalOfMedian
	}
	high = figure.Number(to)
	for i, f := range rates {
		if f.IsBound() && values[i] <= to {
			high = figure.AtLeast(to)
		}
	}
	return figure.Number(from), high, is
}

// writeRates writes what was found.
func (s *RateSweep) writeRates() error {
	_, err := results.WriteSetTable(s.Setup.Results, s.Setup.Set, results.RatesFile, s.Rates())
	return err
}
