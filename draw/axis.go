package draw

import (
	"math"
	"slices"
	"strconv"

	"turnstile/internal/english"
)

// An Axis is an axis of a chart.
type Axis struct {
	Label string // including the unit
	Log   bool   // logarithmic: all numbers are above zero
	// At are the labels with their places; empty: labels at round numbers.
	At []Tick
	// Min and Max are the least range that the axis shows, unless both are zero.
	Min, Max float64

	seen       []float64 // the numbers that the axis has to show
	start, end float64   // the places of Min and Max
}

// A Tick is a label of an axis.
type Tick struct {
	At    float64
	Label string
}

// Number writes a number with three significant digits, or with separated thousands.
func Number(x float64) string {
	switch size := math.Abs(x); {
	case size >= 1e9 || size > 0 && size < 1e-4:
		return strconv.FormatFloat(x, 'g', 3, 64)
	case size >= 1000 || size == 0:
		return english.Thousands(math.Round(x))
	}
	scale := math.Pow(10, 2-math.Floor(math.Log10(math.Abs(x))))
	return strconv.FormatFloat(math.Round(x*scale)/scale, 'f', -1, 64)
}

// see makes the axis show some numbers. It ignores numbers that the axis cannot show.
func (a *Axis) see(all ...float64) {
	for _, x := range all {
		if !math.IsNaN(x) && (x > 0 || !a.Log) {
			a.seen = append(a.seen, x)
		}
	}
}

// fit lays an axis between two places, with room at its ends, and gives it labels. The parameter apart is
// roughly the distance between two labels, in pixels.
func (a Axis) fit(start, end, apart float64) Axis {
	if a.Min != 0 || a.Max != 0 {
		a.see(a.Min, a.Max)
	}
	low, high := slices.Min(a.seen), slices.Max(a.seen)
	if a.Log {
		low, high = math.Log(low), math.Log(high)
	}
	span := high - low
	if span <= 0 {
		span = max(1, math.Abs(high)) * 0.2
	}
	nearZero := !a.Log && len(a.At) == 0 && low >= 0 && low <= span
	if high += span * 0.06; nearZero {
		low = 0
	} else {
		low -= span * 0.06
	}
	if a.Log {
		low, high = math.Exp(low), math.Exp(high)
	}
	a.Min, a.Max, a.start, a.end = low, high, start, end
	if about := int(math.Abs(end-start) / apart); len(a.At) == 0 && a.Log && high >= 5*low {
		a.At = logTicks(low, high)
	} else if len(a.At) == 0 {
		a.At = RoundTicks(low, high, about, 0)
	}
	return a
}

// text writes a number as the labels of the axis do.
func (a Axis) text(x float64) string {
	for _, t := range a.At {
		if t.At == x {
			return t.Label
		}
	}
	return Number(x)
}

// place returns the place of a number; a number beyond an end has the place of the end.
func (a Axis) place(x float64) float64 {
	low, high := a.Min, a.Max
	if a.Log {
		x, low, high = math.Log(x), math.Log(low), math.Log(high)
	}
	return a.start + min(max((x-low)/(high-low), 0), 1)*(a.end-a.start)
}

func logTicks(low, high float64) (all []Tick) {
	digits := []float64{1, 2, 5}
	if high > 1000*low {
		digits = digits[:1]
	}
	for power := math.Floor(math.Log10(low)); power <= math.Log10(high); power++ {
		for _, d := range digits {
			if x := d * math.Pow(10, power); x >= low && x <= high {
				all = append(all, Tick{x, Number(x)})
			}
		}
	}
	return all
}

// RoundTicks returns labels at round numbers. about is roughly their number, and least the shortest distance.
func RoundTicks(low, high float64, about int, least float64) (all []Tick) {
	step := max((high-low)/float64(max(2, about)), least)
	power := math.Pow(10, math.Floor(math.Log10(step)))
	for _, d := range []float64{1, 2, 5, 10} {
		if d*power >= step*(1-1e-9) {
			step = d * power
			break
		}
	}
	decimals := max(0, int(math.Ceil(-math.Log10(step)-1e-9)))
	for i := math.Ceil(low/step-1e-9) + 0; /* no -0 */ i*step <= high+step*1e-9; i++ {
		label := strconv.FormatFloat(i*step, 'f', decimals, 64)
		if decimals == 0 {
			label = english.Thousands(i * step)
		}
		all = append(all, Tick{i * step, label})
	}
	return all
}

// places returns the ticks of an axis. The At of each is its place in the picture.
func (a Axis) places() (all []Tick) {
	for _, t := range a.At {
		if t.At >= a.Min && t.At <= a.Max {
			all = append(all, Tick{a.place(t.At), t.Label})
		}
	}
	return all
}

// XAxis draws an axis between two places, at height y. The At of a tick is its place. Labels that would
// overlap others, or the last, are left out.
func (p *Picture) XAxis(from, to, y float64, ticks []Tick) {
	p.Line(from, y, to, y, "stroke="+Dim)
	ends := func(t Tick) (x, half float64) {
		half = TextWidth(t.Label, TextSize) / 2
		return min(t.At, p.Width-2-half), half
	}
	const gap = 4
	end := math.Inf(-1)
	for i, t := range ticks {
		p.Line(t.At, y, t.At, y+4, "stroke="+Dim)
		x, half := ends(t)
		last := math.Inf(1)
		if i < len(ticks)-1 {
			x, half := ends(ticks[len(ticks)-1])
			last = x - half - gap
		}
		if x-half >= end+gap && x+half <= last {
			p.Text(x, y+16, t.Label, "text-anchor=middle")
			end = x + half
		}
	}
}
