package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"turnstile/internal/english"
	"turnstile/internal/figure"
	"turnstile/internal/format"
	"turnstile/results"
)

// A timeline is a run as a picture: entries per second over time, and above them when there were faults.
type timeline struct {
	intervals []results.IntervalRow
	faults    []results.FaultRow
	end       float64 // of the picture, in seconds from the beginning of the window
	stop      float64 // of the window
	columns   int
}

const (
	timelineRows = 4 // of bars
	faultRows    = 3 // of windows of faults, at most
	gutter       = 12
)

// timelineOf returns the picture of a trial that was measured for some seconds, for a width that includes
// what stands on the left.
func timelineOf(intervals []results.IntervalRow, faults []results.FaultRow, measured float64,
	width int) *timeline {
	t := &timeline{intervals: intervals, faults: faults, end: measured, stop: measured, columns: width - gutter}
	if len(intervals) > 0 {
		last := &intervals[len(intervals)-1]
		if from, _ := last.FromS.Value(); from >= measured {
			t.end, _ = last.ToS.Value()
		}
	}
	return t
}

// lines draws the picture, all but the colours.
func (t *timeline) lines() (windows, bars []string) {
	if len(t.intervals) == 0 || t.end <= 0 {
		return nil, nil
	}
	return t.windows(), append(t.bars(), t.scale()...)
}

// rates returns the accepted entries per second of each column.
func (t *timeline) rates() []float64 {
	rates := make([]float64, t.columns)
	each := t.end / float64(t.columns)
	for _, in := range t.intervals {
		from, _ := in.FromS.Value()
		to, _ := in.ToS.Value()
		entries, _ := in.Entries.Value()
		refused, _ := in.Refused.Value()
		entries -= refused
		to = min(to, t.end) // nothing was measured behind it
		for c := max(0, int(from/each)-1); c < t.columns && float64(c)*each < to; c++ {
			begin := float64(c) * each
			if shared := min(to, begin+each) - max(from, begin); shared > 0 {
				rates[c] += entries * shared / (to - from) / each
			}
		}
	}
	return rates
}

// bars draws the entries per second, the highest rows first.
func (t *timeline) bars() (lines []string) {
	rates := t.rates()
	most := slices.Max(rates)
	for row := timelineRows - 1; row >= 0; row-- {
		label := ""
		switch row {
		case timelineRows - 1:
			label = format.Rate(figure.Number(most)) + "/s"
		case 0:
			label = "0"
		}
		var b strings.Builder
		for _, r := range rates {
			eighths := 0
			if r > 0 {
				eighths = max(1, int(math.Round(r/most*8*timelineRows)))
			}
			b.WriteRune([]rune(" ▁▂▃▄▅▆▇█")[min(8, max(0, eighths-8*row))])
		}
		lines = append(lines, strings.TrimRight(fmt.Sprintf("%*s %s", gutter-1, label, b.String()), " "))
	}
	return lines
}

// scale draws an axis with a tick for each label, thinner where no requests were made any more, and the
// labels, in seconds.
func (t *timeline) scale() []string {
	const apart = 5 // columns between two labels, at least
	step := math.Pow(10, math.Floor(math.Log10(t.end/float64(t.columns))))
	for i := 0; ; i++ {
		widest := len(secondsOf(t.end, step)) + apart
		if step/t.end*float64(t.columns) >= float64(widest) {
			break
		}
		step *= []float64{2, 2.5, 2}[i%3]
	}
	axis := []rune(strings.Repeat("─", t.columns))
	for c := range axis {
		if (float64(c)+0.5)/float64(t.columns)*t.end >= t.stop {
			axis[c] = '╌'
		}
	}
	labels := fmt.Sprintf("%*s ", gutter-1, "seconds")
	for k := 0; ; k++ {
		at := float64(k) * step
		c := int(math.Round(at / t.end * float64(t.columns)))
		label := secondsOf(at, step)
		if c+len(label) > t.columns {
			break
		}
		axis[c] = '┬'
		labels += strings.Repeat(" ", gutter+c-len(labels)) + label
	}
	return []string{strings.Repeat(" ", gutter) + string(axis), labels}
}

// secondsOf prints a multiple of a step that is 1, 2 or 5 times a power of ten.
func secondsOf(at, step float64) string {
	places := max(0, int(math.Ceil(-math.Log10(step)-1e-9)))
	text := strconv.FormatFloat(at, 'f', places, 64)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}

// windows draws when there were faults, with their numbers.
func (t *timeline) windows() (lines []string) {
	rows := make([][]rune, faultRows)
	more := 0
	for i := range t.faults {
		from, text := t.window(&t.faults[i])
		row := slices.IndexFunc(rows, func(row []rune) bool { return len(row) == 0 || len(row) < from })
		if row < 0 {
			more++
			continue
		}
		rows[row] = append(rows[row], []rune(strings.Repeat(" ", from-len(rows[row])))...)
		rows[row] = append(rows[row], text...)
	}
	if more > 0 {
		text := english.Count(more, "more fault", "more faults")
		lines = append(lines, fmt.Sprintf("%*sand %s", gutter, "", text))
	}
	for _, row := range slices.Backward(rows) {
		if len(row) > 0 {
			lines = append(lines, strings.Repeat(" ", gutter)+string(row))
		}
	}
	return lines
}

// window draws one fault, and returns in which column it begins.
func (t *timeline) window(f *results.FaultRow) (from int, text []rune) {
	column := func(at float64) float64 { return at / t.end * float64(t.columns) }
	begun, _ := f.FromS.Value()
	until, known := f.ToS.Value()
	if !known || until > t.end {
		until = t.end
	}
	label := strconv.Itoa(f.Number)
	from = max(0, int(math.Round(column(begun))))
	width := min(t.columns, int(math.Round(column(until)))) - from
	left, right := "├", "┤"
	if !f.Healed {
		right = "→"
	}
	switch inner := width - 2 - len(label); {
	case inner < 0:
		return max(0, min(from, t.columns-len(label))), []rune(label)
	case inner < 2:
		return from, []rune(left + label + strings.Repeat("─", inner) + right)
	default:
		before := (inner - 2) / 2
		return from, []rune(left + strings.Repeat("─", before) + " " + label + " " +
			strings.Repeat("─", inner-2-before) + right)
	}
}
