package draw

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"turnstile/internal/english"
	"turnstile/judge/leadership"
	"turnstile/nodes"
	"turnstile/results"
)

// The measures of ledgers.
const (
	ledgerWidth = 1000.0
	lanesLeft   = 76.0
	lanesRight  = ledgerWidth - 14
	mostTrials  = 8
	mostLanes   = 256
	mostRemarks = 6    // remarks about faults
	mostPieces  = 1100 // of all lanes: more would make a picture of more than about 300 KB
)

var stateWords = map[leadership.State]string{leadership.Leads: "leads",
	leadership.Follows: "follows a leader", leadership.KnowsNone: "knows of no leader",
	leadership.Stopped: "stands still", leadership.Down: "is down"}

// A ledger is a picture of the leaders over time while it is drawn.
type ledger struct {
	*Picture
	*results.Ledger
	time      Axis
	shown     []int   // the nodes that are drawn
	top, lane float64 // y of the first lane; height of a lane
	fine      float64 // what is narrower, in pixels, is merged
}

// A piece is a stretch of a node in the picture: a row, or several that are too narrow to be drawn.
type piece struct {
	*results.BeliefRow         // of several, the longest, or the longest that leads
	longest            float64 // its length
	span               results.Span
	changes            int // between the rows of the piece
}

// Ledger draws the leaders in the first trials of a run. Each node has a lane. A thick bar, with the number
// and term of the node, shows that the node leads. A thin bar in the color of another node shows that the
// node follows that other node. Above the lanes are the faults, and the times in which two nodes led.
func Ledger(run string, ledgers []*results.Ledger) *Picture {
	p := &Picture{Width: ledgerWidth, Title: "Who led: " + run}
	ledgers = ledgers[:min(mostTrials, len(ledgers))]
	for _, l := range ledgers {
		title := p.Title
		if len(ledgers) > 1 {
			title += fmt.Sprintf(", trial %d", l.Trial)
		}
		d := &ledger{Picture: p, Ledger: l, shown: l.Shown(mostLanes),
			time: Axis{At: RoundTicks(0, l.End, 15, 1e-6), Max: l.End + 1e-9, start: lanesLeft, end: lanesRight}}
		d.lane = max(4, min(24, 640/float64(max(1, len(d.shown)))))
		d.draw(title, d.pieces(mostPieces/len(ledgers)))
	}
	return p
}

func (d *ledger) x(at float64) float64 { return d.time.place(at) }

// pieces returns the pieces of the shown nodes, and merges until there are at most so many.
func (d *ledger) pieces(most int) (lanes [][]piece) {
	for d.fine = 1; ; d.fine *= 2 {
		count := 0
		lanes = nil
		for _, id := range d.shown {
			lanes = append(lanes, d.piecesOf(d.Lanes[id]))
			count += len(lanes[len(lanes)-1])
		}
		if count <= most || d.fine > ledgerWidth {
			return lanes
		}
	}
}

// piecesOf returns the pieces of a node. It joins rows that differ only in faults.
func (d *ledger) piecesOf(rows []results.BeliefRow) (all []piece) {
	for i := 0; i < len(rows); i++ {
		b, s := &rows[i], rows[i].Span()
		for ; i+1 < len(rows) && rows[i+1].State == b.State && rows[i+1].Leader == b.Leader &&
			rows[i+1].Term == b.Term; i++ {
			s.To = rows[i+1].Span().To
		}
		one := piece{b, s.To - s.From, s, 0}
		if len(all) == 0 || d.x(s.To)-d.x(all[len(all)-1].span.From) > d.fine {
			all = append(all, one)
			continue
		}
		into := &all[len(all)-1]
		into.span.To = s.To
		into.changes++
		leads, led := b.State == leadership.Leads, into.State == leadership.Leads
		if leads && !led || leads == led && one.longest > into.longest {
			into.BeliefRow, into.longest = b, one.longest
		}
	}
	return all
}

