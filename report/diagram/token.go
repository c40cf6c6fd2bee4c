package diagram

import (
	"fmt"
	"slices"
	"strings"

	"turnstile/draw"
	"turnstile/internal/english"
	"turnstile/nodes"
)

// A token is what is known of the token that clients wait for.
type token struct {
	says    string // a sentence about it; empty: clients wait for no token
	waiting []nodes.ID
	holders []nodes.ID // the nodes that have it, or that may have it if silent is set
	silent  bool       // the holder does not answer, and was the last to enter
}

// findToken finds out where the token is. Without other waits, it adds an edge from each waiting node to the
// holder.
func (g *graph) findToken() (t token) {
	silent := 0
	for _, id := range g.listed() {
		switch s := g.state(id); {
		case s == nil:
			silent++
		case s.Token:
			t.holders = append(t.holders, id)
		case s.Client == nodes.Waiting.String():
			t.waiting = append(t.waiting, id)
		}
	}
	if len(t.waiting) == 0 || !g.Token && len(t.holders) == 0 {
		return token{}
	}
	last := ""
	if g.Last != nodes.None {
		last = fmt.Sprintf(" %s entered last.", capital(g.name(g.Last)))
	}
	switch {
	case len(t.holders) == 1:
		t.says = fmt.Sprintf("%s has the token.", capital(g.name(t.holders[0])))
	case len(t.holders) > 1:
		var names []string
		for _, id := range t.holders {
			names = append(names, g.name(id))
		}
		t.says = fmt.Sprintf("There are several tokens: %s have one each.", english.List(names))
	case g.report.LeftOut.Nodes > 0:
		t.says = "No node whose state the run kept has the token." + last
	case g.Last != nodes.None && g.state(g.Last) == nil:
		t.holders, t.silent = []nodes.ID{g.Last}, true
		t.says = fmt.Sprintf("No node that answers has the token. %s entered last, and does not answer.",
			capital(g.name(g.Last)))
	case silent > 0:
		t.says = "No node that answers has the token." + last
	default:
		t.says = "The token is lost: no node has it." + last
	}
	for _, from := range t.waiting {
		for _, to := range t.holders {
			if len(g.report.Waits) == 0 && from != to {
				g.edges = append(g.edges, edge{from: from, to: to})
			}
		}
	}
	return t
}

// capital returns a text with a capital first letter.
func capital(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// drawToken marks the holder of the token. If no node has it, it stands in the middle of the ring, and an
// arrow of each waiting node points to it.
func (g *graph) drawToken(t token) {
	if t.says == "" {
		return
	}
	const half = 9.0
	mark := func(x, y float64, lost bool) {
		attrs := []string{"fill=" + draw.Looks[1].Color, "stroke=" + draw.Ground, "stroke-width=2"}
		if lost {
			attrs = []string{"fill=" + draw.Ground, "stroke=" + draw.Wrong, "stroke-width=2", "stroke-dasharray=3 2"}
		}
		g.Path(draw.Points("M", x, y-half, "L", x+half, y, "L", x, y+half, "L", x-half, y, "Z"), t.says, attrs...)
		g.Take(draw.Box{Left: x - half, Top: y - half, Right: x + half, Bottom: y + half})
	}
	middle := g.top + g.radius
	for _, id := range t.holders {
		x, y := g.at(slices.Index(g.ids, id))
		x, y = towards(x, y, g.Width/2, middle, -diskRadius-half-3)
		mark(x, y, t.silent)
		g.Label("token"+map[bool]string{true: "?"}[t.silent], draw.TextSize, [2]float64{x + half + 20, y},
			[2]float64{x - half - 20, y}, [2]float64{x, y - half - 7}, [2]float64{x, y + half + 7})
	}
	if len(t.holders) > 0 {
		return
	}
	if len(g.report.Waits) == 0 {
		for _, id := range t.waiting {
			at := slices.Index(g.ids, id)
			if at < 0 {
				continue
			}
			x, y := g.at(at)
			sx, sy := towards(x, y, g.Width/2, middle, diskRadius)
			ex, ey := towards(g.Width/2, middle, x, y, half+22)
			g.Path(draw.Points("M", sx, sy, "L", ex, ey), g.name(id)+" waits for the token", "fill=none",
				"stroke="+draw.Looks[0].Color, "stroke-width=1.5")
			arrowhead(g.Picture, ex, ey, g.Width/2-x, middle-y, 11, draw.Looks[0].Color)
		}
	}
	mark(g.Width/2, middle, true)
	g.Label("no token", draw.TextSize, [2]float64{g.Width / 2, middle + half + 10},
		[2]float64{g.Width / 2, middle - half - 10})
}
