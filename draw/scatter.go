package draw

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"turnstile/internal/english"
)

// A Scatter is a chart of one figure against another, in panels that stand side by side and share their axes.
type Scatter struct {
	Title  string
	X, Y   Axis
	Panels []Panel
}

// A Panel holds named dots.
type Panel struct {
	Name string
	Dots []Dot
}

// A Dot is a mark with a name.
type Dot struct {
	Name   string
	X, Y   Measured
	Broken bool // drawn in the color of violations
	Hollow bool // drawn as an outline

	front bool
}

// Measured is a figure with the ends of its interval. Without an interval both ends are the figure itself.
type Measured struct{ At, Low, High float64 }

// beats reports whether a dot is lower than another in one figure, and not higher in the other figure.
// Figures whose intervals overlap count as equal.
func (d *Dot) beats(other *Dot) bool {
	below := func(a, b Measured) bool { return a.High < b.Low }
	return (below(d.X, other.X) || below(d.Y, other.Y)) && !below(other.X, d.X) && !below(other.Y, d.Y)
}

// Frontier finds the dots that no other dot beats, marks them as the frontier, and returns their names. A
// broken or hollow dot neither beats another dot nor is on the frontier.
func (p *Panel) Frontier() (names []string) {
	out := func(d Dot) bool { return d.Broken || d.Hollow }
	for i := range p.Dots {
		d := &p.Dots[i]
		d.front = !out(*d) && !slices.ContainsFunc(p.Dots, func(o Dot) bool { return !out(o) && o.beats(d) })
		if d.front {
			names = append(names, d.Name)
		}
	}
	return names
}

// Draw draws the chart, which must have a dot.
func (s *Scatter) Draw() *Picture {
	const wide, high, top = 410.0, 380.0, 40.0
	p := &Picture{Width: wide * float64(len(s.Panels)), Title: s.Title,
		Description: fmt.Sprintf("%s against %s.", s.Y.Label, s.X.Label)}
	x, y := s.X, s.Y
	var kinds [4]bool
	for _, panel := range s.Panels {
		for _, d := range panel.Dots {
			x.see(d.X.At, d.X.Low, d.X.High)
			y.see(d.Y.At, d.Y.Low, d.Y.High)
			for i, is := range []bool{d.front, !d.front && !d.Hollow && !d.Broken, d.Hollow, d.Broken} {
				kinds[i] = kinds[i] || is
			}
		}
	}
	y = y.fit(top+high, top, 32)
	left := 10 + widest(y.At, func(t Tick) string { return t.Label })
	var nameless []string
	for i, panel := range s.Panels {
		start := wide * float64(i)
		p.Text(start+4, 13, panel.Name, "font-weight=bold")
		p.Text(start+4, 31, s.Y.Label)
		p.Within = Box{start + left + 2, top, start + wide - 4, top + high - 2}
		axis := x.fit(start+left, start+wide-10, 55)
		p.frame(axis, y, top)
		nameless = append(nameless, p.panel(panel.Dots, axis, y)...)
	}
	var all Keys
	for i, d := range []Dot{
		{Name: "on the frontier: no other is lower in one figure and not higher in the other", front: true},
		{Name: "others"}, {Name: "CPU-bound, or a lower bound", Hollow: true},
		{Name: "known to be broken", Broken: true}} {
		all.Add(kinds[i], d.Name, func(x, y float64) { p.dot(d, x+keySample/2, y, "") })
	}
	if p.Height = p.Legend(4, top+high+40, all) + 4; len(nameless) > 0 {
		p.Height = 4 + p.Remarks(4, p.Height, english.Wrap("without a name, for want of room: "+
			strings.Join(nameless, ", "), int(p.Width/7.8)))
	}
	return p
}

