package diagram

import (
	"math"
	"slices"
	"strconv"
	"time"

	"turnstile/report/draw"
)

// A scale maps the times of a window to places between left and right. Between two times of interest it is
// linear; where nothing happens for long, it is shorter than elsewhere.
type scale struct {
	times  []int64
	places []float64
	per    float64 // pixels per nanosecond, where it is not shortened
	cuts   []int   // stretches that were shortened: from times[i] to the next
}

const (
	pixelsPerTime = 34.0 // of interest, on average
	longestGap    = 44.0
	shortestGap   = 1.0
)

// newScale returns the scale of a window with such times of interest, both ends included, from a place on.
// Its width follows from how many these are.
func newScale(times []int64, left, least, most float64) *scale {
	slices.Sort(times)
	s := &scale{times: slices.Compact(times)}
	gaps := len(s.times) - 1
	want := min(most, max(least, pixelsPerTime*float64(gaps)))
	longest := max(longestGap, 1.3*want/float64(max(1, gaps)))
	gap := func(i int) float64 {
		return max(shortestGap, min(float64(s.times[i]-s.times[i-1])*s.per, longest))
	}
	low, high := 0.0, longest
	for range 100 { // the width grows with the pixels per nanosecond
		s.per = (low + high) / 2
		width := 0.0
		for i := 1; i <= gaps; i++ {
			width += gap(i)
		}
		if width > want {
			high = s.per
		} else {
			low = s.per
		}
	}
	s.places = []float64{left}
	for i := 1; i <= gaps; i++ {
		if float64(s.times[i]-s.times[i-1])*s.per > 1.05*longest {
			s.cuts = append(s.cuts, i-1)
		}
		s.places = append(s.places, s.places[i-1]+gap(i))
	}
	return s
}

// x returns the place of a time; of one outside the window, its end.
func (s *scale) x(at int64) float64 {
	i, found := slices.BinarySearch(s.times, at)
	switch {
	case found:
		return s.places[i]
	case i == 0:
		return s.places[0]
	case i == len(s.times):
		return s.places[i-1]
	}
	share := float64(at-s.times[i-1]) / float64(s.times[i]-s.times[i-1])
	return s.places[i-1] + share*(s.places[i]-s.places[i-1])
}

// right is the place of the end.
func (s *scale) right() float64 { return s.places[len(s.places)-1] }

// ticks returns the labels of the axis in a unit of so many nanoseconds, where they stand: at round times or,
// if the scale is shortened somewhere, at those at which something happens.
func (s *scale) ticks(unit, least float64) (all []draw.Tick) {
	const apart = 62
	first, last := s.times[0], s.times[len(s.times)-1]
	if len(s.cuts) == 0 {
		about := int((s.right() - s.places[0]) / apart)
		for _, t := range draw.RoundTicks(float64(first)/unit, float64(last)/unit, about, least) {
			all = append(all, draw.Tick{At: s.x(int64(math.Round(t.At * unit))), Label: t.Label})
		}
		return all
	}
	digits := max(0, min(3, math.Ceil(math.Log10(unit*s.per/8)))) // to what can be seen
	end := math.Inf(-1)
	for i, t := range s.times {
		if s.places[i]-end >= apart && (t == last || s.right()-s.places[i] >= apart) {
			shown := math.Round(float64(t)/unit*math.Pow(10, digits)) / math.Pow(10, digits)
			all = append(all, draw.Tick{At: s.places[i], Label: strconv.FormatFloat(shown, 'f', -1, 64)})
			end = s.places[i]
		}
	}
	return all
}

// unit returns the unit in which the axis is written, and how many nanoseconds it has: one for times that are
// not shortened.
func (s *scale) unit() (name string, ns int64) {
	span := s.times[len(s.times)-1] - s.times[0]
	for _, i := range s.cuts {
		span -= s.times[i+1] - s.times[i]
	}
	switch {
	case span >= int64(2*time.Second):
		return "s", int64(time.Second)
	case span >= int64(20*time.Microsecond):
		return "ms", int64(time.Millisecond)
	}
	return "us", int64(time.Microsecond)
}

// says prints a time for people.
func says(ns int64) string {
	d := time.Duration(ns)
	switch {
	case d%time.Microsecond == 0:
		return d.String()
	case d > time.Second:
		return d.Round(time.Microsecond).String()
	}
	return d.Round(10 * time.Nanosecond).String()
}
