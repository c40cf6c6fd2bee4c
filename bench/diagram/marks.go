package diagram

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"turnstile/internal/english"
	"turnstile/internal/svg"
	"turnstile/judge/spacetime"
	"turnstile/nodes"
	"turnstile/nodes/history"
)

// A band is a time that is named above the lines of the nodes: a fault, or what should not be.
type band struct {
	from, to    float64
	text, class string // of the text
	line        int    // above the others, from 0
}

// findBands finds the bands, and puts those into lines of their own whose names would overlap.
func (d *drawing) findBands() {
	add := func(from, to int64, text, class string) {
		if from <= d.Window.To && to >= d.Window.From {
			d.bands = append(d.bands, band{d.scale.x(from), d.scale.x(to), text, class, 0})
		}
	}
	for i := range d.Faults {
		f := &d.Faults[i]
		name := ""
		if d.Fault != nil {
			name = " " + d.Fault(f.Number)
		}
		add(f.From, f.To, fmt.Sprintf("fault %d%s", f.Number, name), "fault")
	}
	for _, t := range d.Together {
		text, class := d.names(&t)
		add(t.From, t.To, text, class)
	}
	if first := d.First; first != nil && first.What >= spacetime.Stalled {
		text, class := d.names(first)
		add(first.From, first.To, text, class)
	}
	var ends []float64
	for i := range d.bands {
		b := &d.bands[i]
		b.text = shortened(b.text, d.scale.right()-nodesLeft)
		from, to := d.label(b)
		if b.line = slices.IndexFunc(ends, func(end float64) bool { return end <= from }); b.line < 0 {
			b.line, ends = len(ends), append(ends, 0)
		}
		if b.line >= mostBandLines {
			b.text = ""
			d.leftOut++
			ends = ends[:mostBandLines]
			continue
		}
		ends[b.line] = max(to, b.to) + 8
	}
}

const mostBandLines = 6

// label returns from where to where the name of a band reaches.
func (d *drawing) label(b *band) (from, to float64) {
	width := boldWidth*widthOf(b.text, small) + 4
	from = max(nodesLeft, min(b.from+2, d.scale.right()+margin-width))
	return from, from + width
}

// shortened cuts a text that is wider than so much.
func shortened(text string, width float64) string {
	most := int(width / (runeWidth * small))
	if runes := []rune(text); len(runes) > most && most > 3 {
		return string(runes[:most-3]) + "..."
	}
	return text
}

func (d *drawing) bandLines() (lines int) {
	for _, b := range d.bands {
		if b.text != "" {
			lines = max(lines, b.line+1)
		}
	}
	return lines
}

// names says what went wrong, and how that is drawn.
func (d *drawing) names(t *spacetime.Together) (text, class string) {
	text = map[spacetime.What]string{spacetime.Inside: "inside together: ", spacetime.Leading: "lead together: ",
		spacetime.Stalled: "nothing moves any more", spacetime.Observed: "something is wrong"}[t.What]
	if t.What <= spacetime.Leading {
		text += "nodes " + ids(t.Nodes)
	} else if len(t.Nodes) > 0 {
		text += ": node " + ids(t.Nodes)
	}
	if t.May {
		return text + " (which is allowed)", "may"
	}
	return text, "wrong"
}

func ids(all []nodes.ID) (text string) {
	for i, id := range slices.Sorted(slices.Values(all)) {
		if i > 0 {
			text += ", "
		}
		text += strconv.Itoa(int(id))
	}
	return text
}

