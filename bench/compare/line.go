package compare

import (
	"fmt"

	"turnstile/internal/figure"
	"turnstile/internal/stats"
)

// A sample is the figures of one metric that the trials of a group have measured.
type sample struct {
	group  *Group
	x      []float64
	all    []figure.Figure
	bounds int // of these, lower bounds
}

func (g *Group) sample(metric string) sample {
	s := sample{group: g}
	for _, t := range g.trials {
		f := t.Figure(metric)
		x, known := f.Value()
		if !known {
			continue
		}
		s.x, s.all = append(s.x, x), append(s.all, f)
		if f.IsBound() {
			s.bounds++
		}
	}
	return s
}

// median returns the median with its interval. Where there are lower bounds there is no interval, and the
// median is one too if a bound is not above it.
func (s *sample) median() (median, low, high figure.Figure) {
	if len(s.x) == 0 {
		return
	}
	if s.bounds > 0 {
		return figure.MedianOf(s.all), low, high
	}
	e := stats.Median(s.x)
	if e.Bounded() {
		low, high = figure.Number(e.Low), figure.Number(e.High)
	}
	return figure.Number(e.Value), low, high
}

// unranked says why the figures of a group cannot be compared with others; nothing: they can.
func (s *sample) unranked(metric string) string {
	switch {
	case s.group.Valid == 0:
		return "no valid trial of " + s.group.Name
	case len(s.x) == 0:
		return "not measured in " + s.group.Name
	case s.bounds > 0:
		return fmt.Sprintf("known as a lower bound only in %d of %d trials of %s", s.bounds, len(s.x), s.group.Name)
	case s.group.CPUBound > 0 && isDelay(metric):
		return fmt.Sprintf("CPU-bound in %d of %d trials of %s: its delays are not ranked", s.group.CPUBound,
			s.group.Valid, s.group.Name)
	}
	return ""
}

// line compares the two groups by a metric, but for the correction of its probability.
func (p *pair) line(metric string) Line {
	from, to := p.baseline.sample(metric), p.other.sample(metric)
	l := Line{Metric: metric, Where: p.where, Baseline: p.baseline.Name, Group: p.other.Name,
		BaselineTrials: len(from.x), Trials: len(to.x), Verdict: unshown}
	l.BaselineMedian, l.BaselineLow, l.BaselineHigh = from.median()
	l.Median, l.Low, l.High = to.median()
	for _, s := range []sample{from, to} {
		if l.Reason = s.unranked(metric); l.Reason != "" {
			return l
		}
	}
	shift := stats.Shift(from.x, to.x)
	for _, s := range []sample{from, to} {
		if s.group.same {
			l.Reason = fmt.Sprintf("nothing random in them: the %d simulated trials of %s are the same", s.group.Valid,
				s.group.Name)
		}
	}
	if from.group.same && to.group.same { // as exact as a difference can be
		shift.Low, shift.High = shift.Value, shift.Value
	}
	l.Difference = figure.Number(shift.Value)
	if shift.Bounded() {
		l.DifferenceLow, l.DifferenceHigh = figure.Number(shift.Low), figure.Number(shift.High)
	}
	if median, _ := l.BaselineMedian.Value(); median > 0 {
		percent := func(f figure.Figure) figure.Figure {
			x, known := f.Value()
			if !known {
				return f
			}
			return figure.Number(100 * x / median)
		}
		l.Percent = percent(l.Difference)
		l.PercentLow, l.PercentHigh = percent(l.DifferenceLow), percent(l.DifferenceHigh)
	}
	if l.Reason == "" {
		l.P = figure.Number(stats.MannWhitney(from.x, to.x))
	}
	return l
}
