// Package diagram draws space-time diagrams of a part of a run, after L. Lamport ("Time, clocks, and the
// ordering of events in a distributed system", CACM 21(7), 1978): a line for each node, time to the right, an
// arrow for each message, and critical sections and leadership as bars on these lines. It also draws the
// wait-for graph of a stall.
package diagram

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"turnstile/draw"
	"turnstile/internal/english"
	"turnstile/judge/leadership"
	"turnstile/judge/section"
	"turnstile/judge/spacetime"
	"turnstile/nodes"
	"turnstile/nodes/history"
)

// Options are the options of a diagram.
type Options struct {
	Title  string
	Slide  bool       // the title is in letters for a slide
	Played bool       // times are steps of a schedule, drawn as a millisecond each
	Low    bool       // the lines of nodes are close together, for a place with little room
	Nodes  []nodes.ID // draw only these nodes and the messages between them; nil: all nodes
	// Heartbeats says to draw also the messages of failure detectors, and other heartbeats.
	Heartbeats bool
	// Instead says what to do if the picture would be too crowded to read; empty: choose a part of the run by
	// the flags of the command diagram.
	Instead string
	// Fault returns the name of the fault with a number; nil: faults have no names.
	Fault func(number uint32) string
}

// The most that a picture can hold and still be read.
const (
	mostArrows = 400
	mostNodes  = 60
	mostNamed  = 120 // bundles of arrows that have labels; with more bundles, only the legend shows kinds
)

// The measures of a picture, in pixels.
const (
	margin    = 12.0
	nodesLeft = 70.0 // where the lines of the nodes begin
	leastWide = 640.0
	mostWide  = 2400.0

	cross  = "m-5-5l10 10m-10 0l10-10"
	dotted = "stroke-dasharray=1 5"
)

// A drawing is one picture while it is drawn.
type drawing struct {
	*spacetime.Extract
	Options
	*draw.Picture
	messages []spacetime.Message // the messages to draw
	kinds    []uint8             // kinds of these messages, sorted
	scale    *scale
	top, row float64                // y of the first line; distance of lines
	hidden   int                    // number of heartbeats left out
	ways     map[[4]float64]float64 // by the ends of an arrow: how many arrows have these ends
	names    []barName
}

// Draw returns the picture of an extract. If it would be too crowded, the error names a part that can be
// drawn.
func Draw(x *spacetime.Extract, o Options) (string, error) {
	own := *x // restricted below to the nodes that are drawn
	d := &drawing{Extract: &own, Options: o, Picture: &draw.Picture{Title: o.Title},
		ways: map[[4]float64]float64{}}
	if d.Nodes == nil {
		for id := range nodes.ID(x.Stack.Total()) {
			d.Nodes = append(d.Nodes, id)
		}
	}
	out := func(id nodes.ID, from, to int64) bool {
		return d.line(id) < 0 || from > x.Window.To || to < x.Window.From
	}
	own.Sections = kept(x.Sections, func(s section.Section) bool { return out(s.Node, s.Asked, s.Ended) })
	own.Reigns = kept(x.Reigns, func(r leadership.Stretch) bool { return out(r.Node, r.From, r.To) })
	own.Deaths = kept(x.Deaths, func(x section.Death) bool { return out(x.Node, x.At, x.Back) })
	own.Pauses = kept(x.Pauses, func(p section.Pause) bool { return out(nodes.ID(p.Process), p.From, p.To) })
	own.Events = kept(x.Events, func(e history.Event) bool { return out(e.Node, e.At, e.At) || said(&e) == "" })
	own.Faults = kept(x.Faults, func(f section.Fault) bool { return out(d.Nodes[0], f.From, f.To) })
	for _, m := range x.Messages {
		switch {
		case d.line(m.From) < 0 || d.line(m.To) < 0:
		case !d.Heartbeats && x.Beats(&m):
			d.hidden++
		default:
			d.messages = append(d.messages, m)
		}
	}
	if err := d.check(); err != nil {
		return "", err
	}
	d.draw()
	return d.File(), nil
}

// kept returns the elements for which out is false.
func kept[T any](all []T, out func(T) bool) []T { return slices.DeleteFunc(slices.Clone(all), out) }

