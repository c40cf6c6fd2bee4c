package draw

import (
	"slices"
	"strings"

	"turnstile/internal/english"
)

// TextWidth estimates the width of a text in Liberation Sans, Arial or Helvetica; the estimate is rarely too
// low.
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

// Shortened shortens a text until it fits into a width.
func Shortened(text string, width, size float64) string {
	runes := []rune(text)
	for len(runes) > 1 && TextWidth(text, size) > width {
		runes = runes[:len(runes)-1]
		text = string(runes) + "..."
	}
	return text
}

// headingSize is the size of a title, and slideSize that of a title for a slide.
const (
	headingSize = 14.0
	slideSize   = 24.0
)

// Heading writes a title at x, y, in at most two lines, and returns the y at which the title ends.
func (p *Picture) Heading(x, y float64, title string) float64 {
	return p.heading(x, y, headingSize, p.wrapped(x, title, headingSize))
}

// SlideHeading is like Heading, but in larger letters. It takes smaller letters if the title needs more than
// two lines.
func (p *Picture) SlideHeading(x, y float64, title string) float64 {
	size := slideSize
	for size > headingSize && len(p.wrapped(x, title, size)) > 2 {
		size--
	}
	return p.heading(x, y, size, p.wrapped(x, title, size))
}

// wrapped returns the lines of a title that begins at x.
func (p *Picture) wrapped(x float64, title string, size float64) []string {
	return english.Wrap(title, int((p.Width-2*x)/(0.557*size))) // the width of a letter, roughly
}

func (p *Picture) heading(x, y, size float64, lines []string) float64 {
	if len(lines) > 2 {
		lines = []string{lines[0], lines[1] + " ..."}
	}
	for _, line := range lines {
		y += Row * size / headingSize
		p.Text(x, y-5*size/headingSize, line, "font-weight=bold", "font-size="+number(size))
	}
	return y
}

// NameBar writes the first of some names that fits between two places, in the middle between them, and
// reports whether one fits.
func (p *Picture) NameBar(names []string, from, to, y float64, attrs ...string) (fits bool) {
	for _, name := range names {
		if TextWidth(name, TextSize)+6 <= to-from {
			p.Text((from+to)/2, y+4, name, append(attrs, "text-anchor=middle")...)
			return true
		}
	}
	return false
}

// A Box is a rectangle in a picture.
type Box struct{ Left, Top, Right, Bottom float64 }

func (b Box) touches(other Box) bool {
	return b.Left < other.Right && other.Left < b.Right && b.Top < other.Bottom && other.Top < b.Bottom
}

// Take marks a box as taken: no label may overlap it.
func (p *Picture) Take(b Box) { p.taken = append(p.taken, b) }

// Label writes lines of text at the first free place, and reports whether there is one. middles are the
// possible places of the middle of the text. If no place is free, the text is left out, and counts in
// Missing.
func (p *Picture) Label(text string, size float64, middles ...[2]float64) (fits bool) {
	lines, half, apart := strings.Split(text, "\n"), 0.0, 1.15*size
	for _, line := range lines {
		half = max(half, TextWidth(line, size)/2+1)
	}
	high := (apart*float64(len(lines)-1) + size) / 2
	for _, m := range middles {
		b := Box{m[0] - half, m[1] - high - 1, m[0] + half, m[1] + high + 1}
		if !p.free(b) {
			continue
		}
		p.Take(b)
		for i, line := range lines {
			p.Text(m[0], m[1]-high+size/2+apart*float64(i)+0.36*size, line, "font-size="+number(size),
				"text-anchor=middle", "paint-order=stroke", "stroke="+Ground, "stroke-width=3",
				"stroke-linejoin=round")
		}
		return true
	}
	p.Missing++
	return false
}

// free reports whether a label may lie in a box.
func (p *Picture) free(b Box) bool {
	w := p.Within
	return b.Left >= w.Left && b.Right <= w.Right && b.Top >= w.Top && b.Bottom <= w.Bottom &&
		!slices.ContainsFunc(p.taken, b.touches)
}

// Keys are the entries of a legend. Each has a text, and a function that draws the sample beside the text, 24
// pixels wide, given the middle of the left edge of the sample.
type Keys []key

type key struct {
	text   string
	sample func(x, y float64)
}

// Add adds a key if its first argument is true.
func (k *Keys) Add(is bool, text string, sample func(x, y float64)) {
	if is {
		*k = append(*k, key{text, sample})
	}
}

// keySample is the width of a sample.
const keySample = 24.0

// Legend writes keys side by side, wrapped into lines, and returns the y at which they end.
func (p *Picture) Legend(left, top float64, keys Keys) (bottom float64) {
	if len(keys) == 0 {
		return top
	}
	x, y := left, top+Row/2
	for _, k := range keys {
		wide := keySample + 5 + wider*TextWidth(k.text, TextSize)
		if x > left && x+wide > p.Width-4 {
			x, y = left, y+Row
		}
		k.sample(x, y)
		p.Text(x+keySample+5, y+4, k.text)
		x += wide + 14
	}
	return y + Row/2
}

// Remarks writes remarks at x, y, each in as many lines as it needs, and returns the y at which they end.
func (p *Picture) Remarks(x, y float64, remarks []string) float64 {
	wide := (p.Width - 2*x) / wider
	for _, remark := range remarks {
		for _, line := range Wrapped(remark, wide, TextSize) {
			y += Row
			p.Text(x, y-5, Shortened(line, wide, TextSize), "fill="+Dim)
		}
	}
	return y
}

// Wrapped breaks a text at single spaces into lines that fit into a width, unless a word is wider.
func Wrapped(text string, width, size float64) (lines []string) {
	for i, word := range strings.Split(text, " ") {
		if last := len(lines) - 1; i > 0 && TextWidth(lines[last]+" "+word, size) <= width {
			lines[last] += " " + word
		} else {
			lines = append(lines, word)
		}
	}
	return lines
}

// A Band is a stretch of the x axis that is shaded, with a name above.
type Band struct {
	From, To float64
	Names    []string // only the first name that fits is written
	Tip      string
	Color    string // of the shade; the name and a strip above the shade have it too, unless it is [Fault]

	Name string // the written name; empty: no name fits
	line int
	at   float64 // where the name begins
}

// Bands draws bands. Their names stand in lines above them, which begin at top and lie between left and
// right. below is the distance in pixels from these lines to the end of the bands. Bands returns the y at
// which the lines end. Names that find no room are left out, and count in Missing.
func (p *Picture) Bands(bands []Band, left, right, top, below float64) (bottom float64) {
	ends, lines := make([]float64, 6), 0 // more than six lines of names would take too much room
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
			p.Missing++
		}
	}
	bottom = top + float64(lines)*Row
	for _, b := range bands {
		y, wide, opacity := top+float64(b.line)*Row, max(1.5, b.To-b.From), "0.75"
		if b.Color != Fault {
			opacity = "0.12"
			p.Rect(b.From, y, wide, 3, "", "fill="+b.Color)
		}
		p.Rect(b.From, y, wide, bottom+below-y, b.Tip, "fill="+b.Color, "fill-opacity="+opacity)
	}
	for _, b := range bands {
		var attrs []string
		if b.Color != Fault {
			attrs = []string{"fill=" + b.Color, "font-weight=bold"}
		}
		p.Text(b.at, top+float64(b.line)*Row+13, b.Name, attrs...)
	}
	return bottom
}
