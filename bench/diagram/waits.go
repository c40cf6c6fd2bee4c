package diagram

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"turnstile/internal/svg"
	"turnstile/nodes"
	"turnstile/nodes/stall"
)

// Waits returns the picture of who waits for whom, as the report of a stall tells it: an arrow from who waits
// to whom it waits for, those of a circle in red. A dashed one says that what it waits for is the permission
// of a third node, which is lent to the other.
func Waits(report, title string) (string, error) {
	waits, circle, states, err := stall.Graph(report)
	if err != nil {
		return "", err
	}
	var ids []nodes.ID
	for _, w := range waits {
		ids = append(ids, w.From, w.To)
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	switch {
	case len(ids) == 0:
		return "", errors.New("nobody says for whom it waits: there is nothing to draw")
	case len(ids) > mostNodes:
		return "", fmt.Errorf("a picture of %d nodes could not be read: it holds %d", len(ids), mostNodes)
	}
	g := newGraph(ids, title)
	g.circle = circle
	waits = g.joined(waits)
	for _, again := range []bool{false, true} { // what is in the circle lies above the rest
		for _, w := range waits {
			if g.inCircle(w) == again {
				g.edge(w)
			}
		}
	}
	for i, id := range g.ids {
		says := ""
		if int(id) < len(states) {
			says = fmt.Sprintf("node %d: %s", id, states[id])
		}
		x, y := g.at(i)
		g.disk(x, y, says)
		g.p.Text(x, y+4.5, fmt.Sprint(id), "text-anchor", "middle", "font-weight", "bold")
	}
	g.nameEdges()
	g.legend(waits)
	return g.p.String(), nil
}

// A graph is a picture of nodes in a ring.
type graph struct {
	labels
	p              *svg.Picture
	ids            []nodes.ID
	circle         []nodes.ID
	middle, radius float64
	height         float64
	names          []edgeName
}

// An edgeName is the text of an edge, and the places where it may stand.
type edgeName struct {
	text   string
	places [][2]float64
}

const diskRadius = 15.0

func newGraph(ids []nodes.ID, title string) *graph {
	g := &graph{ids: ids, radius: max(95, 20*float64(len(ids)))}
	width := max(2*g.radius+200, boldWidth*widthOf(title, 14)+2*margin)
	g.middle, g.height = width/2, 2*g.radius+180
	g.p = svg.New(math.Ceil(width), math.Ceil(g.height))
	g.p.Style(rules())
	g.p.Text(margin, margin+13, title, "font-weight", "bold", "font-size", "14")
	g.within = box{2, margin + textLine, width - 2, g.height - 4*textLine}
	for i := range ids {
		x, y := g.at(i)
		g.take(box{x - diskRadius, y - diskRadius, x + diskRadius, y + diskRadius})
	}
	return g
}

// at returns where the nth node is.
func (g *graph) at(i int) (x, y float64) {
	angle := 2*math.Pi*float64(i)/float64(len(g.ids)) - math.Pi/2
	return g.middle + g.radius*math.Cos(angle), 85 + g.radius + g.radius*math.Sin(angle) - 20
}

// joined returns an edge for each two nodes: of several permissions that are lent, the lowest.
func (g *graph) joined(waits []stall.Wait) []stall.Wait {
	waits = slices.Clone(waits)
	slices.SortFunc(waits, func(a, b stall.Wait) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To), cmp.Compare(a.By, b.By))
	})
	return slices.CompactFunc(waits, func(a, b stall.Wait) bool { return a.From == b.From && a.To == b.To })
}

// inCircle reports whether an edge is one of the circle.
func (g *graph) inCircle(w stall.Wait) bool {
	for i := 1; i < len(g.circle); i++ {
		if g.circle[i-1] == w.From && g.circle[i] == w.To {
			return true
		}
	}
	return false
}

// edge draws who waits for whom, a little bent, so that two ways are told apart.
func (g *graph) edge(w stall.Wait) {
	x1, y1 := g.at(slices.Index(g.ids, w.From))
	x2, y2 := g.at(slices.Index(g.ids, w.To))
	long := math.Hypot(x2-x1, y2-y1)
	dx, dy := (x2-x1)/long, (y2-y1)/long
	bend := 0.13 * long
	cx, cy := (x1+x2)/2-bend*dy, (y1+y2)/2+bend*dx
	// From edge to edge of the disks, along the curve's ends.
	sx, sy := towards(x1, y1, cx, cy, diskRadius)
	ex, ey := towards(x2, y2, cx, cy, diskRadius+1)
	line, head, thick := "k0", "h0", "1.5"
	if g.inCircle(w) {
		line, head, thick = "wrongline", "wrong", "3"
	}
	tip, dash := fmt.Sprintf("node %d waits for node %d", w.From, w.To), ""
	if w.By != nodes.None {
		tip += fmt.Sprintf(", which has the permission of node %d", w.By)
		dash = "6 3"
		if w.By != w.To {
			mx, my := (x1+x2)/2-bend/2*dy, (y1+y2)/2+bend/2*dx
			var places [][2]float64
			for _, along := range []float64{0, 0.12, -0.12, 0.22, -0.22} {
				places = append(places, [2]float64{mx + along*(x2-x1), my + along*(y2-y1)})
			}
			g.names = append(g.names, edgeName{fmt.Sprintf("has %d's", w.By), places})
		}
	}
	g.p.Path(svg.Points("M", sx, sy, "Q", cx, cy, ex, ey), tip, "class", line, "stroke-width", thick,
		"stroke-dasharray", dash)
	hx, hy := unit(cx-x2, cy-y2)
	bx, by := ex+11*hx, ey+11*hy
	g.p.Path(svg.Points("M", ex, ey, "L", bx-5*hy, by+5*hx, "L", bx+5*hy, by-5*hx, "Z"), "", "class", head,
		"style", "fill-opacity:1")
}

func unit(x, y float64) (float64, float64) {
	long := max(1e-9, math.Hypot(x, y))
	return x / long, y / long
}

// towards returns the place that is so far from one on the way to another.
func towards(x, y, toX, toY, far float64) (float64, float64) {
	dx, dy := unit(toX-x, toY-y)
	return x + far*dx, y + far*dy
}

// disk draws a node.
func (g *graph) disk(x, y float64, tip string) {
	g.p.Path(svg.Points("M", x-diskRadius, y, "A", diskRadius, diskRadius, 0, 1, 1, x+diskRadius, y, "A",
		diskRadius, diskRadius, 0, 1, 1, x-diskRadius, y, "Z"), tip, "class", "node", "stroke-width", "1.5")
}

func (g *graph) nameEdges() {
	for _, n := range g.names {
		if x, y, ok := g.put(n.text, small, n.places...); ok {
			g.p.Text(x, y+4, n.text, "font-size", fmt.Sprint(small), "text-anchor", "middle", "class", "halo")
		}
	}
}

// legend says below the picture what its arrows are.
func (g *graph) legend(waits []stall.Wait) {
	lines := []string{"An arrow points to whom a node waits for."}
	if slices.ContainsFunc(waits, func(w stall.Wait) bool { return w.By != nodes.None }) {
		lines = append(lines, "Dashed: to who has the permission it lacks.")
	}
	if len(g.circle) > 0 {
		lines = append(lines, "Red: they wait in a circle.")
	}
	if g.leftOut > 0 {
		lines = append(lines, fmt.Sprintf("Labels for which there was no room: %d.", g.leftOut))
	}
	for i, line := range lines {
		g.p.Text(margin, g.height-margin-textLine*float64(len(lines)-1-i), line, "font-size", fmt.Sprint(small),
			"class", "dim")
	}
}
