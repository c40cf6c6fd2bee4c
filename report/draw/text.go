package draw

import (
	"slices"
	"strings"

	"turnstile/internal/english"
)

// TextWidth returns about how wide a text is in Liberation Sans, Arial or Helvetica, and hardly less.
func TextWidth(text string, size float64) (sum float64) {
	for _, r := range text {
		switch {
		case strings.ContainsRune("ijl|'", r):
			sum += 0.25
		case strings.ContainsRune("cksvxyzJ", r):
			sum += 0.5
		case strings.ContainsRune(" .,:;!/\\()[]-ftrI", r):
			sum += 0.34
		case strings.ContainsRune("mwMW%@", r):
			sum += 0.87
		case r >= 'A' && r <= 'Z':
			sum += 0.72
		default:
			sum += 0.56
		}
	}
	return sum * size
}

// Shortened cuts a text that is wider than so much.
func Shortened(text string, width, size float64) string {
	runes := []rune(text)
	for len(runes) > 1 && TextWidth(text, size) > width {
		runes = runes[:len(runes)-1]
		text = string(runes) + "..."
	}
	return text
}

// headingRune is about how wide a letter of a heading is.
const headingRune = 7.8

// Heading writes a title from a place on, in two lines at most, and returns where it ends.
func (p *Picture) Heading(x, y float64, title string) float64 {
	lines := english.Wrap(title, int((p.Width-2*x)/headingRune))
	if len(lines) > 2 {
		lines = []string{lines[0], lines[1] + " ..."}
	}
	for _, line := range lines {
		y += Row
		p.Text(x, y-5, line, "font-weight=bold", "font-size=14")
	}
	return y
}

// NameBar writes the first of some names that there is room for between two places, in their middle.
func (p *Picture) NameBar(names []string, from, to, y float64, attrs ...string) {
	for _, name := range names {
		if TextWidth(name, TextSize)+6 <= to-from {
			p.Text((from+to)/2, y+4, name, append(attrs, "text-anchor=middle")...)
			return
		}
	}
}

// A Box is a place in a picture.
type Box struct{ Left, Top, Right, Bottom float64 }

func (b Box) touches(other Box) bool {
	return b.Left < other.Right && other.Left < b.Right && b.Top < other.Bottom && other.Top < b.Bottom
}

// Labels finds places for texts, so that none lies on another.
type Labels struct {
	Within  Box
	Missing int // labels for which there was no place
	taken   []Box
}

// Take marks a place as taken.
func (l *Labels) Take(b Box) { l.taken = append(l.taken, b) }

// Put takes the first free one of some places for a text, whose middle is there, and returns it. If all are
// taken, the text counts as missing.
func (l *Labels) Put(text string, size float64, middles ...[2]float64) (x, y float64, found bool) {
	half, w := TextWidth(text, size)/2+1, l.Within
	for _, m := range middles {
		b := Box{m[0] - half, m[1] - size/2 - 1, m[0] + half, m[1] + size/2 + 1}
		if b.Left < w.Left || b.Right > w.Right || b.Top < w.Top || b.Bottom > w.Bottom ||
			slices.ContainsFunc(l.taken, b.touches) {
			continue
		}
		l.Take(b)
		return m[0], m[1], true
	}
	l.Missing++
	return 0, 0, false
}

// Halo are the attributes of a text that stands in the middle of other things.
var Halo = []string{"text-anchor=middle", "paint-order=stroke", "stroke=" + Ground, "stroke-width=3",
	"stroke-linejoin=round"}

// A Key is an entry of a legend: a text, and what draws the sample beside it, 24 pixels wide, from the middle
// of its left edge on.
type Key struct {
	Text   string
	Sample func(x, y float64)
}

// keySample is how wide a sample is.
const keySample = 24.0

// Legend writes keys side by side from a place on, in as many rows as it takes, and returns where it ends.
func (p *Picture) Legend(left, top float64, keys []Key) (bottom float64) {
	x, y := left, top+Row/2
	for _, k := range keys {
		wide := keySample + 5 + TextWidth(k.Text, TextSize)
		if x > left && x+wide > p.Width-4 {
			x, y = left, y+Row
		}
		k.Sample(x, y)
		p.Text(x+keySample+5, y+4, k.Text)
		x += wide + 14
	}
	if len(keys) == 0 {
		return top
	}
	return y + Row/2
}

// Remarks writes lines of text from a place on, and returns where they end.
func (p *Picture) Remarks(x, y float64, lines []string) float64 {
	for _, line := range lines {
		y += Row
		p.Text(x, y-5, Shortened(line, p.Width-2*x, TextSize), "fill="+Dim)
	}
	return y
}

// A Band is a stretch of the x axis that is shaded, with a name above.
type Band struct {
	From, To float64
	Names    []string // the first that there is room for is written
	Tip      string
	Color    string // of the shade; of one that is strong, of its name too
	Strong   bool

	Name string // that PlaceBands has found room for; empty: there is none
	line int
	at   float64 // where the name begins
}

const mostBandLines = 6

// PlaceBands gives the names of bands places between left and right. It returns how many lines they take, and
// how many bands there is no room for a name of.
func PlaceBands(bands []Band, left, right float64) (lines, nameless int) {
	ends := make([]float64, mostBandLines)
	for i := range bands {
		b := &bands[i]
		for _, name := range b.Names {
			name = Shortened(name, right-left-4, TextSize)
			wide := 1.1*TextWidth(name, TextSize) + 4
			at := max(left, min(b.From+2, right-wide))
			b.line = slices.IndexFunc(ends, func(end float64) bool { return end <= at })
			if b.line >= 0 {
				b.Name, b.at, ends[b.line] = name, at, max(at+wide, b.To)+6
				lines = max(lines, b.line+1)
				break
			}
		}
		if b.line = max(0, b.line); b.Name == "" {
			nameless++
		}
	}
	return lines, nameless
}

// Bands draws bands that have places, their lines from top on, down to the bottom.
func (p *Picture) Bands(bands []Band, top, bottom float64) {
	for _, b := range bands {
		y, wide := top+float64(b.line)*Row, max(1.5, b.To-b.From)
		opacity := "0.75"
		if b.Strong {
			opacity = "0.12"
			p.Rect(b.From, y, wide, 3, "", "fill="+b.Color)
		}
		p.Rect(b.From, y, wide, bottom-y, b.Tip, "fill="+b.Color, "fill-opacity="+opacity)
	}
	for _, b := range bands {
		var attrs []string
		if b.Strong {
			attrs = []string{"fill=" + b.Color, "font-weight=bold"}
		}
		if b.Name != "" {
			p.Text(b.at, top+float64(b.line)*Row+13, b.Name, attrs...)
		}
	}
}
