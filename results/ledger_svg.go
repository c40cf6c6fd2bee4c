package results

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"turnstile/internal/svg"

	"turnstile/judge/leadership"
)

// The measures of a ledger's picture, in pixels.
const (
	pictureWidth = 1000.0
	pictureLeft  = 76.0 // of the lanes
	lanesWidth   = pictureWidth - pictureLeft - 14
	pictureLine  = 18.0 // of text
	faultHeight  = 15.0
	mostTrials   = 8
	mostLanes    = 256
	mostBands    = 4   // of faults that overlap
	mostRemarks  = 6   // about faults
	mostRunes    = 140 // of one
)

// leaderColors are those of leaders, in the order in which they first led; the last is for all that follow.
// Those of M. Okabe and K. Ito, and of P. Tol, can be told apart without seeing red or green; numbers on the
// stretches say the same, in the second color.
var leaderColors = [][2]string{{"#0072b2", light}, {"#e69f00", dark}, {"#009e73", light}, {"#cc79a7", dark},
	{"#56b4e9", dark}, {"#882255", light}, {"#999933", dark}, {"#332288", light}, {"#7f7f7f", light}}

const (
	twoColor   = "#c1121f" // two lead in one term, or have none
	apartColor = "#e08e00" // two lead, each in a term of its own
	faultColor = "#f6ecd0"
	light      = "#ffffff"
	dark       = "#1a1a1a"
)

// LedgerPicture returns the picture of the ledgers of a run, those of its first trials: see ledger.svg.
func LedgerPicture(run string, ledgers []*Ledger) string {
	height := 8.0
	for _, l := range ledgers[:min(mostTrials, len(ledgers))] {
		height += newDrawing(l).height() + 10
	}
	p := svg.New(pictureWidth, height)
	p.Hatch("two", twoColor, 6, 2)
	p.Hatch("apart", apartColor, 6, 2)
	p.Hatch("stopped", "#555555", 4, 1.5)
	top := 8.0
	for _, l := range ledgers[:min(mostTrials, len(ledgers))] {
		d := newDrawing(l)
		d.p, d.top = p, top
		title := "Who led: " + run
		if len(ledgers) > 1 {
			title += fmt.Sprintf(", trial %d", l.Trial)
		}
		d.draw(title)
		top += d.height() + 10
	}
	return p.String()
}

// A drawing is the picture of one ledger.
type drawing struct {
	*Ledger
	p     *svg.Picture
	top   float64
	shown []int   // nodes
	lane  float64 // its height
	bands []int   // of faults, from the top; -1: left out
	rows  int     // of bands
	// labels is up to where labels reach in each band.
	labels [mostBands]float64
}

func newDrawing(l *Ledger) *drawing {
	d := &drawing{Ledger: l, shown: l.Shown(mostLanes)}
	d.lane = max(4, min(24, 640/float64(max(1, len(d.shown)))))
	var ends []float64
	for i := range l.Faults {
		s := d.inForce(&l.Faults[i])
		band := slices.IndexFunc(ends, func(end float64) bool { return end <= s.From })
		switch {
		case band >= 0:
			ends[band] = s.To
		case len(ends) < mostBands:
			band, ends = len(ends), append(ends, s.To)
		}
		d.bands = append(d.bands, band)
	}
	d.rows = len(ends)
	return d
}

// inForce returns when a fault was.
func (d *drawing) inForce(f *FaultRow) Span {
	from, _ := f.FromS.Value()
	to, known := f.ToS.Value()
	if !known {
		to = d.End
	}
	return Span{max(0, from), min(to, d.End)}
}

// lanesTop returns where the lanes begin.
func (d *drawing) lanesTop() float64 {
	return d.top + pictureLine + float64(d.rows)*faultHeight + pictureLine
}

func (d *drawing) lanesEnd() float64 { return d.lanesTop() + d.lane*float64(len(d.shown)) }

func (d *drawing) height() float64 { return d.lanesEnd() - d.top + 2*pictureLine + d.legendHeight() }

func (d *drawing) x(at float64) float64 {
	if d.End == 0 {
		return pictureLeft
	}
	return pictureLeft + at/d.End*lanesWidth
}

