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

// ticks returns the labels of the axis, in a unit given in nanoseconds. They stand at round times or, if the
// scale is shortened somewhere, at the times of events.
func (s *scale) ticks(unit, least float64) (all []draw.Tick) {
	if len(s.cuts) == 0 {
		first, last := float64(s.times[0]), float64(s.times[len(s.times)-1])
		for _, t := range draw.RoundTicks(first/unit, last/unit, int((s.right()-s.places[0])/62), least) {
			all = append(all, draw.Tick{At: s.x(int64(math.Round(t.At * unit))), Label: t.Label})
		}
		return all
	}
	round := math.Pow(10, max(0, min(3, math.Ceil(math.Log10(unit*s.per/8))))) // rounds to about 8 pixels
	for i, t := range s.times {
		label := strconv.FormatFloat(math.Round(float64(t)/unit*round)/round, 'f', -1, 64)
		all = append(all, draw.Tick{At: s.places[i], Label: label})
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
	return "us", int64(time.Microsecond)
}

// says prints a time for people.
func says(ns int64) string { return time.Duration(ns).Round(10 * time.Nanosecond).String() }
