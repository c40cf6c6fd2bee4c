package results

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"turnstile/internal/svg"
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
	mostBands    = 4 // of faults that overlap
)

// leaderColors are those of leaders, in the order in which they first led; the last is for all that follow.
var leaderColors = []string{"#1f77b4", "#ff7f0e", "#2ca02c", "#9467bd", "#8c564b", "#17becf", "#bcbd22",
	"#e377c2", "#7f7f7f"}

const (
	twoColor   = "#d62728"
	faultColor = "#f3e3b3"
)

// LedgerPicture returns the picture of the ledgers of a run, those of its first trials: see ledger.svg.
func LedgerPicture(run string, ledgers []*Ledger) string {
	height := 8.0
	for _, l := range ledgers[:min(mostTrials, len(ledgers))] {
		height += newDrawing(l).height() + 10
	}
	p := svg.New(pictureWidth, height)
	p.Hatch("two", twoColor, 6, 2)
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
	d.p.Text(pictureLeft-6, d.lanesTop()-5, "two lead", "text-anchor", "end", "fill", twoColor)
	for i, id := range d.shown {
		y := d.lanesTop() + float64(i)*d.lane
		if d.lane >= 11 || i%int(math.Ceil(12/d.lane)) == 0 {
			d.p.Text(pictureLeft-6, y+d.lane/2+4, fmt.Sprintf("node %d", id), "text-anchor", "end")
		}
		d.drawLane(d.Lanes[id], y)
	}
	for _, s := range d.TwoLead {
		tip := fmt.Sprintf("two lead: %s s to %s s", places(s.From), places(s.To))
		width := max(1, d.x(s.To)-d.x(s.From))
		d.p.Rect(d.x(s.From), d.lanesTop()-pictureLine+4, width, pictureLine-6, tip, "fill", twoColor)
		d.p.Rect(d.x(s.From), d.lanesTop(), width, d.lanesEnd()-d.lanesTop(), tip, "fill", "url(#two)",
			"fill-opacity", "0.45")
	}
	d.axis()
	d.legend()
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
	d.p.Rect(x, y, width, d.lanesEnd()-y, tip, "fill", faultColor, "fill-opacity", "0.6")
	text := fmt.Sprintf("%d %s", f.Number, f.Fault)
	if float64(len(text))*6 > width {
		text = strconv.Itoa(f.Number)
	}
	d.p.Text(x+2, y+11, text, "font-size", "11")
}

// drawLane draws what one node believed.
func (d *drawing) drawLane(rows []BeliefRow, y float64) {
	right := -1.0
	for i := 0; i < len(rows); {
		b := rows[i]
		from, to := b.Span().From, b.Span().To
		for i++; i < len(rows) && rows[i].State == b.State && rows[i].Leader == b.Leader &&
			rows[i].Term == b.Term; i++ { // only faults began or ended
			to = rows[i].Span().To
		}
		x, width := d.x(from), d.x(to)-d.x(from)
		if b.State == Leads {
			width = max(width, 1)
		}
		if math.Round(10*(x+width)) <= right { // too short to be seen
			continue
		}
		right = math.Round(10 * (x + width))
		d.stretch(&b, Span{from, to}, x, y, width)
	}
}

// stretch draws a stretch of a node: a bar as high as the lane where it leads, a lower one where it follows.
func (d *drawing) stretch(b *BeliefRow, s Span, x, y, width float64) {
	tip := fmt.Sprintf("node %d %s: %s s to %s s", b.Node, d.says(b), places(s.From), places(s.To))
	leader, known := b.Leader.Value()
	color := "#cccccc" // somebody, in an anonymous network
	if known {
		color = d.color(int(leader))
	}
	inner := max(1, d.lane/8)
	switch b.State {
	case Leads:
		d.p.Rect(x, y+1, width, d.lane-2, tip, "fill", color)
	case Follows:
		d.p.Rect(x, y+d.lane/2-inner, width, 2*inner, tip, "fill", color, "fill-opacity", "0.55")
	case Stopped:
		d.p.Rect(x, y+1, width, d.lane-2, tip, "fill", "url(#stopped)")
	case Down:
		d.p.Rect(x, y+1, width, d.lane-2, tip, "fill", "#333333")
	default:
		d.p.Rect(x, y+d.lane/2-inner, width, 2*inner, tip, "fill", "#ffffff", "stroke", "#999999",
			"stroke-width", "0.5")
	}
}

// says says in words what a node was.
func (d *drawing) says(b *BeliefRow) string {
	leader, known := b.Leader.Value()
	says := map[string]string{Leads: "leads", Follows: "follows", KnowsNone: "knows of no leader",
		Stopped: "stands still", Down: "is down"}[b.State]
	if b.State == Follows && known {
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

func (d *drawing) color(leader int) string {
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
	d.p.Text(pictureLeft-6, y+15, "seconds", "text-anchor", "end")
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

// An item of the legend is a box and a text.
type item struct {
	text  string
	attrs []string
	low   bool // the box is a low bar
}

func (d *drawing) items() (all []item) {
	for i, id := range d.Leaders {
		if i == len(leaderColors)-1 && len(d.Leaders) > len(leaderColors) {
			all = append(all, item{"further nodes lead", []string{"fill", leaderColors[i]}, false})
			break
		}
		all = append(all, item{fmt.Sprintf("node %d leads", id), []string{"fill", leaderColors[i]}, false})
	}
	return append(all,
		item{"follows that leader", []string{"fill", "#777777", "fill-opacity", "0.55"}, true},
		item{"knows of no leader", []string{"fill", "#ffffff", "stroke", "#999999", "stroke-width", "0.5"}, true},
		item{"stands still", []string{"fill", "url(#stopped)"}, false},
		item{"down", []string{"fill", "#333333"}, false},
		item{"two lead", []string{"fill", "url(#two)", "fill-opacity", "0.45"}, false},
		item{"a fault", []string{"fill", faultColor, "fill-opacity", "0.6"}, false})
}

const legendColumns = 6

func (d *drawing) legendHeight() float64 {
	rows := (len(d.items()) + legendColumns - 1) / legendColumns
	if d.leftOut() != "" {
		rows++
	}
	return float64(rows) * pictureLine
}

// leftOut says what is not in the picture.
func (d *drawing) leftOut() string {
	var says []string
	if more := len(d.Lanes) - len(d.shown); more > 0 {
		says = append(says, fmt.Sprintf("%d nodes more are in %s", more, BeliefsFile))
	}
	if slices.Contains(d.bands, -1) {
		says = append(says, fmt.Sprintf("some faults are in %s alone", FaultsFile))
	}
	return strings.Join(says, "; ")
}

func (d *drawing) legend() {
	y := d.lanesEnd() + 2*pictureLine
	for i, item := range d.items() {
		x := pictureLeft + float64(i%legendColumns)*lanesWidth/legendColumns
		top, height := y+float64(i/legendColumns)*pictureLine, 12.0
		if item.low {
			d.p.Rect(x, top+4, 16, 4, "", item.attrs...)
		} else {
			d.p.Rect(x, top, 16, height, "", item.attrs...)
		}
		d.p.Text(x+21, top+10, item.text, "font-size", "11")
	}
	if says := d.leftOut(); says != "" {
		d.p.Text(pictureLeft, d.top+d.height()-6, says, "font-size", "11")
	}
}
