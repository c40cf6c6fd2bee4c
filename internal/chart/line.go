package chart

import (
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A Line is a chart of curves.
type Line struct {
	Alt     string // says what it shows, for who cannot see it
	X, Y    Axis
	Series  []Series
	Windows []Window
	Steps   bool // curves go level from each point to the next, and have no markers
	Plain   bool // curves have no markers
}

// MostSeries is how many series of a chart can be told apart.
const MostSeries = 7

// A Series is one curve.
type Series struct {
	Name   string
	Look   int // its color, marker and dashes: those of a series are the same in all charts
	Points []Point
	// Band is what is expected of the curve, drawn thin, with its range shaded. Of a point whose High is not a
	// number there is a least alone.
	Band []Point
}

// A Point is one of a curve. Low and High are the ends of its interval; both zero: there is none.
type Point struct {
	X, Y, Low, High float64
	Hollow          bool // it is drawn as an open marker
}

// A Window is a stretch of the x axis that is shaded.
type Window struct {
	From, To float64
	Label    string
}

// The plot of a chart of curves, in points.
const (
	plotHeight = 236.0
	plotRight  = 10.0
	legendRow  = 17.0
	labelRow   = 17.0
)

// Draw draws the chart. There must be a point.
func (l *Line) Draw() Picture {
	small := styleOf(smallSize, ink)
	x1, x2, y1, y2 := l.bounds()
	inside := plotHeight - 62.0
	y := l.Y.within(y1, y2, inside, 32, func(string) float64 { return textSize })
	left := 0.0
	for _, t := range y.At {
		left = max(left, widthOf(small, t.Label))
	}
	x := l.X.within(x1, x2, width-left-30, 55, func(label string) float64 { return widthOf(small, label) })
	names := l.legend()
	height := plotHeight + float64(rowsOf(names))*legendRow
	return drawn(height, l.Alt, func(c draw.Canvas) {
		p := plot.New()
		p.BackgroundColor = nil
		x.give(&p.X)
		y.give(&p.Y)
		p.X.Padding, p.Y.Padding = 0, 0
		p.Add(&curves{l, x, y})
		bottom := vg.Points(height - plotHeight + labelRow)
		p.Draw(draw.Crop(c, vg.Points(2), vg.Points(-plotRight), bottom, vg.Points(-22)))
		style := l.X.labelStyle() // gonum/plot would make the plot narrower for a long label
		long := widthOf(style, l.X.Label)
		from := min(max(4, (left+14+width-plotRight-long)/2), width-4-long)
		c.FillText(style, at(from, height-plotHeight+3), l.X.Label)
		c.FillText(styleOf(textSize, ink), at(4, height-15), l.Y.Label)
		drawLegend(c, names, height-plotHeight)
	})
}

// bounds returns the least and the greatest of both axes.
func (l *Line) bounds() (x1, x2, y1, y2 float64) {
	x1, y1, x2, y2 = math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)
	for _, s := range l.Series {
		for i, p := range append(append([]Point(nil), s.Points...), s.Band...) {
			x1, x2 = min(x1, p.X), max(x2, p.X)
			for _, y := range []float64{p.Y, p.Low, p.High} {
				if interval := p.Low != 0 || p.High != 0; y == p.Y && i < len(s.Points) || interval && !math.IsNaN(y) {
					if !l.Y.Log || y > 0 {
						y1, y2 = min(y1, y), max(y2, y)
					}
				}
			}
		}
	}
	for _, w := range l.Windows {
		x1, x2 = min(x1, w.From), max(x2, w.To)
	}
	return x1, x2, y1, y2
}

// curves are the plotter of a chart of curves.
type curves struct {
	*Line
	x, y Axis
}