// line returns the index of the line of a node; -1: the node is not drawn.
func (d *drawing) line(id nodes.ID) int { return slices.Index(d.Nodes, id) }

// CheckNodes returns an error if a picture of so many nodes would be too crowded to read.
func CheckNodes(count int) error {
	if count <= mostNodes {
		return nil
	}
	return fmt.Errorf("%d nodes are too many for a readable picture, which has at most %d: choose some, such "+
		"as --nodes 0-5", count, mostNodes)
}

// check returns an error for a picture that would be too crowded to read.
func (d *drawing) check() error {
	if err := CheckNodes(len(d.Nodes)); err != nil {
		return err
	}
	if len(d.messages) <= mostArrows && !d.TooMany && len(d.Sections) <= 2*mostArrows {
		return nil
	}
	many := fmt.Sprintf("%s and %s are too many for a readable picture, which has at most %d of each",
		english.Count(len(d.messages), "message", "messages"),
		english.Count(len(d.Sections), "entry", "entries"), mostArrows)
	if d.Instead != "" {
		return fmt.Errorf("%s: %s", many, d.Instead)
	}
	some := "a shorter one"
	if from, to, found := d.window(mostArrows / 8); found {
		some = fmt.Sprintf("such as --from %v --to %v", time.Duration(from), time.Duration(to))
	}
	if d.First != nil {
		some += ", or --around violation"
	}
	if len(d.Nodes) > 3 {
		some += ", or some nodes, such as --nodes 0-2"
	}
	return fmt.Errorf("%s: choose a window, %s", many, some)
}

// window returns a part of the window that can be drawn; found is false if it finds none.
func (d *drawing) window(many int) (from, to int64, found bool) {
	var sent []int64
	for _, m := range d.messages {
		if m.Sent != spacetime.Unknown && m.Sent >= d.Complete && m.Sent <= d.Until {
			sent = append(sent, m.Sent)
		}
	}
	for ; many > 0 && len(sent) > 0; many /= 4 {
		for eighth := range 8 {
			first := eighth * len(sent) / 8
			from, to = sent[first], sent[min(first+many, len(sent)-1)]
			if later, _ := slices.BinarySearch(sent, from+1); to <= from && later < len(sent) {
				to = sent[later]
			}
			round := int64(1)
			for round*50 < to-from {
				round *= 10
			}
			if from, to = from/round*round, (to+round-1)/round*round; to > from && d.drawable(from, to) {
				return from, to, true
			}
		}
	}
	return 0, 0, false
}

// drawable reports whether the messages under way in a part of the window are few enough to draw.
func (d *drawing) drawable(from, to int64) bool {
	count := 0
	for i := range d.messages {
		m := &d.messages[i]
		if m.Sent <= to && (m.Fate == spacetime.Pending && m.Sent >= from || m.Over >= from) {
			count++
		}
	}
	return count <= mostArrows
}

// times returns the times of all events, limited to the window.
func (d *drawing) times() []int64 {
	all := []int64{d.Window.From, d.Window.To}
	for _, m := range d.messages {
		all = append(all, m.Sent, m.Over)
	}
	for _, s := range d.Sections {
		all = append(all, s.Asked, s.Entered, s.Ended)
	}
	for _, r := range d.Reigns {
		all = append(all, r.From, r.To)
	}
	for _, x := range d.Deaths {
		all = append(all, x.At, x.Back)
	}
	for at := d.Window.From / stepTime * stepTime; d.Played && at < d.Window.To; at += stepTime {
		all = append(all, at) // one time per step, so that all steps have the same length
	}
	for _, e := range d.Events {
		all = append(all, e.At)
	}
	for _, t := range d.Together {
		all = append(all, t.From, t.To)
	}
	for _, f := range d.Faults {
		all = append(all, f.From, f.To)
	}
	for i, at := range all { // an unknown time counts as the beginning of the window
		all[i] = max(d.Window.From, min(d.Window.To, at))
	}
	return all
}

