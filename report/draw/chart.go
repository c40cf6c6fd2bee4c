package draw

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// The measures of charts, which are narrow, so that their texts can be read on a phone.
const (
	chartWidth = 380.0
	plotHigh   = 174.0
	plotRight  = chartWidth - 10
)

// A Curves is a chart of curves.
type Curves struct {
	Title   string // describes the chart to readers who cannot see it
	X, Y    Axis
	Series  []Series
	Windows []Band // shaded stretches of the x axis
	Steps   bool   // curves are drawn as steps: level from each point to the next, without markers
	Plain   bool   // curves have no markers
}

// MostSeries is how many series of a chart a reader can tell apart.
const MostSeries = 7

// A Series is one curve.
type Series struct {
	Name   string
	Look   int // the number of its look; a series has the same look in all charts
	Points []Point
	// Band is the expected range of the curve, drawn as two thin lines. A point whose High is not a number has
	// only a lower limit.
	Band []Point
}

// A Point is a point of a curve. Low and High are the ends of its interval; if both are zero, it has no
// interval.
type Point struct {
	X, Y, Low, High float64
	Hollow          bool // drawn as an open marker
}

func (p Point) interval() bool { return p.Low != 0 || p.High != 0 }

// curves are a chart while it is drawn.
type curves struct {
	Curves
	*Picture
}

// Draw draws the chart, which must have a point.
func (l *Curves) Draw() *Picture {
	c := &curves{*l, &Picture{Width: chartWidth, Title: l.Title}}
	for _, s := range c.Series {
		for _, p := range s.Points {
			c.X.see(p.X)
			if c.Y.see(p.Y); p.interval() {
				c.Y.see(p.Low, p.High)
			}
		}
		for _, p := range s.Band {
			c.X.see(p.X)
			c.Y.see(p.Low, p.High)
		}
	}
	c.Windows = slices.Clone(c.Windows)
	for _, w := range c.Windows {
		c.X.see(w.From, w.To)
	}
	left := 10 + widest(c.Y.fit(plotHigh, 0, 32).At, func(t Tick) string { return t.Label })
	c.X = c.X.fit(left, plotRight, 55)
	for i := range c.Windows {
		w := &c.Windows[i]
		w.From, w.To = c.X.place(w.From), c.X.place(w.To)
	}
	top := c.Bands(c.Windows, left, plotRight, 22, plotHigh)
	bottom := top + plotHigh
	c.Y = c.Y.fit(bottom, top, 32)
	c.Text(4, 13, l.Y.Label)
	c.frame(c.X, c.Y, top)
	c.Description = fmt.Sprintf("%s against %s.", l.Y.Label, l.X.Label)
	for i := range c.Series {
		c.band(&c.Series[i])
		c.Description += " " + c.Series[i].Name + "."
	}
	for i := range c.Series {
		c.curve(i)
	}
	c.Height = c.Legend(4, bottom+40, c.keys()) + 4
	return c.Picture
}

// frame draws the axes of a plot that begins at top, with their labels, but without the label of the y axis.
func (p *Picture) frame(x, y Axis, top float64) {
	left, right, bottom := x.start, x.end, y.start
	last := math.Inf(1)
	for _, t := range y.places() {
		p.Line(left, t.At, right, t.At, "stroke="+Grid, "stroke-width=0.6")
		if t.At+TextSize <= last {
			p.Text(left-6, t.At+4, t.Label, "text-anchor=end")
			last = t.At
		}
	}
	p.Line(left, top, left, bottom, "stroke="+Dim)
	p.XAxis(left, right, bottom, x.places())
	p.Text((left+right)/2, bottom+33, x.Label, "text-anchor=middle")
}

// wider is by what factor texts may be wider than TextWidth estimates: a browser that has none of its fonts
// takes another, such as DejaVu Sans.
const wider = 1.15

// widest returns the width of the widest text, in the widest font that a browser may take.
func widest[T any](all []T, text func(T) string) (wide float64) {
	for _, one := range all {
		wide = max(wide, wider*TextWidth(text(one), TextSize))
	}
	return wide
}

