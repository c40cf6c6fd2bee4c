package diagram

import (
	"math"
	"slices"
	"strconv"
	"time"

	"turnstile/draw"
)

// A scale maps the times of a window to places between left and right. It is linear between two neighbouring
// times of interest; a long gap between two such times is shortened.
type scale struct {
	times  []int64
	places []float64
	per    float64 // pixels per nanosecond, except in shortened stretches
	cuts   []int   // shortened stretches: index i stands for times[i] to times[i+1]
}

const (
	typicalGap  = 44.0 // in pixels, while the total width is within its limits
	shortestGap = 1.0
)

// newScale returns the scale of a window with these times of interest, which include both ends of the window.
// The scale begins at left. Gaps longer than the lower quartile of the gaps are drawn as long as that
// quartile.
func newScale(times []int64, left, least, most float64) *scale {
	slices.Sort(times)
	s := &scale{times: slices.Compact(times), places: []float64{left}}
	var gaps []float64
	for i := range s.times[1:] {
		gaps = append(gaps, float64(s.times[i+1]-s.times[i]))
	}
	quartile := 1.0
	if len(gaps) > 0 {
		quartile = slices.Sorted(slices.Values(gaps))[len(gaps)/4]
	}
	width := 0.0
	for i, gap := range gaps {
		if gap > 1.05*quartile {
			s.cuts = append(s.cuts, i)
		}
		gaps[i] = max(shortestGap, typicalGap*min(gap/quartile, 1))
		width += gaps[i]
	}
	stretch := max(least, min(width, most)) / max(width, 1)
	s.per = typicalGap * stretch / quartile
	for i, gap := range gaps {
		s.places = append(s.places, s.places[i]+stretch*gap)
	}
	return s
}

// x returns the place of a time; a time outside the window has the place of the nearer end.
func (s *scale) x(at int64) float64 {
	i, found := slices.BinarySearch(s.times, at)
	if i == len(s.times) {
		return s.right()
	} else if found || i == 0 {
		return s.places[i]
	}
	share := float64(at-s.times[i-1]) / float64(s.times[i]-s.times[i-1])
	return s.places[i-1] + share*(s.places[i]-s.places[i-1])
}

// right returns the place of the end of the window.
func (s *scale) right() float64 { return s.places[len(s.places)-1] }

// ticks returns the labels of the axis, at round times and with their unit: as many as can be read.
func (s *scale) ticks() (all []draw.Tick) {
	name, unit := s.unit()
	for power := unit / 1000; power <= math.MaxInt64/10; power *= 10 {
		for _, digit := range []int64{1, 2, 5} {
			some, readable := s.multiples(digit*power, unit, name)
			if len(some) < 2 && len(all) > 1 {
				return all
			}
			if all = some; readable {
				return all
			}
		}
	}
	return all
}

// multiples returns labels at the multiples of a step. It leaves out labels that would overlap others, and
// those within a shortened stretch that has more than two. readable is false if it leaves out many.
func (s *scale) multiples(step, unit int64, name string) (all []draw.Tick, readable bool) {
	end, overlap, bare := math.Inf(-1), 0, 0.0
	for i, from := range s.times {
		to := from // the last label may be at the end
		if i+1 < len(s.times) {
			to = s.times[i+1] - 1
		}
		first := (from + step - 1) / step * step
		if slices.Contains(s.cuts, i) && first+2*step <= to {
			to = from
			bare += s.places[i+1] - s.places[i]
		}
		for t := first; t <= to; t += step {
			label := strconv.FormatFloat(float64(t)/float64(unit), 'f', -1, 64) + " " + name
			x, half := s.x(t), draw.TextWidth(label, draw.TextSize)/2+4
			if x-half >= end {
				all, end = append(all, draw.Tick{At: x, Label: label}), x+half
			} else if overlap++; overlap > mostTicks {
				return all, false
			}
		}
	}
	return all, overlap <= len(all)/4 && bare <= (s.right()-s.places[0])/4
}

// mostTicks is more labels than any axis has room for.
const mostTicks = 1000

// steps returns the labels of the axis of a schedule: the numbers of its steps, of the last one too, or of
// every kth step if they are many. last is the number of the last step.
func (s *scale) steps(last int64) (all []draw.Tick) {
	low, high := s.times[0]/stepTime, min(last, s.times[len(s.times)-1]/stepTime)
	for _, t := range draw.RoundTicks(float64(max(1, low)), float64(high), int((s.right()-s.places[0])/26), 1) {
		all = append(all, draw.Tick{At: s.x(int64(t.At) * stepTime), Label: t.Label})
	}
	return all
}

// unit returns the unit of the axis, and its length in nanoseconds.
func (s *scale) unit() (name string, ns int64) {
	switch gap := typicalGap / s.per; { // in nanoseconds
	case gap >= 1e8:
		return "s", int64(time.Second)
	case gap >= 1e3:
		return "ms", int64(time.Millisecond)
	}
	return "µs", int64(time.Microsecond)
}

// says prints a time for people.
func says(ns int64) string { return time.Duration(ns).Round(10 * time.Nanosecond).String() }
