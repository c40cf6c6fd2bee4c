package text

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"turnstile/internal/english"
	"turnstile/internal/figure"
	"turnstile/internal/format"
	"turnstile/internal/stats"
	"turnstile/judge/check"
	"turnstile/judge/measure"
	"turnstile/results"
)

// A timeline is a picture of a run: entries per second over time, with the times of faults above them.
type timeline struct {
	intervals []results.IntervalRow
	faults    []results.FaultRow
	end       float64 // end of the picture, in seconds from the beginning of the window
	stop      float64 // end of the window, also in seconds from its beginning
	columns   int
}

const (
	timelineRows = 4 // height of the highest bar, in lines
	faultRows    = 3 // greatest number of lines for faults
	gutter       = 12
)

// timelineOf returns the picture of a trial whose window is measured seconds long. The width includes the
// labels on the left.
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

// lines draws the picture without colours.
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
		to = min(to, t.end) // nothing was measured after the end
		for c := max(0, int(from/each)-1); c < t.columns && float64(c)*each < to; c++ {
			begin := float64(c) * each
			if shared := min(to, begin+each) - max(from, begin); shared > 0 {
				rates[c] += entries * shared / (to - from) / each
			}
		}
	}
	return rates
}

// bars draws the entries per second, from the top line to the bottom line.
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

