package draw

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// The measures of charts, which are narrow, so that their texts can be read on a phone.
const (
	chartWidth = 380.0
	plotHigh   = 190.0
	plotRight  = chartWidth - 10
	leastPlot  = 200.0 // width
	toName     = 18.0  // distance from the plot to the names of series
	nameRow    = 13.0
)

// A Curves is a chart of curves.
type Curves struct {
	Title   string // describes the chart to readers who cannot see it
	X, Y    Axis
	Series  []Series
	Windows []Band // shaded stretches of the x axis
	Steps   bool   // curves are drawn as steps: level from each point to the next, without markers
}

// A Series is one curve. Its name stands at its right end.
type Series struct {
	Name   string
	Kind   Kind
	Nth    int // tells series of one kind apart; a series has the same number in all charts
	Points []Point
	// Band is the expected range of the curve. A point whose High is not a number has only a lower limit.
	Band []Point
}

// A Kind is a kind of series, which share a color.
type Kind struct {
	Name  string
	Color int // an index in Looks
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
	right float64 // where the plot ends
}

// Draw draws the chart, which must have a point.
func (l *Curves) Draw() *Picture { return Stack(l.Title, l) }

// Stack draws charts one below another, whose x axes agree.
func Stack(title string, charts ...*Curves) *Picture {
	p := &Picture{Title: title}
	var left, names float64
	for _, l := range charts {
		l.see()
		left = max(left, 10+widest(l.Y.fit(plotHigh, 0, 32).At, func(t Tick) string { return t.Label }))
		names = max(names, widest(l.Series, func(s Series) string { return s.Name }))
	}
	right := plotRight
	p.Width = chartWidth
	if names > 0 {
		p.Width = max(chartWidth, left+leastPlot+toName+names)
		right = p.Width - toName - names
	}
	for _, l := range charts {
		c := &curves{*l, p, right}
		c.draw(left, plotHigh/math.Sqrt(float64(len(charts))))
	}
	p.Height = p.Legend(4, p.Height, p.keys(charts)) + 4
	return p
}

// see makes the axes show all that the chart has.
func (l *Curves) see() {
	for _, s := range l.Series {
		for _, p := range s.Points {
			l.X.see(p.X)
			if l.Y.see(p.Y); p.interval() {
				l.Y.see(p.Low, p.High)
			}
		}
		for _, p := range s.Band {
			l.X.see(p.X)
			l.Y.see(p.Low, p.High)
		}
	}
	for _, w := range l.Windows {
		l.X.see(w.From, w.To)
	}
}

// draw draws the chart below what the picture has. Its plot begins at left, and is at least so high.
func (c *curves) draw(left, high float64) {
	base := c.Height
	high = max(high, nameRow*float64(len(c.Series)))
	c.X = c.X.fit(left, c.right, 55)
	c.Windows = slices.Clone(c.Windows)
	for i := range c.Windows {
		w := &c.Windows[i]
		w.From, w.To = c.X.place(w.From), c.X.place(w.To)
	}
	top := c.Bands(c.Windows, left, c.right, base+22, high)
	c.Y = c.Y.fit(top+high, top, 32)
	c.Text(4, base+13, c.Y.Label)
	c.frame(c.X, c.Y, top)
	c.Description += fmt.Sprintf("%s against %s.", c.Y.Label, c.X.Label)
	names := c.names(top, top+high)
	for i := range c.Series {
		s := &c.Series[i]
		c.Description += " " + s.Name + "."
		if s.Name == "" {
			c.curve(s)
			continue
		}
		c.lit(s.Name, func() {
			c.band(s)
			c.curve(s)
			c.name(s, names[i])
		})
	}
	c.Height = top + high + 40
}

// last returns the last point of a series.
func (s *Series) last() Point { return s.Points[len(s.Points)-1] }

// names returns, by series, the y of its name: as close to its last point as other names allow.
func (c *curves) names(top, bottom float64) []float64 {
	order := make([]int, len(c.Series))
	ends := make([]float64, len(c.Series))
	for i := range c.Series {
		order[i], ends[i] = i, c.Y.place(c.Series[i].last().Y)
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(ends[a], ends[b]) })
	var sorted []float64
	for _, i := range order {
		sorted = append(sorted, ends[i])
	}
	for nth, y := range apart(sorted, nameRow, top+nameRow/2, bottom-nameRow/2) {
		ends[order[nth]] = y
	}
	return ends
}

// apart moves numbers, which ascend, as little as possible (least squares) so that neighbours are gap apart
// and all lie between low and high, if there is room.
func apart(at []float64, gap, low, high float64) (moved []float64) {
	type cluster struct{ sum, count float64 } // numbers that touch; sum is of where the first would stand
	var all []cluster
	for i, x := range at {
		one := cluster{x - gap*float64(i), 1}
		for n := len(all) - 1; n >= 0 && all[n].sum/all[n].count > one.sum/one.count; n-- {
			one.sum, one.count = one.sum+all[n].sum, one.count+all[n].count
			all = all[:n]
		}
		all = append(all, one)
	}
	high -= gap * float64(len(at)-1)
	for _, c := range all {
		for range int(c.count) {
			moved = append(moved, max(low, min(high, c.sum/c.count))+gap*float64(len(moved)))
		}
	}
	return moved
}