// drawBands shades the times of faults, and names all bands.
func (d *drawing) drawBands() {
	base := d.headEnd()
	for _, b := range d.bands {
		y := base + float64(b.line)*textLine
		width := max(1.5, b.to-b.from)
		class := map[string]string{"fault": "fault", "wrong": "band", "may": "fault"}[b.class]
		d.p.Rect(b.from, y, width, d.bottom()-y, "", "class", class, "fill-opacity", "0.75")
		if b.class != "fault" {
			d.p.Rect(b.from, y, width, 3, "", "class", b.class)
		}
	}
	for _, b := range d.bands {
		attrs := []string{"font-size", fmt.Sprint(small)}
		if b.class != "fault" {
			attrs = append(attrs, "class", b.class, "font-weight", "bold")
		}
		from, _ := d.label(&b)
		d.p.Text(from, base+float64(b.line)*textLine+14, b.text, attrs...)
	}
}

// drawTogether marks on the lines of nodes where they did what only one may.
func (d *drawing) drawTogether() {
	for _, t := range d.Together {
		for i := range d.Sections {
			if s := &d.Sections[i]; t.What == spacetime.Inside && s.Served() {
				d.drawAmong(&t, s.Node, s.Entered, s.Ended)
			}
		}
		for _, r := range d.Reigns {
			if t.What == spacetime.Leading {
				d.drawAmong(&t, r.Node, r.From, r.To)
			}
		}
	}
}

// drawAmong marks the part of the bar of a node in which it was together with others.
func (d *drawing) drawAmong(t *spacetime.Together, id nodes.ID, from, to int64) {
	from, to = max(from, t.From, d.Window.From), min(to, t.To, d.Window.To)
	row := d.row0(id)
	if row < 0 || from > to || !slices.Contains(t.Nodes, id) || from == to && t.From < t.To {
		return
	}
	fill, line := "wrong", "wrongline"
	if t.May {
		fill, line = "may", "mayline"
	}
	x, half := d.scale.x(from), d.bar()+3.5
	width := max(3, d.scale.x(to)-x)
	d.p.Rect(x, d.y(row)-half, width, 2*half, "", "class", fill, "fill-opacity", "0.5")
	d.p.Rect(x, d.y(row)-half, width, 2*half, "", "class", line, "fill", "none", "stroke-width", "2")
}

// drawLines draws the line of each node: solid while it runs, grey and hatched while it stands still, dotted
// while it is down.
func (d *drawing) drawLines() {
	from, to := d.scale.places[0], d.scale.right()
	for row, id := range d.Nodes {
		y := d.y(row)
		name := "node"
		if int(id) >= d.Stack.N() {
			name = "server"
		}
		d.p.Text(nodesLeft, y+4, fmt.Sprintf("%s %d", name, id), "text-anchor", "end")
		at := from
		for _, x := range d.Deaths {
			if x.Node != id || x.At > d.Window.To || x.Back < d.Window.From {
				continue
			}
			down, back := d.scale.x(x.At), d.scale.x(x.Back)
			d.p.Line(at, y, down, y, "class", "life")
			d.p.Line(down, y, back, y, "class", "life", "stroke-dasharray", "1 5")
			at = back
		}
		d.p.Line(at, y, to, y, "class", "life")
		for _, p := range d.Pauses {
			if p.Process == uint32(id) && p.From <= d.Window.To && p.To >= d.Window.From {
				x := d.scale.x(p.From)
				d.p.Rect(x, y-d.bar(), max(2, d.scale.x(p.To)-x), 2*d.bar(), "it stands still", "fill", "url(#stopped)")
			}
		}
	}
}

// drawMarks marks crashes, restarts, and what nodes say of others.
func (d *drawing) drawMarks() {
	for _, x := range d.Deaths {
		d.mark(x.Node, x.At, "crash", svg.Points("M", -6, -6, "L", 6, 6, "M", -6, 6, "L", 6, -6))
		if x.Back < math.MaxInt64 {
			d.mark(x.Node, x.Back, "restart", svg.Points("M", -4, -6, "L", 6, 0, "L", -4, 6, "Z"))
		}
	}
	for _, e := range d.Events {
		what := map[history.Kind]string{history.Suspected: "suspects %d", history.Trusted: "trusts %d",
			history.Campaigned: "campaigns"}[e.Kind]
		if strings.Contains(what, "%") {
			what = fmt.Sprintf(what, e.Count)
		}
		if what != "" {
			d.mark(e.Node, e.At, what, svg.Points("M", 0, -7, "L", 0, 7))
		}
	}
}