// draw draws all, from the back to the front.
func (d *drawing) draw() {
	for _, m := range d.messages {
		d.kinds = append(d.kinds, m.Kind)
	}
	slices.Sort(d.kinds)
	d.kinds = slices.Compact(d.kinds)
	d.scale = newScale(d.times(), nodesLeft+14, leastWide, mostWide)
	d.Width = math.Ceil(d.scale.right() + margin + 10)
	most := 84.0
	if d.Low {
		most = 40
	}
	d.row = max(24, min(most, 420/float64(len(d.Nodes))))
	head := heading(d.Picture, d.Options.Title, d.Slide) + draw.Row
	d.Description = d.subtitle()
	d.Text(margin, head-5, d.Description, "fill="+draw.Dim)
	high := d.row * float64(len(d.Nodes))
	right := d.scale.right() + margin
	top := d.Bands(d.bands(), nodesLeft, right, head, high)
	bottom := top + high
	d.top = top + d.row/2
	d.Within = draw.Box{Left: nodesLeft, Top: top, Right: right, Bottom: bottom}
	d.lines()
	d.bars()
	d.pauses()
	var arrows []arrow
	for i := range d.messages {
		arrows = append(arrows, d.message(&d.messages[i]))
	}
	d.marks()
	d.nameBars()
	d.nameArrows(arrows)
	d.axis(bottom)
	end := d.Legend(margin, bottom+2*draw.Row, d.keys())
	d.Height = math.Ceil(d.Remarks(margin, end, d.remarks()) + margin - 4)
}

// heading writes the title of a picture, and returns the y at which the title ends.
func heading(p *draw.Picture, title string, slide bool) float64 {
	if slide {
		return p.SlideHeading(margin, margin-6, title)
	}
	return p.Heading(margin, margin-6, title)
}

// y returns where the nth line is.
func (d *drawing) y(line int) float64 { return d.top + float64(line)*d.row }

// half is half the height of the bar of a section.
func (d *drawing) half() float64 { return max(5, min(9, d.row/5)) }

// subtitle describes the window, and counts the messages and entries in the picture.
func (d *drawing) subtitle() string {
	what := english.Count(len(d.messages), "message", "messages")
	served := len(kept(d.Sections, func(s section.Section) bool { return !s.Served() }))
	if served > 0 {
		what += ", " + english.Count(served, "entry", "entries")
		if n, known := d.Inversions(); known {
			what += ", " + english.Count(n, "order inversion", "order inversions")
		}
	}
	if d.Played {
		first, last := max(1, d.Window.From/stepTime), min(d.lastStep(), d.Window.To/stepTime)
		return fmt.Sprintf("steps %d to %d: %s", first, last, what)
	}
	return fmt.Sprintf("%s to %s: %s", d.time(d.Window.From), d.time(d.Window.To), what)
}

// lastStep returns the number of the last step of a schedule, which ends a step later.
func (d *drawing) lastStep() int64 { return d.End/stepTime - 1 }

// time prints a time as the axis does, with its unit.
func (d *drawing) time(at int64) string {
	if d.Played {
		return fmt.Sprintf("step %d", at/stepTime)
	}
	return says(at)
}

// bands returns the bands that the picture shows with names: faults and violations.
func (d *drawing) bands() (bands []draw.Band) {
	add := func(from, to int64, name, color string) {
		if from <= d.Window.To && to >= d.Window.From {
			bands = append(bands, draw.Band{From: d.scale.x(from), To: d.scale.x(to), Names: []string{name},
				Color: color})
		}
	}
	for i := range d.Faults {
		f := &d.Faults[i]
		name := fmt.Sprintf("fault %d", f.Number)
		if d.Fault != nil {
			name += " " + d.Fault(f.Number)
		}
		add(f.From, f.To, name, draw.Fault)
	}
	all := d.Together
	if first := d.First; first != nil && first.What >= spacetime.Stalled {
		all = append(slices.Clip(all), *first)
	}
	for _, t := range all {
		name := map[spacetime.What]string{spacetime.Inside: "inside together", spacetime.Leading: "lead together",
			spacetime.Stalled: "stalled", spacetime.Observed: "violation observed"}[t.What]
		if ids := slices.Sorted(slices.Values(t.Nodes)); t.What <= spacetime.Leading {
			name += ": nodes " + listed(ids)
		} else if len(ids) > 0 {
			name += ": node " + listed(ids)
		}
		if t.May {
			name += " (which is allowed)"
		}
		add(t.From, t.To, name, colorOf(&t))
	}
	return bands
}