// panel draws dots with their intervals, their names and the frontier, and returns the names that found no
// room. Dots that overlap have their names in one place.
func (p *Picture) panel(dots []Dot, x, y Axis) (nameless []string) {
	dots = slices.SortedStableFunc(slices.Values(dots), func(a, b Dot) int {
		return cmp.Or(cmp.Compare(a.X.At, b.X.At), cmp.Compare(a.Y.At, b.Y.At))
	})
	var lines []Box // all lines, in short pieces
	line := func(x1, y1, x2, y2 float64, color string) {
		p.Line(x1, y1, x2, y2, "stroke="+color)
		lines = append(lines, pieces(x1, y1, x2, y2, 0)...)
	}
	place := func(d Dot) (float64, float64) { return x.place(d.X.At), y.place(d.Y.At) }
	var together [][]Dot
	atX, atY := math.NaN(), y.end // the end of the frontier drawn so far
	for _, d := range dots {
		dotX, dotY := place(d)
		p.Take(Box{dotX - 5, dotY - 5, dotX + 5, dotY + 5})
		line(x.place(d.X.Low), dotY, x.place(d.X.High), dotY, Dim)
		line(dotX, y.place(d.Y.Low), dotX, y.place(d.Y.High), Dim)
		if d.front && dotY > atY {
			if !math.IsNaN(atX) {
				line(atX, atY, dotX, atY, Looks[0].Color)
			}
			line(dotX, atY, dotX, dotY, Looks[0].Color)
			atX, atY = dotX, dotY
		}
		in := slices.IndexFunc(together, func(those []Dot) bool {
			firstX, firstY := place(those[0])
			return math.Abs(firstX-dotX) < 12 && math.Abs(firstY-dotY) < 7
		})
		if in < 0 {
			in, together = len(together), append(together, nil)
		}
		together[in] = append(together[in], d)
	}
	if !math.IsNaN(atX) {
		line(atX, atY, x.end, atY, Looks[0].Color)
	}
	ranks := map[bool]int{true: 0, false: 1}
	slices.SortStableFunc(together, func(a, b []Dot) int { // the first groups have the best places for names
		return cmp.Compare(ranks[a[0].front], ranks[b[0].front])
	})
	for _, those := range together {
		var names []string
		for _, d := range those {
			names = append(names, d.Name)
		}
		p.lit(strings.Join(names, ", "), func() {
			if atX, atY := place(those[0]); !p.callOut(those, atX, atY, lines) {
				nameless = append(nameless, names...)
			}
			for _, d := range slices.Backward(those) {
				dotX, dotY := place(d)
				p.dot(d, dotX, dotY, fmt.Sprintf("%s: %s, %s", d.Name, Number(d.X.At), Number(d.Y.At)))
			}
		})
	}
	return nameless
}

// pieces returns small boxes along a line. from is the distance of the first box from the start, in pixels.
func pieces(x1, y1, x2, y2, from float64) (all []Box) {
	length := math.Hypot(x2-x1, y2-y1)
	for ; from < length-1; from += 2 {
		x, y := x1+(x2-x1)*from/length, y1+(y2-y1)*from/length
		all = append(all, Box{x - 1, y - 1, x + 1, y + 1})
	}
	return all
}

// dot draws the mark of a dot.
func (p *Picture) dot(d Dot, x, y float64, tip string) {
	color, marker := Dim, circle
	if d.front {
		color = Looks[0].Color
	} else if d.Broken {
		color, marker = Wrong, diamond
	}
	p.mark(marker, x, y, 1.3, tip, map[bool]string{true: Ground, false: color}[d.Hollow], color)
}

// callOut writes the names of dots as close to their place as there is room, with a line to names that are
// further away. Names overlap neither marks nor other names nor lines; the line to a name overlaps no mark
// and no name. callOut reports whether there was room.
func (p *Picture) callOut(dots []Dot, atX, atY float64, lines []Box) bool {
	const row = TextSize + 2
	wide, high := widest(dots, func(d Dot) string { return d.Name })/2+2, row*float64(len(dots))/2
	for away := 7.0; away < 200; away += 5 {
		for turn := range 24 { // directions: to the right first, then alternately further up and down
			sin, cos := math.Sincos(math.Pi / 12 * float64((turn+1)/2*(1-turn%2*2)))
			x, y := atX+cos*(away+wide), atY+sin*(away+high)
			b := Box{x - wide, y - high, x + wide, y + high}
			endX, endY := min(max(atX, b.Left), b.Right), min(max(atY, b.Top), b.Bottom)
			line := pieces(atX, atY, endX, endY, 9)
			if !p.free(b) || slices.ContainsFunc(lines, b.touches) ||
				slices.ContainsFunc(line, func(b Box) bool { return !p.free(b) }) {
				continue
			}
			if len(line) > 0 {
				p.Line(atX, atY, endX, endY, "stroke="+Dim, "stroke-width=0.7")
			}
			p.taken = append(append(p.taken, b), line...)
			for i, d := range dots {
				color := map[bool]string{true: Looks[0].Color, false: Ink}[d.front]
				p.Text(b.Left+2, b.Top+row*(float64(i)+0.8), d.Name, "fill="+color)
			}
			return true
		}
	}
	p.Missing += len(dots)
	return false
}