// mark marks a moment of a node.
func (d *drawing) mark(id nodes.ID, at int64, text, path string) {
	row := d.row0(id)
	if row < 0 || at < d.Window.From || at > d.Window.To {
		return
	}
	x, y := d.scale.x(at), d.y(row)
	d.p.Path(path, text, "class", "axis", "stroke-width", "2.5", "transform",
		fmt.Sprintf("translate(%.2f %.2f)", x, y))
	d.take(box{x - 7, y - 7, x + 7, y + 7})
	wide := widthOf(text, small)/2 + 5
	if tx, ty, ok := d.put(text, small, [2]float64{x + wide, y - 14}, [2]float64{x + wide, y + 14},
		[2]float64{x - wide, y - 14}, [2]float64{x - wide, y + 14}, [2]float64{x, y - 18},
		[2]float64{x, y + 18}); ok {
		d.p.Text(tx, ty+4, text, "font-size", fmt.Sprint(small), "text-anchor", "middle", "class", "halo")
	}
}

// axis draws the axis of time.
func (d *drawing) axis() {
	y := d.bottom()
	d.p.Line(d.scale.places[0], y, d.scale.right(), y, "class", "axis")
	name, unit := d.scale.unit()
	step := int64(1)
	if d.Played {
		name, unit, step = "step", stepTime, stepTime
	}
	d.p.Text(margin, y+16, name, "class", "dim")
	for _, at := range d.scale.ticks(62, step) {
		x := d.scale.x(at)
		d.p.Line(x, y, x, y+4, "class", "axis")
		text := d.scale.print(at, unit)
		if d.Played {
			text = strconv.FormatInt(at/unit, 10)
		}
		if half := widthOf(text, small) / 2; x+half > d.width-2 {
			x = d.width - 2 - half
		}
		d.p.Text(x, y+16, text, "text-anchor", "middle", "font-size", fmt.Sprint(small))
	}
	for _, i := range d.scale.cuts {
		x := (d.scale.places[i] + d.scale.places[i+1]) / 2
		d.p.Path(svg.Points("M", x-5, y+5, "L", x-1, y-5, "M", x+1, y+5, "L", x+5, y-5), "", "class", "axis")
	}
}

const stepTime = 1_000_000 // nanoseconds

// remarks says what a reader of the picture must know.
func (d *drawing) remarks() (lines []string) {
	if n := len(d.scale.cuts); n > 0 {
		lines = append(lines, fmt.Sprintf("Time is not to scale: %s of it, marked //, %s shorter than the others.",
			english.Count(n, "stretch", "stretches"), map[bool]string{true: "is drawn", false: "are drawn"}[n == 1]))
	}
	if d.Complete > d.Window.From {
		lines = append(lines, fmt.Sprintf("Messages before %s are not all known: bench --trace keeps them.",
			says(d.Complete)))
	}
	if d.Until < d.Window.To {
		lines = append(lines, fmt.Sprintf("Messages after %s are not all known: bench --trace keeps them.",
			says(d.Until)))
	}
	if n := d.Stack.Total() - len(d.Nodes); n > 0 {
		lines = append(lines, fmt.Sprintf("%s and the messages from and to them are left out.",
			english.Count(n, "node", "nodes")))
	}
	if d.hidden > 0 {
		lines = append(lines, fmt.Sprintf("%s left out (--heartbeats draws them).",
			english.Count(d.hidden, "message of failure detectors is", "messages of failure detectors are")))
	}
	if d.leftOut > 0 {
		lines = append(lines, fmt.Sprintf("%s for which there was no room %s left out.",
			english.Count(d.leftOut, "label", "labels"), map[bool]string{true: "is", false: "are"}[d.leftOut == 1]))
	}
	return lines
}