// through returns a path through points.
func (c *curves) through(points []Point) string {
	var d []any
	for i, p := range points {
		switch x, y := c.X.place(p.X), c.Y.place(p.Y); {
		case i == 0:
			d = append(d, "M", x, y)
		case c.Steps:
			d = append(d, "H", x, "V", y)
		default:
			d = append(d, "L", x, y)
		}
	}
	return Points(d...)
}

// band draws the expected range of a curve: one line for its minimum and one for its maximum. Values that the
// axis cannot show, such as 0 on a logarithmic axis, have no line.
func (c *curves) band(s *Series) {
	var low, high []Point
	for _, p := range s.Band {
		if p.Low > 0 || !c.Y.Log {
			low = append(low, Point{X: p.X, Y: p.Low})
		}
		if p.High > 0 || !c.Y.Log && !math.IsNaN(p.High) {
			high = append(high, Point{X: p.X, Y: p.High})
		}
	}
	look := LookOf(s.Look)
	line := []string{"fill=none", "stroke=" + look.Color, "stroke-width=1", "stroke-dasharray=" + look.Dash}
	c.Path(c.through(low), s.Name+": published minimum", line...)
	if !slices.Equal(low, high) {
		c.Path(c.through(high), s.Name+": published maximum", line...)
	}
}

// curve draws the line, the intervals and the markers of a series. The markers are smaller than the markers
// of the series before it, so that markers at the same place stay visible.
func (c *curves) curve(nth int) {
	s := &c.Series[nth]
	look := LookOf(s.Look)
	if len(s.Band) == 0 {
		c.Path(c.through(s.Points), s.Name, "fill=none", "stroke="+look.Color, "stroke-width=1.6",
			"stroke-dasharray="+look.Dash)
	}
	for _, p := range s.Points {
		x := c.X.place(p.X)
		if p.interval() {
			low, high := c.Y.place(p.Low), c.Y.place(p.High)
			c.Path(Points("M", x, low, "V", high, "M", x-2.5, low, "h5M", x-2.5, high, "h5"), "",
				"stroke="+look.Color)
		}
		if !c.Steps && !c.Plain {
			c.marker(nth, x, c.Y.place(p.Y), look, p.Hollow)
		}
	}
}

// marker draws the marker of a point of a series.
func (c *curves) marker(nth int, x, y float64, look Look, hollow bool) {
	fill, edge := look.Color, Ground
	if hollow {
		fill, edge = Ground, look.Color
	}
	c.mark(look.marker, x, y, 1.6-0.13*float64(nth%MostSeries), "", fill, edge)
}

// mark draws a marker, scaled by the factor large.
func (p *Picture) mark(marker string, x, y, large float64, tip, fill, edge string) {
	at := fmt.Sprintf("transform=translate(%s %s) scale(%.2f)", number(x), number(y), large)
	p.Path(marker, tip, "fill="+fill, "stroke="+edge, "stroke-width=0.8", at)
}

// keys returns the legend. A single series needs no legend.
func (c *curves) keys() (all Keys) {
	banded := false
	for i, s := range c.Series {
		look := LookOf(s.Look)
		banded = banded || len(s.Band) > 0
		all.Add(s.Name != "", s.Name, func(x, y float64) {
			c.Line(x, y, x+keySample, y, "stroke="+look.Color, "stroke-width=1.6", "stroke-dasharray="+look.Dash)
			if !c.Steps && !c.Plain {
				c.marker(i, x+keySample/2, y, look, false)
			}
		})
	}
	all.Add(banded, "lines: published minimum and maximum", c.Swatch(0.5, "fill="+Ink))
	all.Add(len(c.Windows) > 0, "fault in force", c.Swatch(6, "fill="+Fault))
	return all
}

// Swatch returns a sample for a legend: a bar whose height is twice half.
func (p *Picture) Swatch(half float64, attrs ...string) func(x, y float64) {
	return func(x, y float64) { p.Rect(x, y-half, keySample, 2*half, "", attrs...) }
}

// Bars is a bar chart: one number for each name, with intervals.
type Bars struct {
	Title string
	Unit  string
	Bars  []Bar
}

// A Bar is a bar of a chart. Low and High are the ends of its interval; if both are zero, it has no interval.
type Bar struct {
	Name             string
	Value, Low, High float64
	Hollow           bool // drawn as an outline
}