func (d *ledger) draw(title string, lanes [][]piece) {
	head := d.Heading(8, d.Height+4, title)
	bands := d.faults()
	high := d.lane * float64(len(d.shown))
	d.top = Row + d.Bands(bands, lanesLeft, ledgerWidth-4, head, Row+high)
	bottom := d.top + high
	d.together(bottom)
	for i, id := range d.shown {
		y := d.top + (float64(i)+0.5)*d.lane
		if d.lane >= 11 || i%int(math.Ceil(12/d.lane)) == 0 {
			d.Text(lanesLeft-6, y+4, fmt.Sprintf("node %d", id), "text-anchor=end")
		}
		for _, p := range lanes[i] {
			d.stretch(p, y)
		}
	}
	d.XAxis(lanesLeft, lanesRight, bottom, d.time.places())
	d.Description += fmt.Sprintf("%s: %s; two nodes led at once in %s. ", title, english.Count(len(d.Leaders),
		"leader", "leaders"), english.Count(len(d.TwoLead), "interval", "intervals"))
	d.Text(8, bottom+16, "seconds")
	d.Height = d.Legend(lanesLeft, bottom+Row+6, d.keys())
	d.Height = d.Remarks(lanesLeft, d.Height, d.remarks(bands)) + 8
}

// faults returns the bands of faults.
func (d *ledger) faults() (bands []Band) {
	for i := range d.Faults {
		f := &d.Faults[i]
		from, _ := f.FromS.Value()
		to, known := f.ToS.Value()
		if !known {
			to = d.End
		}
		s, number := results.Span{From: max(0, from), To: min(to, d.End)}, strconv.Itoa(f.Number)
		bands = append(bands, Band{From: d.x(s.From), To: d.x(s.To), Color: Fault,
			Names: []string{number + " " + f.Fault, number},
			Tip:   fmt.Sprintf("fault %s: %s, %s", number, f.Fault, during(s))})
	}
	return bands
}

// remarks explains the faults that the picture shows only by their numbers, and counts the nodes that it
// leaves out.
func (d *ledger) remarks(bands []Band) (lines []string) {
	var names []string
	numbers := map[string]nodes.Group{}
	for i, f := range d.Faults {
		if bands[i].Name == bands[i].Names[0] {
			continue
		}
		if numbers[f.Fault] == nil {
			names = append(names, f.Fault)
		}
		numbers[f.Fault] = append(numbers[f.Fault], nodes.ID(f.Number))
	}
	for _, name := range names[:min(mostRemarks, len(names))] {
		slices.Sort(numbers[name])
		lines = append(lines, fmt.Sprintf("fault %v: %s", numbers[name], name))
	}
	if len(names) > mostRemarks {
		lines = append(lines, "further faults are in "+results.FaultsFile)
	}
	if more := len(d.Lanes) - len(d.shown); more > 0 {
		lines = append(lines, fmt.Sprintf("%s only in %s", english.Count(more, "node is", "nodes are"),
			results.BeliefsFile))
	}
	return lines
}

// together marks the times in which two nodes led.
func (d *ledger) together(bottom float64) {
	for i := 0; i < len(d.TwoLead); i++ {
		t := d.TwoLead[i]
		for ; i+1 < len(d.TwoLead) && d.x(d.TwoLead[i+1].From)-d.x(t.To) < d.fine; i++ {
			t.To, t.Apart = d.TwoLead[i+1].To, t.Apart && d.TwoLead[i+1].Apart
		}
		words, color := d.twoLead(t.Apart)
		tip, x, wide := words+": "+during(t.Span), d.x(t.From), max(1, d.x(t.To)-d.x(t.From))
		d.Rect(x, d.top-Row+4, wide, Row-6, tip, "fill="+color)
		d.Rect(x, d.top, wide, bottom-d.top, tip, Hatch(color), "fill-opacity=0.5")
	}
	if len(d.TwoLead) == 0 {
		d.Text(lanesLeft+2, d.top-5, "never", "fill="+Dim)
	}
	d.Text(lanesLeft-6, d.top-5, "two lead", "text-anchor=end")
}

// twoLead returns words and a color for a time with two leaders. apart says that they lead in different
// terms.
func (d *ledger) twoLead(apart bool) (words, color string) {
	switch {
	case apart:
		return "two lead in different terms", Looks[1].Color
	case d.Terms:
		return "two lead in one term", Wrong
	}
	return "two lead", Wrong
}