func listed(ids []nodes.ID) string {
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(ids), "[]"), " ", ", ")
}

// colorOf returns the color of a violation, or of an overlap that is allowed.
func colorOf(t *spacetime.Together) string {
	if t.May {
		return draw.Looks[1].Color
	}
	return draw.Wrong
}

// lines draws the line of each node: solid while the node runs, dotted while it is down. Labels are kept away
// from the lines.
func (d *drawing) lines() {
	from, to := d.scale.places[0], d.scale.right()
	for row, id := range d.Nodes {
		y := d.y(row)
		d.Take(draw.Box{Left: nodesLeft, Top: y - 3, Right: d.Width, Bottom: y + 3})
		name := "node"
		if int(id) >= d.Stack.N() {
			name = "server"
		}
		d.Text(nodesLeft, y+4, fmt.Sprintf("%s %d", name, id), "text-anchor=end")
		at := from
		for _, x := range d.Deaths {
			if down, back := d.scale.x(x.At), d.scale.x(x.Back); x.Node == id {
				d.Line(at, y, down, y, "stroke="+draw.Dim)
				d.Line(down, y, back, y, "stroke="+draw.Dim, dotted)
				at = back
			}
		}
		d.Line(at, y, to, y, "stroke="+draw.Dim)
	}
}

// said describes an event if in it a node suspects, trusts or campaigns; otherwise it returns "".
func said(e *history.Event) string {
	switch e.Kind {
	case history.Suspected:
		return fmt.Sprintf("suspects %d", e.Count)
	case history.Trusted:
		return fmt.Sprintf("trusts %d", e.Count)
	case history.Campaigned:
		return "campaigns"
	}
	return ""
}

// marks marks crashes, restarts, suspicions, campaigns and refused writes.
func (d *drawing) marks() {
	for _, x := range d.Deaths {
		d.mark(x.Node, x.At, "crash", "m-6-6l12 12m-12 0l12-12")
		if x.Back < math.MaxInt64 {
			d.mark(x.Node, x.Back, "restart", "m-4-6l10 6l-10 6z")
		}
	}
	for i := range d.Events {
		d.mark(d.Events[i].Node, d.Events[i].At, said(&d.Events[i]), "m0-7v14")
	}
	for i := range d.Sections {
		if s := &d.Sections[i]; s.Refused {
			d.mark(s.Node, s.Ended, writeRefused, noEntry, "fill="+draw.Ground, "stroke="+draw.Wrong)
		}
	}
}

// A refused write is marked by the sign for no entry: a circle with a slash.
const (
	writeRefused = "write refused"
	noEntry      = "m-7 0a7 7 0 1 0 14 0a7 7 0 1 0 -14 0m2-5l10 10"
)

// mark marks a moment of a node by a path that begins at its place, with a text. attrs replace the usual
// colors of the path.
func (d *drawing) mark(id nodes.ID, at int64, text, path string, attrs ...string) {
	if at < d.Window.From || at > d.Window.To {
		return
	}
	x, y := d.scale.x(at), d.y(d.line(id))
	if attrs == nil {
		attrs = []string{"fill=none", "stroke=" + draw.Ink}
	}
	d.Path(draw.Points("M", x, y)+path, text, append(attrs, "stroke-width=2.5")...)
	d.Take(draw.Box{Left: x - 7, Top: y - 7, Right: x + 7, Bottom: y + 7})
	wide := draw.TextWidth(text, draw.TextSize)/2 + 5
	d.Label(text, draw.TextSize, [2]float64{x + wide, y - 14}, [2]float64{x + wide, y + 14},
		[2]float64{x - wide, y - 14}, [2]float64{x - wide, y + 14}, [2]float64{x, y - 18}, [2]float64{x, y + 18})
}

const stepTime = int64(time.Millisecond)