// Plot draws the ground, the windows and the curves.
func (k *curves) Plot(c draw.Canvas, p *plot.Plot) {
	for i, w := range k.Windows {
		from, to := k.place(c, w.From, 0).X, k.place(c, w.To, 0).X
		to = max(to, from+vg.Points(1.5))
		c.FillPolygon(fault.drawn, []vg.Point{{X: from, Y: c.Min.Y}, {X: to, Y: c.Min.Y}, {X: to, Y: c.Max.Y},
			{X: from, Y: c.Max.Y}})
		edge := draw.LineStyle{Color: dim.drawn, Width: vg.Points(0.6), Dashes: []vg.Length{2, 2}}
		for _, x := range []vg.Length{from, to} {
			c.StrokeLine2(edge, x, c.Min.Y, x, c.Max.Y)
		}
		style := styleOf(smallSize, ink)
		style.YAlign = draw.YTop
		if i+1 == len(k.Windows) || k.place(c, k.Windows[i+1].From, 0).X > from+style.Width(w.Label)+4 {
			c.FillText(style, vg.Point{X: from + 2, Y: c.Max.Y - 1}, w.Label)
		}
	}
	lines := draw.LineStyle{Color: grid.drawn, Width: vg.Points(0.6)}
	for _, t := range k.y.At {
		y := k.place(c, k.x.Min, t.At).Y
		c.StrokeLine2(lines, c.Min.X, y, c.Max.X, y)
	}
	for i := range k.Series {
		k.band(c, i)
	}
	for i := range k.Series {
		k.curve(c, i)
	}
}

// place returns where a point is on the canvas.
func (k *curves) place(c draw.Canvas, x, y float64) vg.Point {
	if !k.y.Log || y > 0 {
		y = min(max(k.y.share(y), 0), 1)
	}
	return vg.Point{X: c.X(min(max(k.x.share(x), 0), 1)), Y: c.Y(y)}
}

// aside returns how far the markers of a series stand aside, so that intervals at one place can be told
// apart.
func (k *curves) aside(series int) vg.Length {
	if k.Steps || k.Plain {
		return 0
	}
	return vg.Points(3.4 * (float64(series) - float64(len(k.Series)-1)/2))
}

// curve draws the line, the intervals and the markers of a series.
func (k *curves) curve(c draw.Canvas, series int) {
	points, look := k.Series[series].Points, lookOf(k.Series[series].Look)
	var path []vg.Point
	for i, p := range points {
		to := k.place(c, p.X, p.Y)
		to.X += k.aside(series)
		if k.Steps && i > 0 {
			path = append(path, vg.Point{X: to.X, Y: path[len(path)-1].Y})
		}
		path = append(path, to)
	}
	if len(k.Series[series].Band) == 0 {
		c.StrokeLines(look.line, path)
	}
	for i, p := range points {
		if p.Low != 0 || p.High != 0 {
			whisker(c, look.line, path[i].X, k.place(c, p.X, p.Low).Y, k.place(c, p.X, p.High).Y)
		}
		if !k.Steps && !k.Plain {
			marker(c, look, path[i], p.Hollow)
		}
	}
}

// whisker draws an interval.
func whisker(c draw.Canvas, style draw.LineStyle, x, from, to vg.Length) {
	style.Dashes, style.Width = nil, vg.Points(1)
	c.StrokeLine2(style, x, from, x, to)
	for _, y := range []vg.Length{from, to} {
		c.StrokeLine2(style, x-2.5, y, x+2.5, y)
	}
}

// band draws what is expected of a curve.
func (k *curves) band(c draw.Canvas, series int) {
	band, look := k.Series[series].Band, lookOf(k.Series[series].Look)
	var low, high []vg.Point
	wide := false
	for _, p := range band {
		low = append(low, k.place(c, p.X, p.Low))
		if !math.IsNaN(p.High) {
			high = append(high, k.place(c, p.X, p.High))
			wide = wide || p.High > p.Low
		}
	}
	style := look.line
	style.Width = vg.Points(1)
	c.StrokeLines(style, low)
	if !wide || len(high) != len(low) {
		return
	}
	c.StrokeLines(style, high)
	around := append([]vg.Point(nil), low...)
	for i := len(high) - 1; i >= 0; i-- {
		around = append(around, high[i])
	}
	c.FillPolygon(faded(look.shade), around)
}
