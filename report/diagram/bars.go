package diagram

import (
	"fmt"
	"slices"
	"strings"

	"turnstile/draw"
	"turnstile/judge/section"
	"turnstile/judge/spacetime"
	"turnstile/nodes"
)

// The attributes of bars by what they show.
var (
	waits  = []string{"fill=" + draw.Dim}
	inside = []string{"fill=" + draw.Bad[1], "stroke=" + draw.Ink, "stroke-width=0.7"}
	leads  = []string{"fill=" + draw.Bad[2], "stroke=" + draw.Ink, "stroke-dasharray=4 2", "rx=3"}
)

// ofNode returns the attribute by which a page finds the bars of a node.
func ofNode(id nodes.ID) []string { return []string{fmt.Sprintf("data-node=%d", id)} }

// A barName is what is written on a bar, or beside it.
type barName struct {
	names     []string // the first that fits is written
	fill      string   // the attribute of the bar with its color
	beside    string   // written beside the beginning of the bar if no name fits; empty: nothing
	x, end, y float64
}

// bar draws a bar on the line of a node, half above and half below it. A time in which several nodes did what
// only one may do gets a rim.
func (d *drawing) bar(what spacetime.What, id nodes.ID, from, to int64, half float64, attrs []string,
	tip string, names ...string) {
	y, x, end := d.y(d.line(id)), d.scale.x(from), max(d.scale.x(from)+1.5, d.scale.x(to))
	for i := range d.Together {
		t := &d.Together[i]
		first, last := max(from, t.From), min(to, t.To)
		if t.What == what && slices.Contains(t.Nodes, id) && (first < last || first == last && t.From == t.To) {
			wide := max(3, d.scale.x(last)-d.scale.x(first))
			d.Rect(d.scale.x(first), y-half-4, wide, 2*half+8, "", "fill="+colorOf(t))
		}
	}
	d.Rect(x, y-half, end-x, 2*half, tip, append(ofNode(id), attrs...)...)
	d.Take(draw.Box{Left: x, Top: y - half, Right: end, Bottom: y + half})
	d.names = append(d.names, barName{names: names, fill: attrs[0], x: x, end: end, y: y})
}

// bars draws leadership and critical sections as thick bars, requests as thin ones.
func (d *drawing) bars() {
	for _, r := range d.Reigns {
		tip := fmt.Sprintf("node %d leads from %s to %s", r.Node, d.time(r.From), d.time(r.To))
		names := []string{"leads"}
		if r.Term > 0 {
			tip += fmt.Sprintf(" in term %d", r.Term)
			names = []string{fmt.Sprintf("leads, term %d", r.Term), fmt.Sprintf("term %d", r.Term), fmt.Sprint(r.Term)}
		}
		d.bar(spacetime.Leading, r.Node, r.From, r.To, d.half()+2, leads, tip, names...)
	}
	for i := range d.Sections {
		s := &d.Sections[i]
		tip, entered := fmt.Sprintf("node %d, entry %d: asked at %s", s.Node, s.Entry, d.time(s.Asked)), s.Ended
		if s.Served() {
			entered = s.Entered
			tip += fmt.Sprintf(", inside from %s to %s", d.time(s.Entered), d.time(s.Ended))
			if fence := d.fence(s); fence != "" {
				tip += " under " + fence
			}
			if s.Refused {
				tip += ", " + writeRefused
			}
		}
		if from, to := d.scale.x(s.Asked), d.scale.x(entered); to > from && s.Asked < d.Window.To {
			d.Rect(from, d.y(d.line(s.Node))-2.5, to-from, 5, tip, append(ofNode(s.Node), waits...)...)
		}
		if s.Served() && s.Entered <= d.Window.To && s.Ended >= d.Window.From {
			entry, fence := fmt.Sprintf("entry %d", s.Entry), d.fence(s)
			names := []string{entry, fmt.Sprint(s.Entry)}
			if fence != "" {
				names = []string{entry + ", " + fence, fence}
			}
			d.bar(spacetime.Inside, s.Node, s.Entered, s.Ended, d.half(), inside, tip, names...)
			if s.Entered >= d.Window.From {
				d.names[len(d.names)-1].beside = fence
			}
		}
	}
}

// fence names the fence number of an entry; empty: the resource demands none, or the entry has none.
func (d *drawing) fence(s *section.Section) string {
	if s.Fence == 0 || !d.Stack.Fenced(int32(s.Resource.Instance)) {
		return ""
	}
	return fmt.Sprintf("fence %d", s.Fence)
}

// nameBars writes the names of bars, with a rim of the color of the bar, since a bar may be hatched.
func (d *drawing) nameBars() {
	for _, b := range d.names {
		rim := strings.Replace(b.fill, "fill", "stroke", 1)
		if d.NameBar(b.names, b.x, b.end, b.y, rim, "stroke-width=4", "paint-order=stroke") || b.beside == "" {
			continue
		}
		half, away := draw.TextWidth(b.beside, labelSize)/2, d.half()+10
		d.Label(b.beside, labelSize, [2]float64{b.x + half, b.y - away}, [2]float64{b.x + half, b.y + away},
			[2]float64{b.x - half, b.y - away}, [2]float64{b.x - half, b.y + away})
	}
}

// pauses hatches the times in which a node stands still, whatever it was doing.
func (d *drawing) pauses() {
	for _, p := range d.Pauses {
		from, y := d.scale.x(p.From), d.y(d.line(nodes.ID(p.Process)))
		d.Rect(from, y-d.half(), max(2, d.scale.x(p.To)-from), 2*d.half(), "it stands still", draw.Hatch(draw.Dim))
	}
}
