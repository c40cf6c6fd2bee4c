package diagram

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"turnstile/draw"
	"turnstile/internal/english"
	"turnstile/nodes"
	"turnstile/nodes/stall"
)

// WaitOptions are the options of a picture of who waits for whom.
type WaitOptions struct {
	Title string
	Slide bool // the title is in letters for a slide
	// Permission is the word for what a node lends to another, such as vote.
	Permission string
	// Token says that clients wait for a token. Last is the node whose client was the last to enter, or
	// nodes.None.
	Token bool
	Last  nodes.ID
	Cut   Cut
}

// A Cut is a cut that was in force while the clients waited; its zero value: there was none.
type Cut struct {
	What  string       // describes the cut
	Sides [][]nodes.ID // a node on no side reached all
}

// side returns the number of the side of a node, from 0; -1: it is on no side.
func (c *Cut) side(id nodes.ID) int {
	return slices.IndexFunc(c.Sides, func(side []nodes.ID) bool { return slices.Contains(side, id) })
}

// An edge is a wait of a node for another. By are the nodes whose permission the other has and the node
// lacks; empty: the node waits for what the other does.
type edge struct {
	from, to nodes.ID
	by       []nodes.ID
}

// A graph is a picture of the nodes of a wait-for graph, placed on a ring.
type graph struct {
	*draw.Picture
	WaitOptions
	report stall.Report // of the first instance, for the states of nodes
	ids    []nodes.ID
	edges  []edge
	circle map[[2]nodes.ID]bool // the edges that are part of a cycle
	radius float64
	top    float64 // y of the top of the ring
	hidden int     // how many nodes are left out, since there are too many
	// unsaid are, by holder, the nodes whose permissions it holds, as far as the ring has no room to say so.
	unsaid map[nodes.ID][]nodes.ID
}

// The measures of a wait-for graph.
const (
	diskRadius = 15.0
	mostIdle   = 16  // of so many nodes, all are drawn, also if they wait for nobody
	aroundRing = 115 // room for labels left and right of the ring
)

// Waits draws the wait-for graph in the report of a stall: an arrow from each waiting node to the node that
// it waits for; the arrows of a cycle are red. A dashed arrow points to the node that holds the permission of
// a third node. If clients wait for a token, the picture says where it is.
func Waits(reports stall.Reports, o WaitOptions) (string, error) {
	g := &graph{WaitOptions: o, report: reports[0], circle: map[[2]nodes.ID]bool{},
		unsaid: map[nodes.ID][]nodes.ID{}}
	for _, r := range reports {
		for i := range r.Circle[min(1, len(r.Circle)):] {
			g.circle[[2]nodes.ID{r.Circle[i], r.Circle[i+1]}] = true
		}
	}
	g.edges = edgesOf(reports)
	token := g.findToken()
	if len(g.edges) == 0 && token.says == "" {
		return "", errors.New("no node reports which node it waits for, so that no graph can be drawn")
	}
	g.choose(len(reports) == 1)
	g.radius = max(110, 20*float64(len(g.ids)))
	g.Picture = &draw.Picture{Width: max(2*(g.radius+aroundRing), 520), Title: o.Title}
	head := heading(g.Picture, o.Title, o.Slide)
	for _, line := range draw.Wrapped(token.says, (g.Width-2*margin)/1.15, draw.TextSize) {
		head += draw.Row
		g.Text(margin, head-5, line)
	}
	g.top = head + 2*draw.Row + diskRadius
	bottom := g.top + 2*g.radius + diskRadius + 2*draw.Row
	g.Within = draw.Box{Left: 2, Top: head, Right: g.Width - 2, Bottom: bottom}
	for i := range g.ids {
		x, y := g.at(i)
		g.Take(draw.Box{Left: x - diskRadius, Top: y - diskRadius, Right: x + diskRadius, Bottom: y + diskRadius})
	}
	g.draw(token)
	end := g.Legend(margin, bottom+4, g.keys())
	g.Height = math.Ceil(g.Remarks(margin, end, g.remarks(reports)) + margin)
	return g.File(), nil
}

