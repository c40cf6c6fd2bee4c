package diagram

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"turnstile/draw"
	"turnstile/nodes"
	"turnstile/nodes/stall"
)

// A graph is a picture of the nodes of a wait-for graph, placed on a ring.
type graph struct {
	*draw.Picture
	ids    []nodes.ID
	circle map[[2]nodes.ID]bool // the edges that are part of a cycle
	radius float64
}

// Waits draws the wait-for graph in the report of a stall: an arrow from each waiting node to the node that
// it waits for; the arrows of a cycle are red. A dashed arrow points to the node that holds the permission of
// a third node.
func Waits(reports stall.Reports, title string) (string, error) {
	g := &graph{circle: map[[2]nodes.ID]bool{}}
	var waits []stall.Wait // one wait per pair of nodes, though it may be about several permissions
	for _, r := range reports {
		waits = append(waits, r.Waits...)
		for i := range r.Circle[min(1, len(r.Circle)):] {
			g.circle[[2]nodes.ID{r.Circle[i], r.Circle[i+1]}] = true
		}
	}
	slices.SortFunc(waits, func(a, b stall.Wait) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To), cmp.Compare(a.By, b.By))
	})
	waits = slices.CompactFunc(waits, func(a, b stall.Wait) bool { return a.From == b.From && a.To == b.To })
	var ids []nodes.ID
	for _, w := range waits {
		ids = append(ids, w.From, w.To)
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	switch {
	case len(ids) == 0:
		return "", errors.New("no node reports which node it waits for, so that no graph can be drawn")
	case len(ids) > mostNodes:
		return "", fmt.Errorf("%d nodes are too many for a readable picture, which has at most %d", len(ids),
			mostNodes)
	}
	g.ids, g.radius = ids, max(95, 20*float64(len(ids)))
	g.Picture = &draw.Picture{Width: max(2*g.radius+200, 440), Title: title}
	g.Heading(margin, margin-6, title)
	bottom := 2*g.radius + 100
	g.Within = draw.Box{Left: 2, Top: 2 * draw.Row, Right: g.Width - 2, Bottom: bottom}
	for i := range ids {
		x, y := g.at(i)
		g.Take(draw.Box{Left: x - diskRadius, Top: y - diskRadius, Right: x + diskRadius, Bottom: y + diskRadius})
	}
	g.draw(waits, reports[0])
	g.Height = math.Ceil(g.Remarks(margin, bottom, g.remarks(waits, reports)) + margin)
	return g.File(), nil
}

// at returns the place of the nth node.
func (g *graph) at(i int) (x, y float64) {
	sin, cos := math.Sincos(2*math.Pi*float64(i)/float64(len(g.ids)) - math.Pi/2)
	return g.Width/2 + g.radius*cos, 65 + g.radius + g.radius*sin
}

// draw draws the edges, with the edges of a cycle on top, then the nodes, and then the names of edges.
func (g *graph) draw(waits []stall.Wait, r stall.Report) {
	var says []string
	for _, red := range []bool{false, true} {
		for _, w := range waits {
			if g.circle[[2]nodes.ID{w.From, w.To}] == red {
				g.edge(w, red)
				says = append(says, told(w))
			}
		}
	}
	g.Description = strings.Join(says, "; ")
	for i, id := range g.ids {
		tip := fmt.Sprintf("node %d: %s", id, r.StateOf(id))
		x, y := g.at(i)
		g.Circle(x, y, diskRadius, tip, "fill="+draw.Ground, "stroke="+draw.Ink, "stroke-width=1.5")
		g.Text(x, y+4.5, fmt.Sprint(id), "text-anchor=middle", "font-weight=bold", "font-size=12")
	}
	for _, w := range waits {
		if w.By == nodes.None || w.By == w.To {
			continue
		}
		x1, y1, x2, y2, cx, cy := g.curve(w)
		var places [][2]float64
		for _, along := range []float64{0, 0.12, -0.12, 0.22, -0.22} {
			places = append(places, [2]float64{(x1+x2+2*cx)/4 + along*(x2-x1), (y1+y2+2*cy)/4 + along*(y2-y1)})
		}
		g.Label(fmt.Sprintf("has %d's", w.By), draw.TextSize, places...)
	}
}

// told describes a wait.
func told(w stall.Wait) string {
	text := fmt.Sprintf("node %d waits for node %d", w.From, w.To)
	if w.By != nodes.None {
		text += fmt.Sprintf(", which has the permission of node %d", w.By)
	}
	return text
}

// curve returns the ends of an edge and its control point. Edges bend, so that the edges of both directions
// between two nodes do not overlap.
func (g *graph) curve(w stall.Wait) (x1, y1, x2, y2, cx, cy float64) {
	x1, y1 = g.at(slices.Index(g.ids, w.From))
	x2, y2 = g.at(slices.Index(g.ids, w.To))
	const bend = 0.13
	return x1, y1, x2, y2, (x1+x2)/2 - bend*(y2-y1), (y1+y2)/2 + bend*(x2-x1)
}

// edge draws a wait, from the edge of one disk to the edge of the other.
func (g *graph) edge(w stall.Wait, red bool) {
	x1, y1, x2, y2, cx, cy := g.curve(w)
	color, thick, dash := draw.Looks[0].Color, "1.5", ""
	if red {
		color, thick = draw.Wrong, "3"
	}
	if w.By != nodes.None {
		dash = "6 3"
	}
	sx, sy := towards(x1, y1, cx, cy, diskRadius)
	ex, ey := towards(x2, y2, cx, cy, diskRadius+1)
	g.Path(draw.Points("M", sx, sy, "Q", cx, cy, ex, ey), told(w), "fill=none", "stroke="+color,
		"stroke-width="+thick, "stroke-dasharray="+dash)
	arrowhead(g.Picture, ex, ey, x2-cx, y2-cy, 11, color)
}

// towards returns the point at distance far from x, y on the way to toX, toY.
func towards(x, y, toX, toY, far float64) (float64, float64) {
	far /= max(1e-9, math.Hypot(toX-x, toY-y))
	return x + far*(toX-x), y + far*(toY-y)
}

// remarks returns the explanation of the arrows, which stands below the picture.
func (g *graph) remarks(waits []stall.Wait, reports stall.Reports) []string {
	lines := []string{"An arrow points to the node that another waits for."}
	if slices.ContainsFunc(waits, func(w stall.Wait) bool { return w.By != nodes.None }) {
		lines = append(lines, "Dashed: from a waiting node to the holder of the permission that it needs.")
	}
	if len(g.circle) > 0 {
		lines = append(lines, "Red: a cycle.")
	}
	for _, r := range reports {
		if more := r.LeftOut.Waits; more > 0 {
			lines = append(lines, fmt.Sprintf("Waits of other nodes, which the run did not keep: %d.", more))
		}
	}
	if g.Missing > 0 {
		lines = append(lines, fmt.Sprintf("Labels left out for lack of room: %d.", g.Missing))
	}
	return lines
}
