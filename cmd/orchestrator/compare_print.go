package main

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"turnstile/bench/compare"
	"turnstile/bench/report"
	"turnstile/internal/english"
	"turnstile/internal/figure"
	"turnstile/internal/terminal"
	"turnstile/results"
)

// comparisonWidth is how many columns a comparison takes.
const comparisonWidth = 100

// printComparison prints what came of a comparison, and what --fail-above says of it.
func (a *app) printComparison(c *compareCall, args []string, made *compare.Comparison) error {
	judged := a.judgeAbove(c, made)
	out := a.stdout
	var err error
	switch {
	case c.json:
		out, err = a.stderr, terminal.PrintJSON(a.stdout, documentOf(args, made))
	case c.csv:
		out, err = a.stderr, results.WriteTable(a.stdout, made.Lines)
	default:
		lines := bufio.NewWriter(a.stdout)
		printComparison(lines, args, made)
		err = lines.Flush()
	}
	if judged != "" {
		printWrapped(out, "", judged)
	}
	return err
}

// A comparisonDocument is what --json prints.
type comparisonDocument struct {
	Compared   []string            `json:"compared"` // as it was named
	By         string              `json:"by,omitempty"`
	Alike      map[string]string   `json:"alike"`  // the columns in which all trials agree
	Differ     map[string][]string `json:"differ"` // other columns, with the value of each group or side
	Groups     []groupDocument     `json:"groups"`
	Alone      []string            `json:"alone"` // experiments that only one side has
	Unmeasured []string            `json:"unmeasured"`
	Lines      []report.Object     `json:"lines"` // as in CSV
}

type groupDocument struct {
	Name     string         `json:"name"`
	Where    string         `json:"where,omitempty"`
	Valid    int            `json:"valid"`
	CPUBound int            `json:"cpu_bound"` // of the valid trials
	Others   map[string]int `json:"others"`    // trials with another verdict
	Repeated int            `json:"repeated"`  // simulated trials of a seed that another has
}

func documentOf(args []string, made *compare.Comparison) comparisonDocument {
	d := comparisonDocument{Compared: args, By: made.By, Alike: map[string]string{},
		Differ: map[string][]string{},
		Groups: []groupDocument{}, Alone: append([]string{}, made.Alone...),
		Unmeasured: append([]string{}, made.Unmeasured...), Lines: []report.Object{}}
	for _, cell := range made.Agree {
		d.Alike[cell.Column] = cell.Text
	}
	for _, differ := range made.Differ {
		d.Differ[differ.Column] = differ.Values
	}
	for _, g := range made.Groups {
		d.Groups = append(d.Groups, groupDocument{g.Name, g.Where, g.Valid, g.CPUBound, g.Others, g.Repeated})
	}
	for _, l := range results.AsStored(made.Lines) {
		d.Lines = append(d.Lines, report.ObjectOf(l))
	}
	return d
}

// printWrapped prints a text in lines of which all but the first are indented.
func printWrapped(w io.Writer, first, text string) {
	indent := strings.Repeat(" ", utf8.RuneCountInString(first))
	for _, line := range english.Wrap(text, comparisonWidth-len(indent)) {
		fmt.Fprintln(w, strings.TrimRight(first+line, " "))
		first = indent
	}
}

// printComparison prints a comparison for people.
func printComparison(w io.Writer, args []string, made *compare.Comparison) {
	if made.By != "" {
		fmt.Fprintf(w, "%s by %s\n", args[0], made.By)
	} else {
		width := max(len(made.Sides[0]), len(made.Sides[1]))
		for i, name := range made.Sides {
			fmt.Fprintf(w, "%-*s  %s\n", width, name, [...]string{"the baseline", "compared with it"}[i])
			if name != args[i] {
				fmt.Fprintf(w, "   %s\n", args[i])
			}
		}
	}
	var alike []string
	for _, cell := range made.Agree {
		if !slices.Contains([]string{"", "false"}, cell.Text) && cell.Column != made.By {
			alike = append(alike, cell.Column+" "+cell.Text)
		}
	}
	printWrapped(w, "alike   ", strings.Join(alike, ", "))
	for _, d := range made.Differ {
		printWrapped(w, "differ  ", d.Column+": "+strings.Join(d.Values, " | "))
	}
	for _, g := range made.Groups {
		printWrapped(w, "trials  ", strings.TrimPrefix(g.Where+": ", ": ")+g.Name+": "+trialsOf(g))
	}
	for _, alone := range made.Alone {
		printWrapped(w, "alone   ", alone)
	}
	for _, metric := range made.Unmeasured {
		printWrapped(w, "", metric+": no valid trial has measured it")
	}
	for metric, lines := range byMetric(made.Lines) {
		printMetric(w, metric, lines)
	}
	if len(made.Lines) > 0 {
		fmt.Fprintln(w)
	}
}

// byMetric yields the lines of each metric.
func byMetric(lines []compare.Line) func(yield func(string, []compare.Line) bool) {
	return func(yield func(string, []compare.Line) bool) {
		for len(lines) > 0 {
			n := slices.IndexFunc(lines, func(l compare.Line) bool { return l.Metric != lines[0].Metric })
			if n < 0 {
				n = len(lines)
			}
			if !yield(lines[0].Metric, lines[:n]) {
				return
			}
			lines = lines[n:]
		}
	}
}

// trialsOf says how many trials a group has.
func trialsOf(g *compare.Group) string {
	words := []string{fmt.Sprintf("%d valid", g.Valid)}
	if g.CPUBound > 0 {
		words[0] += fmt.Sprintf(" (%d of them CPU-bound)", g.CPUBound)
	}
	for _, verdict := range slices.Sorted(maps.Keys(g.Others)) {
		words = append(words, fmt.Sprintf("%d %s", g.Others[verdict], verdict))
	}
	if g.Interrupted > 0 {
		words[len(words)-1] += fmt.Sprintf(" (%d %s)", g.Interrupted, results.Interrupted)
	}
	if g.Repeated > 0 {
		words = append(words, fmt.Sprintf("%d left out, of a seed that another has", g.Repeated))
	}
	return strings.Join(words, ", ")
}