// Draw draws the chart, which must have a bar. The chart is wider than other charts if names are long.
func (b *Bars) Draw() *Picture {
	left := 10 + widest(b.Bars, func(bar Bar) string { return bar.Name })
	p := &Picture{Width: max(chartWidth, left+220), Title: b.Title, Height: 44 + 20*float64(len(b.Bars))}
	right := p.Width - 16 - widest(b.Bars, func(bar Bar) string { return Number(bar.Value) })
	p.Description = b.Unit + "."
	var axis Axis
	for _, bar := range b.Bars {
		axis.see(0, bar.Value, bar.High)
		p.Description += fmt.Sprintf(" %s: %s.", bar.Name, Number(bar.Value))
	}
	axis, bottom := axis.fit(left, right, 55), p.Height-36
	for _, t := range axis.places() {
		p.Line(t.At, 4, t.At, bottom, "stroke="+Grid, "stroke-width=0.6")
	}
	p.XAxis(left, right, bottom, axis.places())
	p.Text((left+right)/2, bottom+31, b.Unit, "text-anchor=middle")
	for i, bar := range b.Bars {
		y, end := 4+20*float64(i), axis.place(bar.Value)
		p.Text(left-6, y+14, bar.Name, "text-anchor=end")
		fill := map[bool]string{true: Ground, false: Looks[0].Color}[bar.Hollow]
		p.Rect(left, y+4, end-left, 12, "", "fill="+fill, "stroke="+Looks[0].Color)
		if bar.Low != 0 || bar.High != 0 {
			low, high := axis.place(bar.Low), axis.place(bar.High)
			p.Path(Points("M", low, y+10, "H", high, "M", low, y+7, "v6M", high, y+7, "v6"), "", "stroke="+Ink)
			end = max(end, high)
		}
		p.Text(end+5, y+14, Number(bar.Value))
	}
	return p
}

// Heat is a table of cells whose colors show how bad they are.
type Heat struct {
	Title   string
	Columns []string
	Rows    []string
	Cells   [][]Cell // by row and column
	Legend  []Cell
}

// A Cell has a text. Bad is from 1, good, to 4, worst; 0: neutral. In a legend, Says explains the text.
type Cell struct {
	Text string
	Bad  int
	Says string
}

// Draw draws the table, with the names of columns turned upright. The table is wider than other charts if it
// has too many columns for their width.
func (h *Heat) Draw() *Picture {
	p := &Picture{Width: chartWidth, Title: h.Title, Description: fmt.Sprintf("A table of %s against %s.",
		strings.Join(h.Rows, ", "), strings.Join(h.Columns, ", "))}
	const high = 18.0
	same := func(name string) string { return name }
	left, top := 8+widest(h.Rows, same), 12+widest(h.Columns, same)
	wide := max(TextSize+6, min(34, (chartWidth-left)/float64(max(1, len(h.Columns)))))
	p.Width = max(p.Width, math.Ceil(left+wide*float64(len(h.Columns))+4))
	for i, name := range h.Columns {
		x := left + wide*(float64(i)+0.5) + 4
		p.Text(x, top-4, name, "transform="+fmt.Sprintf("rotate(-90 %.1f %.1f)", x, top-4))
	}
	for r, name := range h.Rows {
		y := top + high*float64(r)
		p.Text(left-6, y+13, name, "text-anchor=end")
		for i, one := range h.Cells[r] {
			p.cell(one, left+wide*float64(i), y, wide, high)
		}
	}
	p.Height = top + high*float64(len(h.Rows)) + 8
	for _, one := range h.Legend {
		p.cell(one, 4, p.Height, 30, high)
		p.Text(40, p.Height+13, one.Says)
		p.Height += high
	}
	p.Height += 4
	return p
}

// cell draws a cell. A text that is too wide is written smaller.
func (p *Picture) cell(one Cell, x, y, wide, high float64) {
	if one.Text == "" {
		return
	}
	p.Rect(x+0.6, y+0.6, wide-1.2, high-1.2, "", "fill="+Bad[one.Bad])
	size := min(TextSize, (wide-2)/TextWidth(one.Text, 1))
	p.Text(x+wide/2, y+high/2+0.35*size, one.Text, "text-anchor=middle", "font-size="+number(size))
}