// edgesOf returns the edges of the waits in reports, in order, one for each pair of nodes.
func edgesOf(reports stall.Reports) (edges []edge) {
	var waits []stall.Wait
	for _, r := range reports {
		waits = append(waits, r.Waits...)
	}
	slices.SortFunc(waits, func(a, b stall.Wait) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To), cmp.Compare(a.By, b.By))
	})
	for _, w := range waits {
		if last := len(edges) - 1; last < 0 || edges[last].from != w.From || edges[last].to != w.To {
			edges = append(edges, edge{from: w.From, to: w.To})
		}
		if e := &edges[len(edges)-1]; w.By != nodes.None && !slices.Contains(e.by, w.By) {
			e.by = append(e.by, w.By)
		}
	}
	return edges
}

// choose chooses the nodes that the picture shows, side by side of the cut: all, if they are few and there is
// one report, and otherwise the nodes that wait or are waited for. Of too many, it leaves out some that no
// other waits for.
func (g *graph) choose(one bool) {
	var ids []nodes.ID
	add := func(more ...nodes.ID) {
		for _, id := range more {
			if !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
	}
	for _, e := range g.edges {
		add(e.to)
	}
	if g.Last != nodes.None && g.Token {
		add(g.Last)
	}
	for _, e := range g.edges {
		add(e.from)
	}
	for _, e := range g.edges {
		add(e.by...)
	}
	if one && len(g.report.States)+g.report.LeftOut.Nodes <= mostIdle || len(g.edges) == 0 {
		add(g.listed()...)
	}
	g.hidden = max(0, len(ids)-mostNodes)
	g.ids = ids[:min(mostNodes, len(ids))]
	slices.SortFunc(g.ids, func(a, b nodes.ID) int {
		return cmp.Or(cmp.Compare(g.Cut.side(a), g.Cut.side(b)), cmp.Compare(a, b))
	})
	g.edges = slices.DeleteFunc(g.edges, func(e edge) bool {
		return !slices.Contains(g.ids, e.from) || !slices.Contains(g.ids, e.to)
	})
}

// listed returns the nodes that the report lists.
func (g *graph) listed() []nodes.ID {
	if len(g.report.Nodes) > 0 {
		return g.report.Nodes
	}
	var ids []nodes.ID
	for id := range g.report.States {
		ids = append(ids, nodes.ID(id))
	}
	return ids
}

// state returns the state of a node; nil: it did not answer, or the report leaves it out.
func (g *graph) state(id nodes.ID) *nodes.NodeStatus {
	if at := slices.Index(g.listed(), id); at >= 0 {
		return g.report.States[at]
	}
	return nil
}

// at returns the place of the nth node.
func (g *graph) at(i int) (x, y float64) {
	sin, cos := math.Sincos(2*math.Pi*float64(i)/float64(len(g.ids)) - math.Pi/2)
	return g.Width/2 + g.radius*cos, g.top + g.radius + g.radius*sin
}

// draw draws the edges, with the edges of a cycle on top, then the nodes, and then the names of edges.
func (g *graph) draw(t token) {
	says := []string{t.says}
	g.drawToken(t)
	for _, red := range []bool{false, true} {
		for _, e := range g.edges {
			if g.red(e) == red {
				g.edge(e, red)
				says = append(says, g.told(e))
			}
		}
	}
	g.Description = strings.Trim(strings.Join(says, "; "), "; ")
	for i, id := range g.ids {
		x, y := g.at(i)
		fill, ink := draw.Ground, draw.Ink
		if side := g.Cut.side(id); side >= 0 {
			fill, ink = sideColor(side), draw.Ground
		}
		g.Circle(x, y, diskRadius, fmt.Sprintf("%s: %s", g.name(id), g.report.StateOf(id)),
			append(g.rim(id), "fill="+fill)...)
		g.Text(x, y+4.5, fmt.Sprint(id), "text-anchor=middle", "font-weight=bold", "font-size=12", "fill="+ink)
	}
	g.nameEdges()
}

// sideColor returns the color of a side of a cut. No side has the color of arrows.
func sideColor(side int) string { return draw.Looks[(2+side)%len(draw.Looks)].Color }

// The rims of nodes.
var (
	waitingRim = []string{"stroke=" + draw.Ink, "stroke-width=3"}
	idleRim    = []string{"stroke=" + draw.Dim, "stroke-width=1"}
	silentRim  = []string{"stroke=" + draw.Ink, "stroke-width=1.5", "stroke-dasharray=3 3"}
)

// rim returns the attributes of the rim of a node, by its state.
func (g *graph) rim(id nodes.ID) []string {
	switch s := g.state(id); {
	case s == nil:
		return slices.Clone(silentRim)
	case s.Client == nodes.Waiting.String():
		return slices.Clone(waitingRim)
	}
	return slices.Clone(idleRim)
}

// nameEdges writes beside an edge which permissions its end holds, once for each holder and permission. Of
// more edges than can be read, it names those of a cycle.
func (g *graph) nameEdges() {
	const most = 8
	var named []edge // an edge for each text
	said := map[string]bool{}
	for _, red := range []bool{true, false} {
		for _, e := range g.edges {
			if text := g.holds(e); g.red(e) == red && text != "" && !said[text] {
				said[text] = true
				named = append(named, e)
			}
		}
	}
	for _, e := range named {
		if len(named) > most && !g.red(e) || !g.nameEdge(e) {
			g.unsaid[e.to] = append(g.unsaid[e.to], e.by...)
		}
	}
}

// nameEdge writes beside an edge which permissions its end holds, and reports whether there is room.
func (g *graph) nameEdge(e edge) bool {
	x1, y1, x2, y2, cx, cy := g.curve(e)
	ways := []float64{0, 0.3, -0.3} // how far from the curve, as a share of its bend
	if math.Hypot(x2-x1, y2-y1) < 170 {
		ways = []float64{0.6, -0.6, 0.9, -0.9, 0} // a label would hide a short edge
	}
	var places [][2]float64
	for _, away := range ways {
		for _, along := range []float64{0, 0.12, -0.12, 0.22, -0.22} {
			x, y := (x1+x2+2*cx)/4+along*(x2-x1), (y1+y2+2*cy)/4+along*(y2-y1)
			places = append(places, [2]float64{x + away*(2*cx-x1-x2), y + away*(2*cy-y1-y2)})
		}
	}
	return g.Label(strings.Join(english.Wrap(g.holds(e), 16), "\n"), draw.TextSize, places...)
}

// name names a node: node 0, or server 5.
func (g *graph) name(id nodes.ID) string {
	if int(id) < g.report.Clients {
		return fmt.Sprintf("node %d", id)
	}
	return fmt.Sprintf("server %d", id)
}

// holds says which permissions the end of an edge holds; empty: the edge is about none.
func (g *graph) holds(e edge) string {
	switch what := cmp.Or(g.Permission, "permission"); {
	case len(e.by) == 0:
		return ""
	case len(e.by) == 1 && e.by[0] == e.to:
		return fmt.Sprintf("%s holds its own %s", g.name(e.to), what)
	case len(e.by) == 1:
		return fmt.Sprintf("%s holds the %s of %s", g.name(e.to), what, g.name(e.by[0]))
	default:
		var of []string
		for _, id := range e.by {
			if of = append(of, g.name(id)); id == e.to {
				of[len(of)-1] = "itself"
			}
		}
		return fmt.Sprintf("%s holds the %ss of %s", g.name(e.to), what, english.List(of))
	}
}

// told describes a wait.
func (g *graph) told(e edge) string {
	text := fmt.Sprintf("%s waits for %s", g.name(e.from), g.name(e.to))
	if holds := g.holds(e); holds != "" {
		text += ": " + holds
	}
	return text
}

// red reports whether an edge is part of a cycle.
func (g *graph) red(e edge) bool { return g.circle[[2]nodes.ID{e.from, e.to}] }

// curve returns the ends of an edge and its control point. Edges bend, so that the edges of both directions
// between two nodes do not overlap.
func (g *graph) curve(e edge) (x1, y1, x2, y2, cx, cy float64) {
	x1, y1 = g.at(slices.Index(g.ids, e.from))
	x2, y2 = g.at(slices.Index(g.ids, e.to))
	const bend = 0.22
	return x1, y1, x2, y2, (x1+x2)/2 - bend*(y2-y1), (y1+y2)/2 + bend*(x2-x1)
}

// edge draws a wait, from the edge of one disk to the edge of the other.
func (g *graph) edge(e edge, red bool) {
	x1, y1, x2, y2, cx, cy := g.curve(e)
	color, thick, dash := draw.Looks[0].Color, "1.5", ""
	if red {
		color, thick = draw.Wrong, "3"
	}
	if len(e.by) > 0 {
		dash = "6 3"
	}
	sx, sy := towards(x1, y1, cx, cy, diskRadius)
	ex, ey := towards(x2, y2, cx, cy, diskRadius+1)
	g.Path(draw.Points("M", sx, sy, "Q", cx, cy, ex, ey), g.told(e), "fill=none", "stroke="+color,
		"stroke-width="+thick, "stroke-dasharray="+dash)
	arrowhead(g.Picture, ex, ey, x2-cx, y2-cy, 11, color)
}

// towards returns the point at distance far from x, y on the way to toX, toY.
func towards(x, y, toX, toY, far float64) (float64, float64) {
	far /= max(1e-9, math.Hypot(toX-x, toY-y))
	return x + far*(toX-x), y + far*(toY-y)
}

// keys returns the legend: the states of nodes, and the sides of the cut.
func (g *graph) keys() (all draw.Keys) {
	disk := func(attrs ...string) func(x, y float64) {
		return func(x, y float64) { g.Circle(x+12, y, 6, "", attrs...) }
	}
	for _, k := range []struct {
		name string
		rim  []string
	}{{"waits", waitingRim}, {"does not wait", idleRim}, {"does not answer", silentRim}} {
		has := slices.ContainsFunc(g.ids, func(id nodes.ID) bool { return slices.Equal(g.rim(id), k.rim) })
		all.Add(has, k.name, disk(append(slices.Clone(k.rim), "fill="+draw.Ground)...))
	}
	for i, side := range g.Cut.Sides {
		all.Add(true, "a side of the cut: nodes "+listed(side), disk("fill="+sideColor(i)))
	}
	return all
}

// remarks returns the explanation of the arrows, which stands below the picture.
func (g *graph) remarks(reports stall.Reports) (lines []string) {
	say := func(is bool, words ...string) {
		if is {
			lines = append(lines, strings.Join(words, " "))
		}
	}
	say(len(g.edges) > 0, "An arrow points to the node that another waits for.")
	dashed := slices.ContainsFunc(g.edges, func(e edge) bool { return len(e.by) > 0 })
	say(dashed, "Dashed: it points to the node that holds the", cmp.Or(g.Permission, "permission"),
		"which the other needs.")
	say(len(g.circle) > 0, "Red: a cycle.")
	say(len(g.Cut.Sides) > 0, "While they waited, this cut was in force:", g.Cut.What+".")
	say(g.hidden > 0, fmt.Sprintf("Nodes left out, since there are too many to read: %d.", g.hidden))
	for _, r := range reports {
		say(r.LeftOut.Nodes > 0, fmt.Sprintf("Nodes whose states the run did not keep: %d.", r.LeftOut.Nodes))
		more := r.LeftOut.Waits
		say(more > 0, fmt.Sprintf("Waits of other nodes, which the run did not keep: %d.", more))
	}
	const most = 12
	holders := slices.Sorted(maps.Keys(g.unsaid))
	for _, to := range holders[:min(most, len(holders))] {
		slices.Sort(g.unsaid[to])
		say(true, capital(g.holds(edge{to: to, by: slices.Compact(g.unsaid[to])}))+".")
	}
	say(len(holders) > most, fmt.Sprintf("So do further nodes: %d.", len(holders)-most))
	return lines
}