func (d *drawing) draw(title string) {
	d.p.Text(8, d.top+13, title, "font-weight", "bold")
	for i := range d.Faults {
		d.fault(i)
	}
	color := twoColor
	if !slices.ContainsFunc(d.TwoLead, func(t Together) bool { return !t.Apart }) && len(d.TwoLead) > 0 {
		color = apartColor
	}
	d.p.Text(pictureLeft-6, d.lanesTop()-5, "two lead", "text-anchor", "end", "fill", color)
	if len(d.TwoLead) == 0 {
		d.p.Text(pictureLeft+2, d.lanesTop()-5, "never", "font-size", "11", "fill", "#555555")
	}
	for i, id := range d.shown {
		y := d.lanesTop() + float64(i)*d.lane
		if d.lane >= 11 || i%int(math.Ceil(12/d.lane)) == 0 {
			d.p.Text(pictureLeft-6, y+d.lane/2+4, fmt.Sprintf("node %d", id), "text-anchor", "end")
		}
		d.drawLane(d.Lanes[id], y)
	}
	d.drawTogether()
	for i, id := range d.shown {
		d.number(d.Lanes[id], d.lanesTop()+float64(i)*d.lane)
	}
	d.axis()
	d.legend()
}

// drawTogether marks when two led.
func (d *drawing) drawTogether() {
	for _, s := range d.TwoLead {
		tip, color, hatch := d.together(s.Apart), twoColor, "url(#two)"
		if s.Apart {
			color, hatch = apartColor, "url(#apart)"
		}
		tip += fmt.Sprintf(": %s s to %s s", places(s.From), places(s.To))
		width := max(1, d.x(s.To)-d.x(s.From))
		d.p.Rect(d.x(s.From), d.lanesTop()-pictureLine+4, width, pictureLine-6, tip, "fill", color)
		d.p.Rect(d.x(s.From), d.lanesTop(), width, d.lanesEnd()-d.lanesTop(), tip, "fill", hatch,
			"fill-opacity", "0.45")
	}
}

// together says in words that two lead, and whether terms tell them apart.
func (d *drawing) together(apart bool) string {
	switch {
	case apart:
		return "two lead in different terms"
	case d.HasTerms():
		return "two lead in one term"
	}
	return "two lead"
}

// fault shades the time of a fault, and names it above.
func (d *drawing) fault(i int) {
	if d.bands[i] < 0 {
		return
	}
	f := &d.Faults[i]
	s := d.inForce(f)
	x, width := d.x(s.From), max(1, d.x(s.To)-d.x(s.From))
	y := d.top + pictureLine + float64(d.bands[i])*faultHeight
	tip := fmt.Sprintf("fault %d: %s, %s s to %s s", f.Number, f.Fault, places(s.From), places(s.To))
	d.p.Rect(x, y, width, d.lanesEnd()-y, tip, "fill", faultColor, "fill-opacity", "0.7")
	text := strconv.Itoa(f.Number)
	if d.named(i) {
		text += " " + f.Fault
	}
	taken := &d.labels[d.bands[i]]
	if end := x + 2 + 6.5*float64(len(text)); x >= *taken && end <= pictureWidth {
		d.p.Text(x+2, y+11, text, "font-size", "11")
		*taken = end + 8
	}
}

// named reports whether there is room for what a fault is above its time.
func (d *drawing) named(i int) bool {
	f := &d.Faults[i]
	s := d.inForce(f)
	return float64(len(strconv.Itoa(f.Number))+1+len(f.Fault))*6 <= d.x(s.To)-d.x(s.From)
}

// stretches returns the rows of a node, those as one between which only faults began or ended.
func stretches(rows []BeliefRow) (all []BeliefRow) {
	for _, b := range rows {
		if last := len(all) - 1; last >= 0 && all[last].State == b.State && all[last].Leader == b.Leader &&
			all[last].Term == b.Term {
			all[last].ToS = b.ToS
			continue
		}
		all = append(all, b)
	}
	return all
}

// drawLane draws what one node believed.
func (d *drawing) drawLane(rows []BeliefRow, y float64) {
	right := -1.0
	for _, b := range stretches(rows) {
		s := b.Span()
		x, width := d.x(s.From), d.x(s.To)-d.x(s.From)
		if b.State == leadership.Leads {
			width = max(width, 1)
		}
		if math.Round(10*(x+width)) <= right { // too short to be seen
			continue
		}
		right = math.Round(10 * (x + width))
		d.stretch(&b, s, x, y, width)
	}
}

