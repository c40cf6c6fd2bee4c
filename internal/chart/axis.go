package chart

import (
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"

	"turnstile/internal/english"
)

// An Axis is one of a chart.
type Axis struct {
	Label string // with the unit
	Log   bool   // all of it is above zero
	// At are where the labels stand; none: where it suits the scale.
	At []Tick
	// Min and Max are what the axis shows at least, if they are not both zero.
	Min, Max float64
}

// A Tick is a label of an axis.
type Tick struct {
	At    float64
	Label string
}

// Number writes a number as axes do: three significant digits, thousands apart.
func Number(x float64) string {
	switch size := math.Abs(x); {
	case size >= 1e9 || size > 0 && size < 1e-4:
		return strconv.FormatFloat(x, 'g', 3, 64)
	case size >= 1000:
		return english.Thousands(math.Round(x))
	}
	return strconv.FormatFloat(round(x), 'f', -1, 64)
}

// round rounds to three significant digits.
func round(x float64) float64 {
	if x == 0 {
		return 0
	}
	scale := math.Pow(10, 2-math.Floor(math.Log10(math.Abs(x))))
	return math.Round(x*scale) / scale
}

// within widens an axis so that what it shows ends at no edge, and gives it its labels. The length, and how
// far labels are apart, are in points, and labels are measured along the axis.
func (a Axis) within(from, to, length, apart float64, measured func(label string) float64) Axis {
	if a.Min != 0 || a.Max != 0 {
		from, to = min(from, a.Min), max(to, a.Max)
	}
	if a.Log {
		from, to = math.Log(from), math.Log(to)
	}
	span := to - from
	if span <= 0 {
		span = max(1, math.Abs(to)) * 0.2
	}
	touches := !a.Log && len(a.At) == 0 && from >= 0 && from <= span // zero is near
	if to += span * 0.06; touches {
		from = 0
	} else {
		from -= span * 0.06
	}
	if a.Log {
		from, to = math.Exp(from), math.Exp(to)
	}
	a.Min, a.Max = from, to
	if len(a.At) == 0 {
		a.At = a.ticks(int(length / apart))
	}
	var kept []Tick
	end := math.Inf(-1)
	for _, t := range a.At {
		if t.At < a.Min || t.At > a.Max {
			continue
		}
		x, half := a.share(t.At)*length, measured(t.Label)/2
		if x-half >= end+4 {
			kept, end = append(kept, t), x+half
		} else {
			kept = append(kept, Tick{At: t.At}) // a mark alone
		}
	}
	a.At = kept
	return a
}

// share returns how far along the axis a number is, from 0 to 1.
func (a Axis) share(x float64) float64 {
	from, to := a.Min, a.Max
	if a.Log {
		x, from, to = math.Log(x), math.Log(from), math.Log(to)
	}
	return (x - from) / (to - from)
}

// ticks returns labels at round numbers, about so many.
func (a Axis) ticks(about int) (all []Tick) {
	about = max(2, about)
	if decades := math.Log10(a.Max / a.Min); a.Log && decades > 0.7 {
		digits := []float64{1, 2, 5}
		if decades > 3 {
			digits = digits[:1]
		}
		for power := math.Floor(math.Log10(a.Min)); power <= math.Log10(a.Max); power++ {
			for _, d := range digits {
				x := d * math.Pow(10, power)
				all = append(all, Tick{x, Number(x)})
			}
		}
		return all
	}
	step := (a.Max - a.Min) / float64(about)
	power := math.Pow(10, math.Floor(math.Log10(step)))
	for _, d := range []float64{1, 2, 5, 10} {
		if d*power >= step {
			step = d * power
			break
		}
	}
	for i := math.Ceil(a.Min / step); i*step <= a.Max; i++ {
		all = append(all, Tick{i * step, Number(i * step)})
	}
	return all
}

// labelStyle returns a style in which the label of an x axis is no longer than a picture is wide.
func (a Axis) labelStyle() text.Style {
	style := styleOf(textSize, ink)
	if long := widthOf(style, a.Label); long > longestLabel {
		style.Font.Size *= vg.Length(longestLabel / long)
	}
	return style
}

const longestLabel = width - 8

// gives an axis of gonum/plot the labels and the scale.
func (a Axis) give(to *plot.Axis) {
	to.Min, to.Max = a.Min, a.Max
	if a.Log {
		to.Scale = plot.LogScale{}
	}
	var marks plot.ConstantTicks
	for _, t := range a.At {
		marks = append(marks, plot.Tick{Value: t.At, Label: t.Label})
	}
	to.Tick.Marker = marks
	to.Tick.Label.Font = styleOf(smallSize, ink).Font
	to.Tick.Label.Color, to.Tick.Color, to.Color = ink.drawn, dim.drawn, dim.drawn
	to.Tick.LineStyle.Color, to.LineStyle.Color = dim.drawn, dim.drawn
}
