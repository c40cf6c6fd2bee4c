package chart

import (
	"cmp"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Bars is a chart of one number for each of several things, with intervals.
type Bars struct {
	Alt  string
	Unit Axis
	Bars []Bar
}

// A Bar is one of them. Low and High are the ends of its interval; both zero: there is none.
type Bar struct {
	Name             string
	Value, Low, High float64
	Hollow           bool // it is drawn as an outline
}

const barRow = 20.0

// Draw draws the chart. There must be a bar.
func (b *Bars) Draw() Picture {
	style := styleOf(smallSize, ink)
	left, right, most := 0.0, 0.0, 0.0
	for _, bar := range b.Bars {
		left = max(left, widthOf(style, bar.Name)+10)
		right = max(right, widthOf(style, Number(bar.Value))+8)
		most = max(most, bar.Value, bar.High)
	}
	axis := b.Unit
	length := width - left - right - 8
	axis.Log = false
	axis.Min, axis.Max = 0, cmp.Or(most, 1)
	axis = axis.within(0, axis.Max, length, 55, func(label string) float64 { return widthOf(style, label) })
	height := barRow*float64(len(b.Bars)) + 44
	return drawn(height, b.Alt, func(c draw.Canvas) {
		x := func(value float64) float64 { return left + length*axis.share(math.Max(0, value)) }
		for _, t := range axis.At {
			c.StrokeLine2(draw.LineStyle{Color: grid.drawn, Width: 0.6}, vg.Length(x(t.At)), 40, vg.Length(x(t.At)),
				vg.Length(height-4))
			c.FillText(styleOf(smallSize, ink), at(x(t.At)-widthOf(style, t.Label)/2, 26), t.Label)
		}
		middle := left + (length-widthOf(styleOf(textSize, ink), axis.Label))/2
		c.FillText(styleOf(textSize, ink), at(max(4, middle), 7), axis.Label)
		for i, bar := range b.Bars {
			b.draw(c, &bar, left, height-4-barRow*float64(i+1), x)
		}
	})
}

// draw draws one bar, above y.
func (b *Bars) draw(c draw.Canvas, bar *Bar, left, y float64, x func(value float64) float64) {
	style, end := styleOf(smallSize, ink), x(bar.Value)
	c.FillText(style, at(left-6-widthOf(style, bar.Name), y+6), bar.Name)
	box(c, ofSeries[0], left, y+4, end, y+barRow-4)
	if bar.Hollow && end > left+3 {
		box(c, ground, left+1.2, y+5.2, end-1.2, y+barRow-5.2)
	}
	if bar.Low != 0 || bar.High != 0 {
		line := draw.LineStyle{Color: ink.drawn, Width: 1.1}
		middle := vg.Length(y + barRow/2)
		c.StrokeLine2(line, vg.Length(x(bar.Low)), middle, vg.Length(x(bar.High)), middle)
		for _, at := range []float64{x(bar.Low), x(bar.High)} {
			c.StrokeLine2(line, vg.Length(at), middle-3, vg.Length(at), middle+3)
		}
		end = max(end, x(bar.High))
	}
	c.FillText(style, at(end+5, y+6), Number(bar.Value))
}