// number writes on the stretches of a node who leads in them and, of a leader, in which term, if there is
// room: not everybody can tell colors apart.
func (d *drawing) number(rows []BeliefRow, y float64) {
	if d.lane < 11 {
		return
	}
	for _, b := range stretches(rows) {
		leader, known := b.Leader.Value()
		text, s := strconv.Itoa(int(leader)), b.Span()
		if !known || 6*float64(len(text))+4 > d.x(s.To)-d.x(s.From) ||
			b.State != leadership.Leads && b.State != leadership.Follows {
			continue
		}
		color := dark
		if b.State == leadership.Leads {
			color = d.colors(int(leader))[1]
			if term, has := b.Term.Value(); has {
				long := fmt.Sprintf("%s, term %v", text, term)
				if short := fmt.Sprintf("%s, t%v", text, term); 6*float64(len(long))+4 <= d.x(s.To)-d.x(s.From) {
					text = long
				} else if 6*float64(len(short))+4 <= d.x(s.To)-d.x(s.From) {
					text = short
				}
			}
		}
		d.p.Text(d.x(s.From)+3, y+d.lane/2+3.5, text, "font-size", "10", "fill", color)
	}
}

// stretch draws a stretch of a node: a bar as high as the lane where it leads, a lower one where it follows.
func (d *drawing) stretch(b *BeliefRow, s Span, x, y, width float64) {
	tip := fmt.Sprintf("node %d %s: %s s to %s s", b.Node, d.says(b), places(s.From), places(s.To))
	leader, known := b.Leader.Value()
	color := "#cccccc" // somebody, in an anonymous network
	if known {
		color = d.colors(int(leader))[0]
	}
	inner := max(1, d.lane/8)
	switch b.State {
	case leadership.Leads:
		d.p.Rect(x, y+1, width, d.lane-2, tip, "fill", color)
	case leadership.Follows:
		d.p.Rect(x, y+d.lane/2-inner, width, 2*inner, tip, "fill", color, "fill-opacity", "0.55")
	case leadership.Stopped:
		d.p.Rect(x, y+1, width, d.lane-2, tip, "fill", "url(#stopped)")
	case leadership.Down:
		d.p.Rect(x, y+1, width, d.lane-2, tip, "fill", "#333333")
	default:
		d.p.Rect(x, y+d.lane/2-inner, width, 2*inner, tip, "fill", "#ffffff", "stroke", "#999999",
			"stroke-width", "0.5")
	}
}

// says says in words what a node was.
func (d *drawing) says(b *BeliefRow) string {
	leader, known := b.Leader.Value()
	says := map[leadership.State]string{leadership.Leads: "leads", leadership.Follows: "follows",
		leadership.KnowsNone: "knows of no leader",
		leadership.Stopped:   "stands still", leadership.Down: "is down"}[b.State]
	if b.State == leadership.Follows && known {
		says += fmt.Sprintf(" node %v", leader)
	}
	if term, known := b.Term.Value(); known {
		says += fmt.Sprintf(" in term %v", term)
	}
	if b.Side != "" {
		says += ", on the side of " + b.Side
	}
	return says
}

// colors returns the color of a leader, and of a text on it.
func (d *drawing) colors(leader int) [2]string {
	at := slices.Index(d.Leaders, leader)
	if at < 0 {
		at = len(leaderColors)
	}
	return leaderColors[min(at, len(leaderColors)-1)]
}

// axis draws the axis, with its labels in seconds.
func (d *drawing) axis() {
	y := d.lanesEnd()
	d.p.Line(pictureLeft, y, pictureLeft+lanesWidth, y, "stroke", "#000000")
	d.p.Text(8, y+15, "seconds")
	if d.End == 0 {
		return
	}
	step := math.Pow(10, math.Floor(math.Log10(d.End/10)))
	for i := 0; d.End/step > 15; i++ {
		step *= []float64{2, 2.5, 2}[i%3]
	}
	for k := 0; float64(k)*step <= d.End*(1+1e-9); k++ {
		x := d.x(float64(k) * step)
		d.p.Line(x, y, x, y+4, "stroke", "#000000")
		d.p.Text(x, y+15, places(float64(k)*step), "text-anchor", "middle")
	}
}

// places prints seconds, to a microsecond.
func places(s float64) string { return strconv.FormatFloat(math.Round(s*1e6)/1e6, 'f', -1, 64) }
