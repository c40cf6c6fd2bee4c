package diagram

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"turnstile/internal/svg"
	"turnstile/judge/spacetime"
)

// An arrow is a message as it is drawn.
type arrow struct {
	x1, y1, x2, y2 float64
	kind           string
}

// How far the arrow of a message goes that was lost where it was sent, or of which nothing more is known.
const stubShare = 0.45

// drawMessage draws a message: an arrow if it was handled, one that ends in a cross if it was lost, or in a
// ring if it is not known to have come. It goes beside so many others that would lie below it.
func (d *drawing) drawMessage(m *spacetime.Message, beside int) arrow {
	name := d.Name(m)
	a := arrow{kind: name, y1: d.y(d.row0(m.From)), y2: d.y(d.row0(m.To))}
	stub := min(30, d.row*0.6)
	down := a.y2 - a.y1
	switch {
	case m.Sent == spacetime.Unknown:
		a.x2 = d.scale.x(m.Over)
		a.x1, a.y1 = a.x2-stub, a.y2-math.Copysign(min(stub, math.Abs(down)), down)
	case m.Fate == spacetime.Pending, m.Fate == spacetime.Lost && m.Over <= m.Sent:
		a.x1 = d.scale.x(m.Sent)
		a.x2, a.y2 = a.x1+stub, a.y1+down*stubShare
	default:
		a.x1, a.x2 = d.scale.x(m.Sent), d.scale.x(m.Over)
		a.y1, a.y2 = d.cutAt(m, a.y1, a.y2)
	}
	a.x1, a.x2 = a.x1+5*float64(beside), a.x2+5*float64(beside)
	tip := fmt.Sprintf("%s from node %d to node %d", name, m.From, m.To)
	if m.Sent != spacetime.Unknown {
		tip += ", sent at " + d.time(m.Sent)
	}
	switch m.Fate {
	case spacetime.Handled:
		tip += ", handled at " + d.time(m.Over)
	case spacetime.Lost:
		tip += ", lost"
	default:
		tip += ", not seen to come"
	}
	if body := d.Body(m); body != "" {
		tip += ": " + body
	}
	look := lookOf(slices.Index(d.kinds, m.Kind))
	attrs := []string{"class", fmt.Sprintf("k%d", look), "stroke-width", "1.5"}
	if dash := looks[look].dash; dash != "" {
		attrs = append(attrs, "stroke-dasharray", dash)
	}
	d.p.Path(svg.Points("M", a.x1, a.y1, "L", a.x2, a.y2), tip, attrs...)
	d.end(&a, m, look)
	return a
}

// before returns how many messages before one of the picture went the same way at the same time.
func (d *drawing) before(i int) (count int) {
	m := &d.messages[i]
	for j := i - 1; j >= 0 && d.messages[j].Sent == m.Sent; j-- {
		other := &d.messages[j]
		same := m.Fate == other.Fate && (m.Over == other.Over || m.Fate == spacetime.Pending)
		if same && m.From == other.From && m.To == other.To {
			count++
		}
	}
	return count
}

// cutAt returns where an arrow begins and ends that goes beyond the window.
func (d *drawing) cutAt(m *spacetime.Message, y1, y2 float64) (float64, float64) {
	length := float64(max(1, m.Over-m.Sent))
	from, to := y1, y2
	if m.Sent < d.Window.From {
		from = y1 + (y2-y1)*float64(d.Window.From-m.Sent)/length
	}
	if m.Over > d.Window.To {
		to = y1 + (y2-y1)*float64(d.Window.To-m.Sent)/length
	}
	return from, to
}

// end draws the end of an arrow.
func (d *drawing) end(a *arrow, m *spacetime.Message, look int) {
	stroke, fill := fmt.Sprintf("k%d", look), fmt.Sprintf("h%d", look)
	x, y := a.x2, a.y2
	switch {
	case m.Fate == spacetime.Lost && m.Over <= d.Window.To:
		d.p.Path(svg.Points("M", x-5, y-5, "L", x+5, y+5, "M", x-5, y+5, "L", x+5, y-5), "",
			"class", stroke, "stroke-width", "2.2")
		d.take(box{x - 6, y - 6, x + 6, y + 6})
	case m.Fate == spacetime.Pending:
		d.p.Path(ring(x, y), "", "class", stroke, "stroke-width", "1.5")
	case m.Over > d.Window.To:
	default:
		long := math.Hypot(a.x2-a.x1, a.y2-a.y1)
		dx, dy := (a.x2-a.x1)/max(long, 1e-9), (a.y2-a.y1)/max(long, 1e-9)
		const head, half = 9.0, 3.6
		bx, by := x-head*dx, y-head*dy
		d.p.Path(svg.Points("M", x, y, "L", bx-half*dy, by+half*dx, "L", bx+half*dy, by-half*dx, "Z"), "",
			"class", fill, "style", "fill-opacity:1")
	}
}

// ring returns the path of a small ring.
func ring(x, y float64) string {
	const r = 3.5
	return svg.Points("M", x-r, y, "A", r, r, 0, 1, 1, x+r, y, "A", r, r, 0, 1, 1, x-r, y)
}

// mostNamed is up to how many arrows of a picture have names; of more, the legend tells their kinds.
const mostNamed = 120

// nameArrows writes the kinds of messages beside their arrows, where there is room.
func (d *drawing) nameArrows(arrows []arrow) {
	if len(arrows) > mostNamed || d.row < 28 {
		return
	}
	slices.SortStableFunc(arrows, func(a, b arrow) int { // those first that have the least choice
		return cmp.Compare(math.Abs(a.y2-a.y1), math.Abs(b.y2-b.y1))
	})
	for _, a := range arrows {
		var places [][2]float64
		half := widthOf(a.kind, 10)/2 + 5
		for _, share := range []float64{0.5, 0.4, 0.6, 0.3, 0.7, 0.22, 0.78} {
			x, y := a.x1+share*(a.x2-a.x1), a.y1+share*(a.y2-a.y1)
			places = append(places, [2]float64{x + half, y}, [2]float64{x - half, y})
		}
		if x, y, ok := d.put(a.kind, 10, places...); ok {
			d.p.Text(x, y+3.5, a.kind, "font-size", "10", "text-anchor", "middle", "class", "halo")
		}
	}
}
