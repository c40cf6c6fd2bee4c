package draw

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"turnstile/chaos/effect"
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
	mostRemarks = 6 // about faults
)

var stateWords = map[leadership.State]string{leadership.Leads: "leads", leadership.Follows: "follows",
	leadership.KnowsNone: "knows of no leader", leadership.Stopped: "stands still", leadership.Down: "is down"}

// A ledger is one that is being drawn.
type ledger struct {
	*Picture
	*results.Ledger
	shown     []int   // nodes
	top, lane float64 // of the lanes; height of one
}

// Ledger draws who led in the first trials of a run: a lane for each node, with a bar where it leads, which
// has its number and term, and a thin one where it follows, in the color of that leader; above the lanes
// faults, and when two led.
func Ledger(run string, ledgers []*results.Ledger) *Picture {
	p := &Picture{Width: ledgerWidth, Title: "Who led: " + run}
	for _, l := range ledgers[:min(mostTrials, len(ledgers))] {
		title := p.Title
		if len(ledgers) > 1 {
			title += fmt.Sprintf(", trial %d", l.Trial)
		}
		d := &ledger{Picture: p, Ledger: l, shown: l.Shown(mostLanes)}
		d.lane = max(4, min(24, 640/float64(max(1, len(d.shown)))))
		d.draw(title)
	}
	return p
}

func (d *ledger) x(at float64) float64 {
	if d.End == 0 {
		return lanesLeft
	}
	return lanesLeft + at/d.End*(lanesRight-lanesLeft)
}