// stretch draws a piece of a node, with the number of its leader, for readers who cannot tell colors apart.
func (d *ledger) stretch(b piece, y float64) {
	leader, known := b.Leader.Value()
	term, terms := b.Term.Value()
	says, color, ink := stateWords[b.State], Grid, Ink // in an anonymous network the leader has no known number
	var names []string
	if known {
		color, names = d.colorOf(int(leader)), []string{fmt.Sprint(leader)}
	}
	switch {
	case b.State == leadership.Leads:
		ink = Ground
	case b.State == leadership.Follows && known:
		says = fmt.Sprintf("follows node %v", leader)
	default:
		names = nil
	}
	if terms {
		says += fmt.Sprintf(" in term %v", term)
		if ink == Ground {
			names = append([]string{fmt.Sprintf("%v, term %v", leader, term),
				fmt.Sprintf("%v, t%v", leader, term)}, names...)
		}
	}
	if b.Side != "" {
		says += ", on the side of " + b.Side
	}
	if b.changes > 0 {
		how := map[bool]string{true: "and", false: "mostly"}[b.State == leadership.Leads]
		says = fmt.Sprintf("changes %s, %s %s", english.Count(b.changes, "time", "times"), how, says)
	}
	half, attrs := d.looks(b.State, color)
	x, end := d.x(b.span.From), max(d.x(b.span.To), d.x(b.span.From)+1)
	d.Rect(x, y-half, end-x, 2*half, fmt.Sprintf("node %d %s: %s", b.Node, says, during(b.span)), attrs...)
	if d.lane >= 11 {
		d.NameBar(names, x, end, y, "fill="+ink)
	}
}

// looks returns how the bar of a state looks: half its height, and its attributes.
func (d *ledger) looks(state leadership.State, color string) (half float64, attrs []string) {
	switch state {
	case leadership.Leads:
		return d.lane/2 - 1, []string{"fill=" + color}
	case leadership.Follows:
		return max(1, d.lane/8), []string{"fill=" + color, "fill-opacity=0.55"}
	case leadership.Stopped:
		return d.lane/2 - 1, []string{Hatch(Dim)}
	case leadership.Down:
		return d.lane/2 - 1, []string{"fill=" + Ink}
	}
	return max(1, d.lane/8), []string{"fill=" + Ground, "stroke=" + Dim, "stroke-width=0.5"}
}

// colorOf returns the color of a leader. Leaders beyond the number of colors share the last color.
func (d *ledger) colorOf(leader int) string {
	at := slices.Index(d.Leaders, leader)
	if at < 0 || at >= len(Looks) {
		at = len(Looks) - 1
	}
	return Looks[at].Color
}

// keys returns the legend of what is in the picture.
func (d *ledger) keys() (all Keys) {
	for i, id := range d.Leaders[:min(len(d.Leaders), len(Looks))] {
		text := fmt.Sprintf("node %d leads", id)
		if i == len(Looks)-1 && len(d.Leaders) > len(Looks) {
			text = "further nodes lead"
		}
		all.Add(true, text, d.Swatch(6, "fill="+d.colorOf(id)))
	}
	states := map[leadership.State]bool{}
	for _, id := range d.shown {
		for i := range d.Lanes[id] {
			states[d.Lanes[id][i].State] = true
		}
	}
	for _, state := range []leadership.State{leadership.Follows, leadership.KnowsNone, leadership.Stopped,
		leadership.Down} {
		half, attrs := d.looks(state, Dim)
		all.Add(states[state], strings.TrimPrefix(stateWords[state], "is "), d.Swatch(min(6, half), attrs...))
	}
	for _, apart := range []bool{false, true} {
		words, color := d.twoLead(apart)
		all.Add(slices.ContainsFunc(d.TwoLead, func(t results.Together) bool { return t.Apart == apart }), words,
			d.Swatch(6, Hatch(color), "fill-opacity=0.5"))
	}
	all.Add(len(d.Faults) > 0, "a fault", d.Swatch(6, "fill="+Fault))
	return all
}

// during prints a stretch of time, to a microsecond.
func during(s results.Span) string {
	print := func(s float64) string { return strconv.FormatFloat(math.Round(s*1e6)/1e6, 'f', -1, 64) }
	return print(s.From) + " s to " + print(s.To) + " s"
}
