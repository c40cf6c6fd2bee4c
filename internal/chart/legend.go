package chart

import (
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A look is how a series is drawn.
type look struct {
	shade shade
	line  draw.LineStyle
	glyph draw.GlyphDrawer
}

var (
	dashes = [][]vg.Length{nil, {6, 3}, {2, 2}, {7, 2, 2, 2}}
	glyphs = []draw.GlyphDrawer{draw.CircleGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}, diamond{}}
)

// lookOf returns the look of a number.
func lookOf(number int) look {
	s := ofSeries[number%len(ofSeries)]
	return look{shade: s, glyph: glyphs[number%len(glyphs)],
		line: draw.LineStyle{Color: s.drawn, Width: vg.Points(1.6), Dashes: dashes[number%len(dashes)]}}
}

// marker draws that of a point. A hollow one has the color of the ground inside.
func marker(c draw.Canvas, k look, p vg.Point, hollow bool) {
	c.DrawGlyph(draw.GlyphStyle{Color: k.shade.drawn, Radius: vg.Points(3.6), Shape: k.glyph}, p)
	if hollow {
		c.DrawGlyph(draw.GlyphStyle{Color: ground.drawn, Radius: vg.Points(2), Shape: k.glyph}, p)
	}
}

// diamond is a marker that gonum/plot lacks.
type diamond struct{}

// DrawGlyph draws it.
func (diamond) DrawGlyph(c *draw.Canvas, s draw.GlyphStyle, p vg.Point) {
	r := s.Radius * 1.2
	c.SetColor(s.Color)
	var path vg.Path
	path.Move(vg.Point{X: p.X, Y: p.Y + r})
	path.Line(vg.Point{X: p.X + r, Y: p.Y})
	path.Line(vg.Point{X: p.X, Y: p.Y - r})
	path.Line(vg.Point{X: p.X - r, Y: p.Y})
	path.Close()
	c.Fill(path)
}

// A name is one of a legend, and where it stands.
type name struct {
	text string
	look int
	x    float64
	row  int
	kind sample
}

// A sample is what stands beside a name.
type sample int

const (
	curveSample sample = iota
	lineSample
	bandSample
	windowSample
)

const sampleWidth = 24.0

// legend returns the names of all that is drawn, in rows. One series alone needs none.
func (l *Line) legend() (all []name) {
	kind := curveSample
	if l.Steps || l.Plain {
		kind = lineSample
	}
	banded := false
	for _, s := range l.Series {
		if s.Name != "" {
			all = append(all, name{text: s.Name, look: s.Look, kind: kind})
		}
		banded = banded || len(s.Band) > 0
	}
	if banded {
		all = append(all, name{text: "line: published", kind: bandSample})
	}
	if len(l.Windows) > 0 {
		all = append(all, name{text: "fault in force", kind: windowSample})
	}
	x, row := 4.0, 0
	for i := range all {
		wide := sampleWidth + 4 + widthOf(styleOf(smallSize, ink), all[i].text)
		if x > 4 && x+wide > width-4 {
			x, row = 4, row+1
		}
		all[i].x, all[i].row = x, row
		x += wide + 12
	}
	return all
}

func rowsOf(names []name) int {
	if len(names) == 0 {
		return 0
	}
	return names[len(names)-1].row + 1
}

// drawLegend draws names, the first row below top.
func drawLegend(c draw.Canvas, names []name, top float64) {
	for _, n := range names {
		y := top - legendRow*float64(n.row) - 8
		k := lookOf(n.look)
		switch n.kind {
		case windowSample:
			box(c, fault, n.x, y-4, n.x+sampleWidth, y+5)
		case bandSample:
			c.StrokeLines(draw.LineStyle{Color: ink.drawn, Width: vg.Points(1)}, []vg.Point{at(n.x, y),
				at(n.x+sampleWidth, y)})
		case lineSample, curveSample:
			c.StrokeLines(k.line, []vg.Point{at(n.x, y), at(n.x+sampleWidth, y)})
			if n.kind == curveSample {
				marker(c, k, at(n.x+sampleWidth/2, y), false)
			}
		}
		c.FillText(styleOf(smallSize, ink), at(n.x+sampleWidth+4, y-4), n.text)
	}
}
