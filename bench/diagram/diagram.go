// Package diagram draws what happened in a part of a run as L. Lamport did ("Time, clocks, and the ordering
// of events in a distributed system", CACM 21(7), 1978): a line for each node, time to the right, an arrow
// for each message; critical sections and leadership as bars on these lines. It draws who waits for whom as
// well.
package diagram

import (
	"fmt"
	"math"
	"slices"
	"time"

	"turnstile/internal/english"
	"turnstile/internal/svg"
	"turnstile/judge/section"
	"turnstile/judge/spacetime"
	"turnstile/nodes"
	"turnstile/nodes/history"
)

// Options say how an extract is drawn.
type Options struct {
	Title  string
	Played bool       // times are steps of a schedule, a millisecond each
	Nodes  []nodes.ID // only these and what passed between them; nil: all
	// Heartbeats says that messages of failure detectors are drawn, and others that only say that a node is up.
	Heartbeats bool
	// Fault names a fault by its number; nil: they have no names.
	Fault func(number uint32) string
}

// What a picture holds at most, so that it can be read.
const (
	mostArrows = 400
	mostNodes  = 60
)

// The measures of a picture, in pixels.
const (
	margin    = 12.0
	nodesLeft = 70.0 // of the lines of the nodes
	leastWide = 640.0
	mostWide  = 2400.0
	textLine  = 18.0
	small     = 11.0 // font
)

// A drawing is one picture while it is drawn.
type drawing struct {
	*spacetime.Extract
	Options
	p        *svg.Picture
	messages []spacetime.Message // that are drawn
	kinds    []uint8             // of these, in their order
	scale    *scale
	top, row float64 // of the first line; from one to the next
	width    float64
	titles   []string // lines
	bands    []band
	hidden   int // heartbeats
	remarked int // lines of remarks
	labels
}

// Draw returns the picture of an extract. The error says why it would be too large, and which part would not.
func Draw(x *spacetime.Extract, o Options) (string, error) {
	d := &drawing{Extract: x, Options: o}
	if d.Nodes == nil {
		for id := range nodes.ID(x.Stack.Total()) {
			d.Nodes = append(d.Nodes, id)
		}
	}
	for _, m := range x.Messages {
		switch {
		case d.row0(m.From) < 0 || d.row0(m.To) < 0:
		case !d.Heartbeats && d.beats(&m):
			d.hidden++
		default:
			d.messages = append(d.messages, m)
		}
	}
	if err := d.check(); err != nil {
		return "", err
	}
	d.layout()
	banded := d.labels
	d.draw() // only then it is known which labels are left out, and so how much there is to remark
	remarks := len(d.remarks())
	d.labels = banded
	d.remarked = remarks
	d.draw()
	return d.p.String(), nil
}

// beats reports whether a message is one of a failure detector, or only says that its sender is up.
func (d *drawing) beats(m *spacetime.Message) bool {
	return d.Stack.Codec().Kind(int(m.Kind)).Heartbeat ||
		d.Stack.Instances()[m.Instance].Kind == nodes.Detection && m.Instance > 0
}

// row0 returns which line is that of a node; -1: it has none.
func (d *drawing) row0(id nodes.ID) int { return slices.Index(d.Nodes, id) }