// scale draws an axis with ticks and labels, in seconds. The axis is dashed after clients stopped requesting.
func (t *timeline) scale() []string {
	const apart = 5 // the least number of columns between two labels
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

// secondsOf prints a multiple of step. step is 1, 2 or 5 times a power of ten.
func secondsOf(at, step float64) string {
	places := max(0, int(math.Ceil(-math.Log10(step)-1e-9)))
	text := strconv.FormatFloat(at, 'f', places, 64)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}

// windows draws the times of faults, with their numbers.
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

// window draws one fault. It also returns the column in which the fault begins.
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

const (
	histogramRows  = 9
	histogramWidth = 40 // length of the longest bar
)

// writeHistogram draws the distribution h, of nanoseconds, with a line for each range. The ends of the ranges
// grow by a constant factor, since waits spread over orders of magnitude; zeros cannot be in such a range,
// and have their own line.
func writeHistogram(w io.Writer, h *measure.Histogram) {
	zeros, least := int64(0), int64(0)
	for from, count := range h.ForEachBucket {
		if from == 0 {
			zeros = count
		} else if least == 0 {
			least = from
		}
	}
	var edges []float64
	var counts []int64
	if most := h.Max(); most > 0 {
		edges = edgesOf(float64(least), float64(most), histogramRows-b2i(zeros > 0))
		if least == most || most-least < most/1000 { // all values are equal, at the resolution of the histogram
			edges = edges[:2]
		}
		counts = make([]int64, len(edges)-1)
	}
	for from, count := range h.ForEachBucket {
		row := 0
		for row < len(counts)-1 && float64(from) >= edges[row+1] {
			row++
		}
		if from > 0 {
			counts[row] += count
		}
	}
	most := zeros
	for _, n := range counts {
		most = max(most, n)
	}
	line := func(label string, n int64) {
		text := fmt.Sprintf("  %s %5.1f%%  %s", label, 100*float64(n)/float64(h.TotalCount()),
			barOf(histogramWidth*float64(n)/float64(max(most, 1))))
		fmt.Fprintln(w, strings.TrimRight(text, " "))
	}
	if zeros > 0 {
		line(fmt.Sprintf("%9s   %9s", format.Nanos(0), ""), zeros)
	}
	for row, n := range counts {
		line(fmt.Sprintf("%9s - %-9s", format.Nanos(edges[row]), format.Nanos(edges[row+1])), n)
	}
}

// edgesOf divides the range from low to high into smaller ranges whose ends grow by a constant factor.
func edgesOf(low, high float64, ranges int) []float64 {
	low = max(low, 1)
	if high <= low {
		return []float64{low, low}
	}
	factor := math.Pow(high/low, 1/float64(ranges))
	edges := []float64{low}
	for range ranges - 1 {
		edges = append(edges, edges[len(edges)-1]*factor)
	}
	return append(edges, high)
}

// barOf draws a bar whose length may be fractional. A length above zero is always visible.
func barOf(length float64) string {
	eighths := int(math.Round(8 * length))
	if length > 0 {
		eighths = max(eighths, 1)
	}
	text := strings.Repeat("█", eighths/8)
	if rest := eighths % 8; rest > 0 {
		text += string([]rune("▏▎▍▌▋▊▉")[rest-1])
	}
	return text
}

// A spread summarises a figure over the trials of a run.
type spread struct {
	median, least, most figure.Figure
	known, trials       int // number of trials that measured the figure, and of all trials
}

// A tableOf is a list of rows of a result file.
type tableOf[R any] []R

// A table has the rows of the trials of a run.
type table = tableOf[results.Row]

// A faultTable has the rows of one fault, or of several faults with the same description, in all trials.
type faultTable = tableOf[results.FaultRow]

// of returns the spread of a column over the rows.
func (t tableOf[R]) of(column results.Column) spread {
	figures := make([]figure.Figure, len(t))
	for i := range t {
		figures[i] = figureIn(t[i], column)
	}
	return spreadOf(figures)
}

// known reports whether some trial has measured the figure of a column.
func (t tableOf[R]) known(column results.Column) bool { return t.of(column).known > 0 }

// sum returns the sum of a column.
func (t tableOf[R]) sum(column results.Column) figure.Figure {
	if !t.known(column) {
		return figure.Figure{}
	}
	sum := 0.0
	for i := range t {
		x, _ := figureIn(t[i], column).Value()
		sum += x
	}
	return figure.Number(sum)
}

// where counts the trials in which a condition holds.
func (t tableOf[R]) where(holds func(*R) bool) (n int) {
	for i := range t {
		if holds(&t[i]) {
			n++
		}
	}
	return n
}

// figureIn returns the figure that a row has in a column.
func figureIn(row any, column results.Column) figure.Figure {
	for header, cell := range results.Cells(row) {
		if figure, ok := cell.(figure.Figure); ok && header == string(column) {
			return figure
		}
	}
	panic(fmt.Sprintf("a %T has no figure %s", row, column))
}

// spreadOf returns the spread of the figures of some trials.
func spreadOf(figures []figure.Figure) spread {
	s := spread{trials: len(figures)}
	known := slices.DeleteFunc(slices.Clone(figures), func(f figure.Figure) bool { return !f.Known() })
	if s.known = len(known); s.known == 0 {
		return s
	}
	slices.SortFunc(known, func(f, g figure.Figure) int {
		x, _ := f.Value()
		y, _ := g.Value()
		return cmp.Or(cmp.Compare(x, y), b2i(f.IsBound())-b2i(g.IsBound()))
	})
	s.least, s.median = known[0], stats.MedianOf(known)
	for _, f := range known {
		s.most = figure.Max(s.most, f)
	}
	return s
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// text prints the median and, if trials differ, the least and the greatest value. format prints one figure.
func (s spread) text(format func(figure.Figure) string) string {
	text := format(s.median)
	if s.varies(format) {
		text += fmt.Sprintf(" (%s)", s.limits(format))
	}
	return text + s.share()
}

// share says in how many trials the figure was measured; "" if it was measured in all trials or in none.
func (s spread) share() string {
	if s.known == 0 || s.known == s.trials {
		return ""
	}
	return fmt.Sprintf(" [in %s]", trials(s.known, s.trials))
}

// varies reports whether the least and the greatest value print differently.
func (s spread) varies(format func(figure.Figure) string) bool {
	return format(s.least) != format(s.most)
}

// limits prints the least and the greatest value.
func (s spread) limits(format func(figure.Figure) string) string {
	if !s.varies(format) {
		return format(s.most)
	}
	return format(s.least) + " to " + format(s.most)
}

// ofTrial returns the rows of a trial.
func ofTrial[R any](rows []R, trial int, trialOf func(*R) int) (of []R) {
	for i := range rows {
		if trialOf(&rows[i]) == trial {
			of = append(of, rows[i])
		}
	}
	return of
}

// trials says in how many of all trials something holds.
func trials(n, of int) string {
	switch {
	case n < of:
		return fmt.Sprintf("%d of %d trials", n, of)
	case n == 1:
		return "the trial"
	}
	return fmt.Sprintf("all %d trials", n)
}

// uncontended qualifies a valid verdict if the valid trials show little, since clients did not compete for
// the resource.
func uncontended(verdicts []check.Verdict) string {
	first, such := "", 0
	for i := range verdicts {
		if says := verdicts[i].Uncontended; says != "" {
			first = cmp.Or(first, says)
			such++
		}
	}
	switch such {
	case 0:
		return ""
	case len(verdicts):
		return " (" + first + ")"
	}
	return fmt.Sprintf(" (%s in %s)", first, trials(such, len(verdicts)))
}
