package diagram

import (
	"fmt"
	"slices"

	"turnstile/internal/svg"
	"turnstile/judge/section"
	"turnstile/judge/spacetime"
)

// An item of the legend has a sample, drawn from a place on, and a text.
type item struct {
	text   string
	sample func(x, y float64)
}

// items are those that the picture has use for.
func (d *drawing) items() (all []item) {
	for i, kind := range d.kinds {
		name := d.Stack.Codec().Name(int(kind))
		look := lookOf(i)
		if i == len(looks)-1 && len(d.kinds) > len(looks) {
			name = "other messages"
		}
		all = append(all, item{name, func(x, y float64) {
			d.p.Path(svg.Points("M", x, y, "L", x+28, y), "", "class", fmt.Sprintf("k%d", look), "stroke-width", "2",
				"stroke-dasharray", looks[look].dash)
		}})
		if i == len(looks)-1 {
			break
		}
	}
	bar := func(class string, half float64, more ...string) func(x, y float64) {
		return func(x, y float64) {
			d.p.Rect(x, y-half, 28, 2*half, "", append([]string{"class", class, "stroke-width", "0.7"}, more...)...)
		}
	}
	has := func(fate spacetime.Fate) bool {
		return slices.ContainsFunc(d.messages, func(m spacetime.Message) bool { return m.Fate == fate })
	}
	if has(spacetime.Lost) {
		all = append(all, item{"lost", func(x, y float64) {
			d.p.Path(svg.Points("M", x+9, y-5, "L", x+19, y+5, "M", x+9, y+5, "L", x+19, y-5), "", "class", "axis",
				"stroke-width", "2")
		}})
	}
	if has(spacetime.Pending) {
		all = append(all, item{"not seen to come", func(x, y float64) {
			d.p.Path(ring(x+14, y), "", "class", "axis", "stroke-width", "1.5")
		}})
	}
	if len(d.Sections) > 0 {
		all = append(all, item{"waits", bar("wait", 2.5)})
	}
	if slices.ContainsFunc(d.Sections, func(s section.Section) bool { return s.Served() }) {
		all = append(all, item{"inside", bar("in", 6)})
	}
	if len(d.Reigns) > 0 {
		all = append(all, item{"leads", bar("lead", 6, "stroke-dasharray", "4 2", "rx", "3")})
	}
	if slices.ContainsFunc(d.Together, func(t spacetime.Together) bool { return !t.May }) {
		all = append(all, item{"what should not be",
			bar("wrongline", 6, "fill", "none", "style", "stroke-width:2")})
	}
	if len(d.Deaths) > 0 {
		all = append(all, item{"down", func(x, y float64) {
			d.p.Line(x, y, x+28, y, "class", "life", "stroke-dasharray", "1 5")
		}})
	}
	if len(d.Pauses) > 0 {
		all = append(all, item{"stands still", bar("", 6, "fill", "url(#stopped)")})
	}
	if len(d.Faults) > 0 {
		all = append(all, item{"a fault", bar("fault", 6)})
	}
	return all
}

// column returns how wide a column of the legend is, and how many there are.
func (d *drawing) column(items []item) (width float64, count int) {
	for _, i := range items {
		width = max(width, 28+8+widthOf(i.text, small)+18)
	}
	return width, max(1, int((d.width-2*margin)/max(1, width)))
}

func (d *drawing) legendLines() int {
	items := d.items()
	_, columns := d.column(items)
	return (len(items) + columns - 1) / columns
}

// legend draws the legend, and the remarks below it.
func (d *drawing) legend() {
	items := d.items()
	width, columns := d.column(items)
	top := d.bottom() + 2*textLine + 8
	for i, item := range items {
		x, y := margin+float64(i%columns)*width, top+float64(i/columns)*textLine
		item.sample(x, y)
		d.p.Text(x+36, y+4, item.text, "font-size", fmt.Sprint(small))
	}
	top += float64((len(items)+columns-1)/columns) * textLine
	for i, says := range d.remarks() {
		d.p.Text(margin, top+float64(i)*textLine+4, says, "font-size", fmt.Sprint(small), "class", "dim")
	}
}