// name writes the name of a series beside the plot, with a line from its last point.
func (c *curves) name(s *Series, y float64) {
	color, x := s.look().Color, c.X.place(s.last().X)
	c.Path(Points("M", x, c.Y.place(s.last().Y), "L", c.right+toName-3, y), "", "fill=none", "stroke="+color,
		"stroke-width=0.6", "stroke-opacity=0.6")
	c.Text(c.right+toName, y+4, s.Name, "fill="+color)
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

// through returns a path through points, with a gap at a point whose Y is not a number.
func (c *curves) through(points []Point) string {
	var d []any
	broken := true
	for _, p := range points {
		x, y := c.X.place(p.X), c.Y.place(p.Y)
		switch began := broken; {
		case math.IsNaN(p.Y):
		case began:
			d = append(d, "M", x, y)
		case c.Steps:
			d = append(d, "H", x, "V", y)
		default:
			d = append(d, "L", x, y)
		}
		broken = math.IsNaN(p.Y)
	}
	return Points(d...)
}

// shown returns the points that the y axis can show: on a logarithmic axis, those above zero.
func (c *curves) shown(points []Point) []Point {
	return slices.DeleteFunc(slices.Clone(points), func(p Point) bool { return c.Y.Log && p.Y <= 0 })
}

// band draws the expected range of a curve as a pale area, and a range of one number as a pale line.
func (c *curves) band(s *Series) {
	var low, high []Point
	for _, p := range s.Band {
		low, high = append(low, Point{X: p.X, Y: p.Low}), append(high, Point{X: p.X, Y: p.High})
		if math.IsNaN(p.High) {
			high[len(high)-1].Y = p.Low
		}
	}
	if len(low) == 0 {
		return
	}
	slices.Reverse(high)
	pale := fmt.Sprintf("%.3f", min(0.12, 0.4/float64(len(c.Series)))) // many cover each other
	color := s.look().Color
	c.Path(c.through(append(low, high...))+"z", s.Name+": the published range", "class=band", "fill="+color,
		"stroke="+color, "stroke-width=5", "stroke-linejoin=round", "fill-opacity="+pale, "stroke-opacity="+pale)
}

// curve draws the line, the intervals and the markers of a series.
func (c *curves) curve(s *Series) {
	look, points := s.look(), c.shown(s.Points)
	line := c.through(points)
	c.Path(line, "", "fill=none", "stroke="+look.Color, "stroke-width=1.6", "stroke-dasharray="+look.Dash)
	if c.Steps {
		return
	}
	c.Path(line, "", "fill=none", "stroke="+look.Color, "stroke-width=11", "stroke-opacity=0") // for the pointer
	for _, p := range points {
		x := c.X.place(p.X)
		tip := fmt.Sprintf("%s; %s: %s; %s: %s", s.Name, c.X.Label, c.X.text(p.X), c.Y.Label, Number(p.Y))
		if p.interval() {
			low, high := c.Y.place(p.Low), c.Y.place(p.High)
			c.Path(Points("M", x, low, "V", high, "M", x-2.5, low, "h5M", x-2.5, high, "h5"), "",
				"stroke="+look.Color)
			tip += fmt.Sprintf(" (%s to %s)", Number(p.Low), Number(p.High))
		}
		fill, edge := look.Color, Ground
		if p.Hollow {
			fill, edge = Ground, look.Color
		}
		c.mark(look.marker, x, c.Y.place(p.Y), 1.2, tip, fill, edge)
	}
}

// mark draws a marker, scaled by the factor large.
func (p *Picture) mark(marker string, x, y, large float64, tip, fill, edge string) {
	at := fmt.Sprintf("transform=translate(%s %s) scale(%.2f)", number(x), number(y), large)
	p.Path(marker, tip, "fill="+fill, "stroke="+edge, "stroke-width=0.8", at)
}

// keys returns the legend of charts. The names of series stand at their ends.
func (p *Picture) keys(charts []*Curves) Keys {
	var kinds []Kind
	banded, faults := false, false
	for _, l := range charts {
		for _, s := range l.Series {
			kinds = append(kinds, s.Kind)
			banded = banded || len(s.Band) > 0
		}
		faults = faults || len(l.Windows) > 0
	}
	all := p.kinds(kinds)
	all.Add(banded, "the published range", p.Swatch(5, "fill="+Dim, "fill-opacity=0.3"))
	all.Add(faults, "fault in force", p.Swatch(6, "fill="+Fault))
	return all
}

// kinds returns a legend of kinds, each once, unless there is only one.
func (p *Picture) kinds(all []Kind) (keys Keys) {
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b Kind) int { return cmp.Or(a.Color-b.Color, strings.Compare(a.Name, b.Name)) })
	all = slices.Compact(all)
	for _, k := range all {
		keys.Add(len(all) > 1 && k.Name != "", k.Name, p.Swatch(5, "fill="+LookOf(k.Color, 0).Color))
	}
	return keys
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
	Kind             Kind
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
	var kinds []Kind
	for _, bar := range b.Bars {
		axis.see(0, bar.Value, bar.High)
		kinds = append(kinds, bar.Kind)
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
		color := LookOf(bar.Kind.Color, 0).Color
		fill := map[bool]string{true: Ground, false: color}[bar.Hollow]
		p.Rect(left, y+4, end-left, 12, "", "fill="+fill, "stroke="+color)
		if bar.Low != 0 || bar.High != 0 {
			low, high := axis.place(bar.Low), axis.place(bar.High)
			p.Path(Points("M", low, y+10, "H", high, "M", low, y+7, "v6M", high, y+7, "v6"), "", "stroke="+Ink)
			end = max(end, high)
		}
		p.Text(end+5, y+14, Number(bar.Value))
	}
	p.Height = p.Legend(4, p.Height, p.kinds(kinds))
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
