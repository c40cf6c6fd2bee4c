package diagram

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"
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
	cap := max(longestGap, 1.3*want/float64(max(1, gaps)))
	low, high := 0.0, cap
	for range 100 { // the width grows with the pixels per nanosecond
		s.per = (low + high) / 2
		if s.width(cap) > want {
			high = s.per
		} else {
			low = s.per
		}
	}
	x := left
	for i, at := range s.times {
		if i > 0 {
			x += s.gap(at-s.times[i-1], cap)
			if float64(at-s.times[i-1])*s.per > 1.05*cap {
				s.cuts = append(s.cuts, i-1)
			}
		}
		s.places = append(s.places, x)
	}
	return s
}

func (s *scale) gap(ns int64, cap float64) float64 {
	return max(shortestGap, min(float64(ns)*s.per, cap))
}

func (s *scale) width(cap float64) (sum float64) {
	for i := 1; i < len(s.times); i++ {
		sum += s.gap(s.times[i]-s.times[i-1], cap)
	}
	return sum
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

// ticks returns the times that the axis names: round ones or, if the scale is shortened somewhere, those at
// which something happens. They are at least so far apart, and one step.
func (s *scale) ticks(apart float64, step int64) (at []int64) {
	first, last := s.times[0], s.times[len(s.times)-1]
	if len(s.cuts) > 0 {
		end := math.Inf(-1)
		for i, t := range s.times {
			if s.places[i]-end >= apart && (t == last || s.right()-s.places[i] >= apart) {
				at, end = append(at, t), s.places[i]
			}
		}
		return at
	}
	for i := 0; float64(step)*s.per < apart && step < math.MaxInt64/10; i++ {
		step = []int64{2, 5, 10}[i%3] * (step / []int64{1, 2, 5}[i%3])
	}
	for t := (first + step - 1) / step * step; t <= last; t += step {
		at = append(at, t)
	}
	return at
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

// places prints a time in a unit, to a hundredth or so of what is drawn.
func (s *scale) print(at, unit int64) string {
	digits := 0
	for size := float64(unit); size*s.per > 8 && digits < 3; size /= 10 {
		digits++
	}
	text := strconv.FormatFloat(float64(at)/float64(unit), 'f', digits, 64)
	if digits > 0 {
		for text[len(text)-1] == '0' {
			text = text[:len(text)-1]
		}
	}
	return trimDot(text)
}

func trimDot(text string) string {
	if text[len(text)-1] == '.' {
		return text[:len(text)-1]
	}
	return text
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
	return fmt.Sprint(d.Round(10 * time.Nanosecond))
}
