package diagram

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"turnstile/draw"
	"turnstile/judge/spacetime"
	"turnstile/nodes"
)

// An arrow is a message as it is drawn.
type arrow struct {
	x1, y1, x2, y2 float64
	kind           string
	from, to       nodes.ID
	sent, over     float64 // places of the send and of the receipt, or of the end of the window that is nearer
}

// bundled reports whether one label is enough for two arrows: they are of one kind, and begin or end at
// nearly the same place.
func (a *arrow) bundled(b *arrow) bool {
	const near = 12
	return a.kind == b.kind && (a.from == b.from && math.Abs(a.sent-b.sent) <= near ||
		a.to == b.to && math.Abs(a.over-b.over) <= near)
}

// message draws a message: as an arrow if it was handled, as a line that ends in a cross if it was lost, or
// as a line that ends in a ring if it is not known to have arrived. A message with the same ends as others is
// drawn beside them.
func (d *drawing) message(m *spacetime.Message) arrow {
	a := arrow{kind: d.Name(m), y1: d.y(d.line(m.From)), y2: d.y(d.line(m.To)), from: m.From, to: m.To,
		sent: d.scale.x(m.Sent), over: d.scale.x(m.Over)}
	stub, down := min(30, d.row*0.6), a.y2-a.y1
	switch {
	case m.Sent == spacetime.Unknown:
		a.x2 = d.scale.x(m.Over)
		a.x1, a.y1 = a.x2-stub, a.y2-math.Copysign(min(stub, math.Abs(down)), down)
	case m.Fate == spacetime.Pending, m.Fate == spacetime.Lost && m.Over <= m.Sent:
		a.x1 = d.scale.x(m.Sent)
		a.x2, a.y2 = a.x1+stub, a.y1+down*0.45
	default: // the arrow may go beyond the window
		a.x1, a.x2 = d.scale.x(m.Sent), d.scale.x(m.Over)
		share := func(at int64) float64 { return float64(at-m.Sent) / float64(max(1, m.Over-m.Sent)) }
		if m.Over > d.Window.To {
			a.y2 = a.y1 + down*share(d.Window.To)
		}
		if m.Sent < d.Window.From {
			a.y1 += down * share(d.Window.From)
		}
	}
	way := [4]float64{a.x1, a.y1, a.x2, a.y2}
	a.x1, a.x2 = a.x1+5*d.ways[way], a.x2+5*d.ways[way]
	d.ways[way]++
	number := "data-number="
	if m.Number > 0 {
		number += strconv.FormatUint(uint64(m.Number), 10)
	}
	d.Group(d.told(m), func() { d.arrow(m, a) }, number)
	return a
}

// arrow draws the shaft of an arrow, and what is at its end.
func (d *drawing) arrow(m *spacetime.Message, a arrow) {
	look := draw.LookOfMessage(int(m.Kind))
	d.Path(draw.Points("M", a.x1, a.y1, "L", a.x2, a.y2), "", "fill=none", "stroke="+look.Color,
		"stroke-width=1.5", "stroke-dasharray="+look.Dash)
	switch {
	case m.Fate == spacetime.Lost && m.Over <= d.Window.To:
		d.Path(draw.Points("M", a.x2, a.y2)+cross, "", "stroke="+look.Color, "stroke-width=2.2")
		d.Take(draw.Box{Left: a.x2 - 6, Top: a.y2 - 6, Right: a.x2 + 6, Bottom: a.y2 + 6})
	case m.Fate == spacetime.Pending:
		d.Circle(a.x2, a.y2, 3.5, "", "fill=none", "stroke="+look.Color, "stroke-width=1.5")
	case m.Over <= d.Window.To:
		arrowhead(d.Picture, a.x2, a.y2, a.x2-a.x1, a.y2-a.y1, 9, look.Color)
	}
}

// arrowhead draws the head of an arrow that points in the direction dx, dy and ends at x, y.
func arrowhead(p *draw.Picture, x, y, dx, dy, size float64, color string) {
	long := max(1e-9, math.Hypot(dx, dy))
	dx, dy = dx/long, dy/long
	x1, y1, half := x-size*dx, y-size*dy, 0.42*size
	p.Path(draw.Points("M", x, y, "L", x1-half*dy, y1+half*dx, "L", x1+half*dy, y1-half*dx, "Z"), "",
		"fill="+color)
}

// told describes a message and what became of it.
func (d *drawing) told(m *spacetime.Message) string {
	text := fmt.Sprintf("%s from node %d to node %d", d.Name(m), m.From, m.To)
	if m.Sent != spacetime.Unknown {
		text += ", sent at " + d.time(m.Sent)
	}
	text += map[spacetime.Fate]string{spacetime.Handled: ", handled at " + d.time(m.Over),
		spacetime.Lost: ", lost", spacetime.Pending: ", not seen to arrive"}[m.Fate]
	if body := d.Body(m); body != "" {
		text += ": " + body
	}
	return text
}

// nameArrows writes the kinds of messages beside their arrows, once for each bundle, where there is room.
func (d *drawing) nameArrows(arrows []arrow) {
	if d.row < 28 {
		return
	}
	slices.SortStableFunc(arrows, func(a, b arrow) int { // flat arrows first: few places beside them are free
		return cmp.Compare(math.Abs(a.y2-a.y1), math.Abs(b.y2-b.y1))
	})
	var bundles [][]arrow
	for len(arrows) > 0 {
		first := arrows[0]
		bundle, others := []arrow{first}, []arrow(nil)
		for _, a := range arrows[1:] {
			if first.bundled(&a) {
				bundle = append(bundle, a)
			} else {
				others = append(others, a)
			}
		}
		bundles, arrows = append(bundles, bundle), others
	}
	if len(bundles) > mostNamed {
		return
	}
	for _, bundle := range bundles {
		var places [][2]float64
		for _, a := range bundle {
			places = append(places, a.beside()...)
		}
		d.Label(bundle[0].kind, labelSize, places...)
	}
}

// labelSize is the size of the labels of arrows.
const labelSize = 10

// beside returns the places where the label of an arrow may be.
func (a *arrow) beside() (places [][2]float64) {
	half := draw.TextWidth(a.kind, labelSize)/2 + 5
	for _, share := range []float64{0.5, 0.4, 0.6, 0.3, 0.7, 0.22, 0.78} {
		x, y := a.x1+share*(a.x2-a.x1), a.y1+share*(a.y2-a.y1)
		places = append(places, [2]float64{x + half, y}, [2]float64{x - half, y})
	}
	return places
}