func (d *ledger) draw(title string) {
	head := d.Heading(8, d.Height+4, title)
	bands := d.faults()
	d.top = head + float64(PlaceBands(bands, lanesLeft, ledgerWidth-4)+1)*Row
	bottom := d.top + d.lane*float64(len(d.shown))
	d.Bands(bands, head, bottom)
	d.together(bottom)
	for i, id := range d.shown {
		y := d.top + float64(i)*d.lane
		if d.lane >= 11 || i%int(math.Ceil(12/d.lane)) == 0 {
			d.Text(lanesLeft-6, y+d.lane/2+4, fmt.Sprintf("node %d", id), "text-anchor=end")
		}
		d.node(d.Lanes[id], y)
	}
	var ticks []Tick
	for _, t := range RoundTicks(0, d.End, 15, 0) {
		ticks = append(ticks, Tick{d.x(t.At), t.Label})
	}
	d.XAxis(lanesLeft, lanesRight, bottom, ticks)
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

// remarks say what the faults are that only a number stands for, and which nodes are missing.
func (d *ledger) remarks(bands []Band) (lines []string) {
	var names []string
	numbers := map[string]effect.Group{}
	for i, f := range d.Faults {
		if bands[i].Named() {
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
		lines = append(lines, fmt.Sprintf("%s in %s alone", english.Count(more, "node is", "nodes are"),
			results.BeliefsFile))
	}
	return lines
}

// together marks when two led.
func (d *ledger) together(bottom float64) {
	color := Wrong
	if len(d.TwoLead) == 0 {
		d.Text(lanesLeft+2, d.top-5, "never", "fill="+Dim)
	} else if !slices.ContainsFunc(d.TwoLead, func(t results.Together) bool { return !t.Apart }) {
		color = colorOf(true)
	}
	d.Text(lanesLeft-6, d.top-5, "two lead", "text-anchor=end", "fill="+color)
	for _, t := range d.TwoLead {
		tip, color, wide := d.says(t.Apart)+": "+during(t.Span), colorOf(t.Apart), max(1, d.x(t.To)-d.x(t.From))
		d.Rect(d.x(t.From), d.top-Row+4, wide, Row-6, tip, "fill="+color)
		d.Rect(d.x(t.From), d.top, wide, bottom-d.top, tip, d.Hatch(color), "fill-opacity=0.5")
	}
}

// colorOf returns the color of two leaders: terms tell them apart, or do not.
func colorOf(apart bool) string {
	if apart {
		return Looks[1].Color
	}
	return Wrong
}

// says says in words that two lead, and whether terms tell them apart.
func (d *ledger) says(apart bool) string {
	switch {
	case apart:
		return "two lead in different terms"
	case d.Terms:
		return "two lead in one term"
	}
	return "two lead"
}

// node draws what one node believed. Rows between which only faults began or ended are one stretch.
func (d *ledger) node(rows []results.BeliefRow, y float64) {
	right := -1.0
	for i := 0; i < len(rows); i++ {
		b, s := &rows[i], rows[i].Span()
		for ; i+1 < len(rows) && rows[i+1].State == b.State && rows[i+1].Leader == b.Leader &&
			rows[i+1].Term == b.Term; i++ {
			s.To = rows[i+1].Span().To
		}
		x, wide := d.x(s.From), d.x(s.To)-d.x(s.From)
		if b.State == leadership.Leads {
			wide = max(wide, 1)
		}
		if end := math.Round(10 * (x + wide)); end > right { // otherwise it is too short to be seen
			d.stretch(b, s, x, y, wide)
			right = end
		}
	}
}

// stretch draws a stretch of a node, with the number of its leader: not everybody can tell colors apart.
func (d *ledger) stretch(b *results.BeliefRow, s results.Span, x, y, wide float64) {
	leader, known := b.Leader.Value()
	words, color := stateWords[b.State], Grid // somebody, in an anonymous network
	if known {
		color = d.colorOf(int(leader))
	}
	var names []string
	term, terms := b.Term.Value()
	if b.State == leadership.Follows && known {
		words += fmt.Sprintf(" node %v", leader)
		names = []string{fmt.Sprint(leader)}
	} else if b.State == leadership.Leads {
		names = []string{fmt.Sprint(b.Node)}
	}
	if terms {
		words += fmt.Sprintf(" in term %v", term)
		if b.State == leadership.Leads {
			names = []string{fmt.Sprintf("%d, term %v", b.Node, term), fmt.Sprintf("%d, t%v", b.Node, term), names[0]}
		}
	}
	if b.Side != "" {
		words += ", on the side of " + b.Side
	}
	half, attrs := d.looks(b.State, color)
	d.Rect(x, y+d.lane/2-half, wide, 2*half, fmt.Sprintf("node %d %s: %s", b.Node, words, during(s)), attrs...)
	attrs = []string{"font-size=10"}
	if b.State == leadership.Leads {
		attrs = append(attrs, "fill="+Ground)
	}
	for _, name := range names {
		if d.lane >= 11 && TextWidth(name, 10)+5 <= wide {
			d.Text(x+3, y+d.lane/2+3.5, name, attrs...)
			break
		}
	}
}

// looks returns the bar of a state: half its height, and its attributes.
func (d *ledger) looks(state leadership.State, color string) (half float64, attrs []string) {
	switch state {
	case leadership.Leads:
		return d.lane/2 - 1, []string{"fill=" + color}
	case leadership.Follows:
		return max(1, d.lane/8), []string{"fill=" + color, "fill-opacity=0.55"}
	case leadership.Stopped:
		return d.lane/2 - 1, []string{d.Hatch(Dim)}
	case leadership.Down:
		return d.lane/2 - 1, []string{"fill=" + Ink}
	}
	return max(1, d.lane/8), []string{"fill=" + Ground, "stroke=" + Dim, "stroke-width=0.5"}
}

// colorOf returns the color of a leader: those that led late have one together.
func (d *ledger) colorOf(leader int) string {
	at := slices.Index(d.Leaders, leader)
	if at < 0 || at >= len(Looks) {
		at = len(Looks) - 1
	}
	return Looks[at].Color
}

// keys are those of the legend, for what is in the picture.
func (d *ledger) keys() (all []Key) {
	for i, id := range d.Leaders {
		text := fmt.Sprintf("node %d leads", id)
		if last := i == len(Looks)-1; last && len(d.Leaders) > len(Looks) {
			text = "further nodes lead"
		}
		all = append(all, Key{text, d.Swatch(6, "fill="+d.colorOf(id))})
		if i == len(Looks)-1 {
			break
		}
	}
	for _, state := range []leadership.State{leadership.Follows, leadership.KnowsNone, leadership.Stopped,
		leadership.Down} {
		if slices.ContainsFunc(d.shown, func(id int) bool {
			return slices.ContainsFunc(d.Lanes[id], func(b results.BeliefRow) bool { return b.State == state })
		}) {
			half, attrs := d.looks(state, Dim)
			text := strings.TrimPrefix(stateWords[state], "is ")
			if state == leadership.Follows {
				text += " that leader"
			}
			all = append(all, Key{text, d.Swatch(min(6, half), attrs...)})
		}
	}
	for _, apart := range []bool{false, true} {
		if slices.ContainsFunc(d.TwoLead, func(t results.Together) bool { return t.Apart == apart }) {
			all = append(all, Key{d.says(apart), d.Swatch(6, d.Hatch(colorOf(apart)), "fill-opacity=0.5")})
		}
	}
	if len(d.Faults) > 0 {
		all = append(all, Key{"a fault", d.Swatch(6, "fill="+Fault)})
	}
	return all
}

// during prints a stretch of time, to a microsecond.
func during(s results.Span) string {
	print := func(s float64) string { return strconv.FormatFloat(math.Round(s*1e6)/1e6, 'f', -1, 64) }
	return print(s.From) + " s to " + print(s.To) + " s"
}
