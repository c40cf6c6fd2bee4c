package chart

import (
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A Heat is a table of cells whose grounds say how bad what they tell is.
type Heat struct {
	Alt     string
	Columns []string
	Rows    []string
	Cells   [][]Cell // by row and column
	Legend  []Cell
}

// A Cell has a text and how bad it is, from 1 to 4; 0: there is nothing to be said. In a legend, Says says
// what the text means.
type Cell struct {
	Text string
	Bad  int
	Says string
}

// The slant of the names of columns: that of sixty degrees.
const slant = math.Pi / 3

// Draw draws the table.
func (h *Heat) Draw() Picture {
	style := styleOf(smallSize, ink)
	left, top := 0.0, 0.0
	for _, r := range h.Rows {
		left = max(left, widthOf(style, r)+8)
	}
	overhang := 0.0 // of the last name to the right
	for i, c := range h.Columns {
		long := widthOf(style, c)
		top = max(top, long*math.Sin(slant)+10)
		if i >= len(h.Columns)-3 {
			overhang = max(overhang, long*math.Cos(slant)+4)
		}
	}
	cell := min(34, (width-left-overhang)/float64(max(1, len(h.Columns))))
	const row = 18.0
	legend := float64(len(h.Legend)) * legendRow
	height := top + row*float64(len(h.Rows)) + legend + 12
	return drawn(height, h.Alt, func(c draw.Canvas) {
		for i, name := range h.Columns {
			turned := style
			turned.Rotation = slant
			c.FillText(turned, at(left+cell*(float64(i)+0.5)+2, height-top+4), name)
		}
		for r, name := range h.Rows {
			y := height - top - row*float64(r+1)
			c.FillText(style, at(left-6-widthOf(style, name), y+5), name)
			for i, one := range h.Cells[r] {
				one.draw(c, left+cell*float64(i), y, cell, row)
			}
		}
		for i, one := range h.Legend {
			y := legend - legendRow*float64(i+1) + 3
			one.draw(c, 4, y, 30, legendRow)
			c.FillText(style, at(40, y+4), one.Says)
		}
	})
}

// draw draws a cell above y.
func (one *Cell) draw(c draw.Canvas, x, y, wide, high float64) {
	if one.Text == "" {
		return
	}
	box(c, ofOutcomes[one.Bad], x+0.6, y+0.6, x+wide-0.6, y+high-0.6)
	style := styleOf(smallSize, ink)
	if long := widthOf(style, one.Text); long > wide-2 {
		style.Font.Size *= vg.Length((wide - 2) / long)
	}
	c.FillText(style, at(x+(wide-widthOf(style, one.Text))/2, y+high/2-style.Font.Size.Points()*0.34), one.Text)
}