// check refuses what nobody could read.
func (d *drawing) check() error {
	if len(d.Nodes) > mostNodes {
		return fmt.Errorf("a picture of %d nodes could not be read: it holds %d; choose some, such as --nodes 0-5",
			len(d.Nodes), mostNodes)
	}
	if len(d.messages) <= mostArrows && !d.TooMany && len(d.Sections) <= 2*mostArrows {
		return nil
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
	return fmt.Errorf("a picture of %s and %s could not be read: it holds %d of each; choose a window, %s",
		english.Count(len(d.messages), "message", "messages"),
		english.Count(len(d.Sections), "entry", "entries"), mostArrows, some)
}

// window returns a part of the window that can be drawn, if it finds one.
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

// drawable reports whether a part of the window can be drawn.
func (d *drawing) drawable(from, to int64) bool {
	messages, sections := 0, 0
	for i := range d.messages {
		m := &d.messages[i]
		if m.Sent <= to && (m.Fate == spacetime.Pending && m.Sent >= from || m.Over >= from) {
			messages++
		}
	}
	for i := range d.Sections {
		if s := &d.Sections[i]; s.Asked <= to && s.Ended >= from {
			sections++
		}
	}
	return messages <= mostArrows && sections <= 2*mostArrows
}

// in returns a time, or the end of the window that is nearest to it.
func (d *drawing) in(at int64) int64 { return max(d.Window.From, min(d.Window.To, at)) }

// layout works out where all goes.
func (d *drawing) layout() {
	times := []int64{d.Window.From, d.Window.To}
	add := func(all ...int64) {
		for _, at := range all {
			times = append(times, d.in(at))
		}
	}
	for _, m := range d.messages {
		if m.Sent != spacetime.Unknown {
			add(m.Sent)
		}
		if m.Fate != spacetime.Pending {
			add(m.Over)
		}
		if !slices.Contains(d.kinds, m.Kind) {
			d.kinds = append(d.kinds, m.Kind)
		}
	}
	slices.Sort(d.kinds)
	for i := range d.Sections {
		if s := &d.Sections[i]; d.row0(s.Node) >= 0 {
			add(s.Asked, s.Ended)
			if s.Served() {
				add(s.Entered)
			}
		}
	}
	for _, r := range d.Reigns {
		add(r.From, r.To)
	}
	for _, x := range d.Deaths {
		add(x.At, x.Back)
	}
	for at := d.Window.From / stepTime * stepTime; d.Played && at < d.Window.To; at += stepTime {
		add(at) // so that all steps have the same length
	}
	for _, e := range d.Events {
		if e.Kind == history.Suspected || e.Kind == history.Trusted || e.Kind == history.Campaigned {
			add(e.At)
		}
	}
	for _, t := range d.Together {
		add(t.From, t.To)
	}
	for _, f := range d.Faults {
		add(f.From, f.To)
	}
	d.scale = newScale(times, nodesLeft+14, leastWide, mostWide)
	d.width = d.scale.right() + margin + 10
	d.titles = wrapped(d.Title, d.width-2*margin)
	d.row = max(24, min(84, 420/float64(len(d.Nodes))))
	d.findBands()
	d.top = d.headEnd() + float64(d.bandLines())*textLine + d.row/2
	d.within = box{nodesLeft, d.top - d.row/2, d.scale.right() + margin, d.y(len(d.Nodes)-1) + d.row/2}
}

// headEnd is where the title and what stands below it end.
func (d *drawing) headEnd() float64 { return margin + float64(len(d.titles)+1)*textLine }

// y returns where the line of a row is.
func (d *drawing) y(row int) float64 { return d.top + float64(row)*d.row }

// bottom is where the lines end and the axis begins.
func (d *drawing) bottom() float64 { return d.y(len(d.Nodes)-1) + d.row/2 }

// bar is half the height of the bar of a section.
func (d *drawing) bar() float64 { return max(5, min(9, d.row/5)) }

// draw draws all.
func (d *drawing) draw() {
	height := d.bottom() + 2*textLine + 8 + float64(d.legendLines()+d.remarked)*textLine
	d.p = svg.New(math.Ceil(d.width), math.Ceil(height))
	d.p.Style(rules())
	for row := range d.Nodes { // no label lies on the line of a node
		d.take(box{nodesLeft, d.y(row) - 3, d.width, d.y(row) + 3})
	}
	d.p.Hatch("stopped", "#888888", 5, 1.5)
	for i, line := range d.titles {
		d.p.Text(margin, margin+13+float64(i)*textLine, line, "font-weight", "bold", "font-size", "14")
	}
	d.p.Text(margin, d.headEnd()-textLine+13, d.subtitle(), "class", "dim")
	d.drawBands()
	d.drawLines()
	d.drawReigns()
	for i := range d.Sections {
		d.drawSection(&d.Sections[i])
	}
	d.drawTogether()
	d.nameBars()
	var arrows []arrow
	for i := range d.messages {
		arrows = append(arrows, d.drawMessage(&d.messages[i], d.before(i)))
	}
	d.drawMarks()
	d.nameArrows(arrows)
	d.axis()
	d.legend()
}

// subtitle says what is in the picture.
func (d *drawing) subtitle() string {
	what := english.Count(len(d.messages), "message", "messages")
	served := 0
	for i := range d.Sections {
		if d.Sections[i].Served() && d.row0(d.Sections[i].Node) >= 0 {
			served++
		}
	}
	if served > 0 {
		what += ", " + english.Count(served, "entry", "entries")
		if n, known := d.Inversions(); known {
			what += ", " + english.Count(n, "order inversion", "order inversions")
		}
	}
	if d.Played {
		return fmt.Sprintf("steps %d to %d: %s", d.Window.From/int64(time.Millisecond),
			d.Window.To/int64(time.Millisecond), what)
	}
	return fmt.Sprintf("%s to %s: %s", says(d.Window.From), says(d.Window.To), what)
}

// drawSection draws a request as a thin bar, and the critical section as a thick one.
func (d *drawing) drawSection(s *section.Section) {
	row := d.row0(s.Node)
	if row < 0 {
		return
	}
	y, entered := d.y(row), s.Ended
	if s.Served() {
		entered = s.Entered
	}
	tip := fmt.Sprintf("node %d, entry %d: asked at %s", s.Node, s.Entry, d.time(s.Asked))
	if s.Served() {
		tip += fmt.Sprintf(", inside from %s to %s", d.time(s.Entered), d.time(s.Ended))
	}
	from, at, to := d.scale.x(s.Asked), d.scale.x(entered), d.scale.x(s.Ended)
	if at > from && s.Asked < d.Window.To {
		d.p.Rect(from, y-2.5, at-from, 5, tip, "class", "wait")
	}
	if !s.Served() || s.Entered > d.Window.To || s.Ended < d.Window.From {
		return
	}
	half := d.bar()
	d.p.Rect(at, y-half, max(1.5, to-at), 2*half, tip, "class", "in", "stroke-width", "0.7")
	d.take(box{at, y - half, max(at+1.5, to), y + half})
}

// nameBars writes the numbers of entries, and the terms of leaders, on their bars, where these are long
// enough.
func (d *drawing) nameBars() {
	name := func(id nodes.ID, from, to float64, texts ...string) {
		for _, text := range texts {
			if widthOf(text, small)+6 <= to-from {
				d.p.Text((from+to)/2, d.y(d.row0(id))+4, text, "font-size", fmt.Sprint(small), "text-anchor", "middle")
				return
			}
		}
	}
	for i := range d.Sections {
		if s := &d.Sections[i]; s.Served() && d.row0(s.Node) >= 0 {
			name(s.Node, d.scale.x(s.Entered), d.scale.x(s.Ended), fmt.Sprintf("entry %d", s.Entry),
				fmt.Sprint(s.Entry))
		}
	}
	for _, r := range d.Reigns {
		switch {
		case d.row0(r.Node) < 0:
		case r.Term == 0:
			name(r.Node, d.scale.x(r.From), d.scale.x(r.To), "leads")
		default:
			name(r.Node, d.scale.x(r.From), d.scale.x(r.To), fmt.Sprintf("leads, term %d", r.Term),
				fmt.Sprintf("term %d", r.Term), fmt.Sprint(r.Term))
		}
	}
}

// time prints a time as the axis does, with its unit.
func (d *drawing) time(at int64) string {
	if d.Played {
		return fmt.Sprintf("step %d", at/int64(time.Millisecond))
	}
	return says(at)
}

// drawReigns draws when nodes led.
func (d *drawing) drawReigns() {
	for _, r := range d.Reigns {
		row := d.row0(r.Node)
		if row < 0 {
			continue
		}
		y, half := d.y(row), d.bar()+2
		from, to := d.scale.x(r.From), d.scale.x(r.To)
		tip := fmt.Sprintf("node %d leads from %s to %s", r.Node, d.time(r.From), d.time(r.To))
		if r.Term > 0 {
			tip += fmt.Sprintf(" in term %d", r.Term)
		}
		d.p.Rect(from, y-half, max(1.5, to-from), 2*half, tip, "class", "lead", "stroke-width", "1",
			"stroke-dasharray", "4 2", "rx", "3")
		d.take(box{from, y - half, max(from+1.5, to), y + half})
	}
}