// axis draws the axis of time.
func (d *drawing) axis(y float64) {
	name, ticks := "time", []draw.Tick(nil)
	if d.Played {
		name, ticks = "step", d.scale.steps(d.lastStep())
	} else {
		ticks = d.scale.ticks()
	}
	d.XAxis(d.scale.places[0], d.scale.right(), y, ticks)
	d.Text(margin, y+16, name, "fill="+draw.Dim)
	for _, i := range d.scale.cuts {
		x := (d.scale.places[i] + d.scale.places[i+1]) / 2
		d.Path(draw.Points("M", x, y)+"m-5 5l4-10m2 10l4-10", "", "stroke="+draw.Ink)
	}
}

// keys returns the legend of what is in the picture.
func (d *drawing) keys() (all draw.Keys) {
	for _, kind := range d.kinds {
		look := draw.LookOfMessage(int(kind))
		all.Add(true, d.Stack.Codec().Name(int(kind)), func(x, y float64) {
			d.Line(x, y, x+24, y, "stroke="+look.Color, "stroke-width=2", "stroke-dasharray="+look.Dash)
		})
	}
	has := func(fate spacetime.Fate) bool {
		return slices.ContainsFunc(d.messages, func(m spacetime.Message) bool { return m.Fate == fate })
	}
	all.Add(has(spacetime.Lost), "lost", func(x, y float64) {
		d.Path(draw.Points("M", x+12, y)+cross, "", "stroke="+draw.Ink, "stroke-width=2")
	})
	all.Add(has(spacetime.Pending), "not seen to arrive", func(x, y float64) {
		d.Circle(x+12, y, 3.5, "", "fill=none", "stroke="+draw.Ink, "stroke-width=1.5")
	})
	all.Add(len(d.Sections) > 0, "waits", d.Swatch(2.5, waits...))
	served := slices.ContainsFunc(d.Sections, func(s section.Section) bool { return s.Served() })
	all.Add(served, "inside", d.Swatch(6, inside...))
	refused := slices.ContainsFunc(d.Sections, func(s section.Section) bool {
		return s.Refused && s.Ended <= d.Window.To
	})
	all.Add(refused, writeRefused+", since a higher fence number has entered", func(x, y float64) {
		d.Path(draw.Points("M", x+12, y)+noEntry, "", "fill="+draw.Ground, "stroke="+draw.Wrong, "stroke-width=2")
	})
	all.Add(len(d.Reigns) > 0, "leads", d.Swatch(6, leads...))
	wrong := slices.ContainsFunc(d.Together, func(t spacetime.Together) bool { return !t.May })
	all.Add(wrong, "violation", d.Swatch(6, "fill="+draw.Wrong))
	all.Add(len(d.Deaths) > 0, "down", func(x, y float64) { d.Line(x, y, x+24, y, "stroke="+draw.Dim, dotted) })
	all.Add(len(d.Pauses) > 0, "stands still", d.Swatch(6, draw.Hatch(draw.Dim)))
	all.Add(len(d.Faults) > 0, "a fault", d.Swatch(6, "fill="+draw.Fault))
	return all
}

// remarks lists what the picture distorts or leaves out.
func (d *drawing) remarks() (lines []string) {
	say := func(is bool, words ...string) {
		if is {
			lines = append(lines, strings.Join(words, " "))
		}
	}
	say(len(d.scale.cuts) > 0, "Time is not to scale:", english.Count(len(d.scale.cuts), "stretch is drawn",
		"stretches are drawn"), "shorter than the others, marked //.")
	const more = "are not all known: bench --trace keeps them."
	say(d.Complete > d.Window.From, "Messages before", says(d.Complete), more)
	say(d.Until < d.Window.To, "Messages after", says(d.Until), more)
	left := d.Stack.Total() - len(d.Nodes)
	say(left > 0, english.Count(left, "node", "nodes"), "and the messages from and to them are left out.")
	hint := " (--heartbeats draws them)"
	if d.Instead != "" {
		hint = ""
	}
	say(d.hidden > 0, english.Count(d.hidden, "message of failure detectors is",
		"messages of failure detectors are"), "left out"+hint+".")
	say(d.Missing > 0, english.Count(d.Missing, "label", "labels"), "left out for lack of room.")
	return lines
}