// A metricTable prints the lines of one metric: a row for each baseline and each group, with its name first.
type metricTable struct {
	w                        io.Writer
	name, median, difference int  // widths
	apart                    bool // names have rows of their own
}

func printMetric(w io.Writer, metric string, lines []compare.Line) {
	title := metric
	if better := compare.BetterOf(metric); better != "" {
		title += ", " + better
	}
	t := metricTable{w: w}
	longest := 0
	for i := range lines {
		l, u := &lines[i], unitOf(metric, &lines[i])
		t.name = max(t.name, len(l.Baseline), len(l.Group))
		t.median = max(t.median, len([]rune(u.median(l))), len([]rune(u.baseline(l))))
		t.difference = max(t.difference, len([]rune(u.difference(l))))
		longest = max(longest, len(probabilities(l)))
	}
	if t.apart = t.name+t.median+t.difference+longest+8 > comparisonWidth; t.apart {
		t.name = 2
	}
	fmt.Fprintf(w, "\n%s\n", title)
	baseline, where := "", ""
	for i := range lines {
		l, u := &lines[i], unitOf(metric, &lines[i])
		if l.Where != where {
			printWrapped(w, " ", l.Where)
		}
		if l.Baseline != baseline || l.Where != where {
			t.row(l.Baseline, u.baseline(l), "baseline", "")
		}
		baseline, where = l.Baseline, l.Where
		t.row(l.Group, u.median(l), u.difference(l), probabilities(l))
		if l.Percent.Known() {
			t.row("", "", percent(l), l.Verdict)
		}
		if l.Reason != "" {
			printWrapped(w, "    ~ ", l.Reason)
		}
	}
}

// row prints one row.
func (t *metricTable) row(name, median, difference, rest string) {
	if t.apart && name != "" {
		fmt.Fprintf(t.w, "  %s\n", name)
		name = ""
	}
	line := fmt.Sprintf("  %-*s  %-*s  %-*s  %s", t.name, name, t.median, median, t.difference, difference, rest)
	fmt.Fprintln(t.w, strings.TrimRight(line, " "))
}

// probabilities prints the two probabilities of a line.
func probabilities(l *compare.Line) string {
	if !l.P.Known() {
		return ""
	}
	return fmt.Sprintf("p %s, Holm %s", probability(l.P), probability(l.PHolm))
}

func probability(f figure.Figure) string {
	switch p, _ := f.Value(); {
	case p < 0.0001:
		return "<0.0001"
	default:
		return strconv.FormatFloat(p, 'f', 4, 64)
	}
}

// A unit is how many of a figure make one of what is printed, and its name.
type unit struct {
	of   float64
	name string
}

// unitOf returns the unit in which a metric is printed: of times, that which suits the baseline.
func unitOf(metric string, l *compare.Line) unit {
	in := results.TimeUnit(metric)
	if in == 0 {
		return unit{1, ""}
	}
	median, known := l.BaselineMedian.Value()
	if !known {
		median, _ = l.Median.Value()
	}
	switch ns := median * float64(in); {
	case ns >= 0.9995e9:
		return unit{float64(time.Second) / float64(in), " s"}
	case ns >= 0.9995e6:
		return unit{float64(time.Millisecond) / float64(in), " ms"}
	}
	return unit{float64(time.Microsecond) / float64(in), " µs"}
}

// baseline, median and difference print those of a line, with their intervals.
func (u unit) baseline(l *compare.Line) string {
	return u.interval(l.BaselineMedian, l.BaselineLow, l.BaselineHigh, false)
}

func (u unit) median(l *compare.Line) string { return u.interval(l.Median, l.Low, l.High, false) }

func (u unit) difference(l *compare.Line) string {
	switch {
	case !l.Difference.Known():
		return ""
	case !l.P.Known(): // it is exact, or cannot be said how exact
		return u.interval(l.Difference, figure.Figure{}, figure.Figure{}, true)
	}
	return u.interval(l.Difference, l.DifferenceLow, l.DifferenceHigh, true)
}

// percent prints the difference in percent, with its interval.
func percent(l *compare.Line) string {
	of := *l
	of.Difference, of.DifferenceLow, of.DifferenceHigh = l.Percent, l.PercentLow, l.PercentHigh
	return unit{1, "%"}.difference(&of)
}

// interval prints a figure with its interval, if there is one. signed is for differences.
func (u unit) interval(f, low, high figure.Figure, signed bool) string {
	x, known := f.Value()
	if !known {
		return "-"
	}
	text := u.number(x, signed) + u.name
	if f.IsBound() {
		text = ">" + text
	}
	from, bounded := low.Value()
	to, _ := high.Value()
	if !bounded {
		return text
	}
	return fmt.Sprintf("%s (%s to %s)", text, u.number(from, signed), u.number(to, signed))
}

// number prints a number with three significant digits, or as a whole one if it is large.
func (u unit) number(x float64, signed bool) string {
	x /= u.of
	sign := ""
	switch {
	case x < 0:
		sign, x = "-", -x
	case signed && x > 0:
		sign = "+"
	}
	if x >= 999.5 {
		return sign + english.Thousands(x)
	}
	places := 0
	if x > 0 {
		places = min(6, max(0, 2-int(math.Floor(math.Log10(x*1.0005)))))
	}
	return sign + strconv.FormatFloat(x, 'f', places, 64)
}
