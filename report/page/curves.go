package page

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"turnstile/draw"
	"turnstile/internal/english"
	"turnstile/internal/figure"
	"turnstile/option"
	"turnstile/results"
)

// A curve is a figure that is drawn against another quantity, with its texts.
type curve struct {
	files  string         // the first word of the names of the files of its pictures
	metric results.Column // a column of runs.csv
	title  string
	unit   string // the unit, if the figure is not a time
	// published says to draw the published cost beside the curve.
	published bool
}

var (
	messageCurve = curve{"messages", results.MessagesPerEntry, "Messages per entry", "messages per entry",
		true}
	allMessagesCurve = curve{"all-messages", results.AllMessagesPerEntry,
		"Messages per entry, heartbeats included", "messages per entry", false}
	throughputCurve = curve{"throughput", results.EntriesPerS, "Throughput", "entries per second", false}
	medianCurve     = curve{"wait-p50", results.WaitUSP50, "Half of the waits are shorter (p50)", "wait, p50",
		false}
	tailCurve = curve{"wait-p99", results.WaitUSP99, "One wait in a hundred is longer (p99)", "wait, p99",
		false}
	jainCurve = curve{"jain", results.JainIndex, "Jain's index of the entries of all nodes: 1 is fair",
		"Jain's index", false}
	overtakenCurve = curve{"overtaken", results.OvertakenMax, "Most entries that overtook one request",
		"entries that overtook one request", false}
	electCurve = curve{"elect", results.ElectUSP50, "Half of the elections were faster (p50)",
		"time to elect, p50", false}
	electionMessagesCurve = curve{"election-messages", results.MessagesPerElection, "Messages per election",
		"messages per election", false}
)

// A sampled is an experiment with its place on the x axis.
type sampled struct {
	x float64
	*experiment
}

// A curveRow is a point of a curve in the data of a picture.
type curveRow struct {
	Algorithm    string         `csv:"algorithm"`
	Nodes        int            `csv:"nodes"`
	RatePerS     figure.Figure  `csv:"rate_per_s"` // of each node
	ThinkUS      figure.Figure  `csv:"think_us"`   // the mean of --think
	Metric       results.Column `csv:"metric"`
	Trials       int            `csv:"trials"` // number of trials that have measured the metric
	CPUBound     int            `csv:"cpu_bound"`
	Median       figure.Figure  `csv:"median"`
	Low          figure.Figure  `csv:"low"`
	High         figure.Figure  `csv:"high"`
	PublishedMin figure.Figure  `csv:"published_min"`
	PublishedMax figure.Figure  `csv:"published_max"`
}

// curves draws messages, throughput and waits against the number of nodes and the load.
func (m *maker) curves() {
	var messages, against []block
	for _, s := range m.calm(entries) {
		for _, c := range messageCurves(s) {
			messages = append(messages, m.againstNodes(s, c)...)
		}
		for _, c := range []curve{throughputCurve, medianCurve, tailCurve} {
			against = append(against, m.againstNodes(s, c)...)
		}
	}
	lacks := "no valid run about mutual exclusion without faults"
	if len(messages) > 0 {
		messages = append([]block{{Text: "Medians of the counts, with their intervals. Pale areas are what " +
			"is published for the load, from the least to the most, and pale lines a published number; point at a " +
			"curve or its name to see its own. Heartbeats are left out, unless the title says that they are " +
			"included."}},
			messages...)
	}
	m.add("Messages per entry", lacks, messages)
	m.add("Throughput and waits", lacks, against)
	m.add("Throughput and waits against the load", "no size was run with two rates or two think times",
		m.againstLoad())
}

// messageCurves returns the curves of messages of a setting: two if some algorithms send heartbeats.
func messageCurves(s *setting) []curve {
	if slices.ContainsFunc(s.all, func(e *experiment) bool {
		heartbeats, _, _, _ := e.Median(results.HeartbeatsPerEntry)
		each, _ := heartbeats.Value()
		return each > 0
	}) {
		return []curve{messageCurve, allMessagesCurve}
	}
	return []curve{messageCurve}
}

// againstNodes draws a figure of a setting against the number of nodes.
func (m *maker) againstNodes(s *setting, c curve) []block {
	if len(s.sizes()) == 1 && slices.ContainsFunc(demands, func(d demand) bool { return m.inSeries(s, d) }) {
		return nil // drawn against the demand instead
	}
	var all []sampled
	for _, e := range s.all {
		all = append(all, sampled{float64(e.nodes), e})
	}
	return m.draw(c, s.titled(c.title), "nodes", all)
}

// places returns the different places on the x axis, in order.
func places(all []sampled) (xs []float64) {
	for _, s := range all {
		xs = append(xs, s.x)
	}
	slices.Sort(xs)
	return slices.Compact(xs)
}

// draw draws a figure: curves or, if all experiments are at one place, bars.
func (m *maker) draw(c curve, caption, xLabel string, all []sampled) []block {
	all = slices.DeleteFunc(slices.Clone(all), func(s sampled) bool {
		median, _, _, _ := s.Median(c.metric)
		return !median.Known()
	})
	slices.SortStableFunc(all, func(a, b sampled) int {
		return cmp.Or(strings.Compare(a.series, b.series), cmp.Compare(a.x, b.x))
	})
	xs := places(all)
	some := !c.published || slices.ContainsFunc(all, func(s sampled) bool {
		median, _, _, _ := s.Median(c.metric)
		x, _ := median.Value()
		return x != 0
	})
	if len(xs) == 0 || !some { // services send no messages between nodes
		return nil
	}
	if len(xs) == 1 && !c.published {
		return []block{m.bars(c, fmt.Sprintf("%s, %s %s", caption, number(xs[0]), xLabel), all)}
	}
	y, of := c.axis(all, m.Log)
	l := m.lines(c, all, of)
	l.Y = y
	l.X = draw.Axis{Label: xLabel, Log: xs[0] > 0 && xs[len(xs)-1] >= 4*xs[0]}
	for _, x := range xs {
		l.X.At = append(l.X.At, draw.Tick{At: x, Label: number(x)})
	}
	l.Title = caption + hollow(all, c.metric)
	return []block{figureBlock(m, c.files, l.Title, l.Draw(), rowsOf(c, all))}
}

// hollow explains why some markers are hollow, if some are.
func hollow(all []sampled, metrics ...results.Column) string {
	var words []string
	if slices.ContainsFunc(all, func(s sampled) bool { return s.CPUBound > 0 }) {
		words = append(words, "CPU-bound")
	}
	if slices.ContainsFunc(all, func(s sampled) bool {
		return slices.ContainsFunc(metrics, func(metric results.Column) bool {
			median, _, _, _ := s.Median(metric)
			return median.IsBound()
		})
	}) {
		words = append(words, "a lower bound, since some never ended")
	}
	if words == nil {
		return ""
	}
	return "; hollow: " + strings.Join(words, ", or ")
}

func number(x float64) string { return draw.Number(x) }

// lines returns the chart of some experiments, without its axes. It divides the values of the column by the
// parameter of.
func (m *maker) lines(c curve, all []sampled, of float64) *draw.Curves {
	l := &draw.Curves{}
	for _, s := range all {
		if len(l.Series) == 0 || l.Series[len(l.Series)-1].Name != s.series {
			l.Series = append(l.Series, m.looks[s.series])
		}
		in := &l.Series[len(l.Series)-1]
		in.Points = append(in.Points, pointOf(c.metric, s, of))
		if low, high := published(s); c.published && low.Known() {
			p := draw.Point{X: s.x, High: math.NaN()}
			p.Low, _ = low.Value()
			if x, known := high.Value(); known {
				p.High = x
			}
			in.Band = append(in.Band, p)
		}
	}
	return l
}

// axis returns the y axis of some experiments, and the length of its unit in units of the column. log asks
// for a logarithmic axis.
func (c curve) axis(all []sampled, log bool) (axis draw.Axis, of float64) {
	axis.Label, of = c.scale(all)
	least, most := math.Inf(1), 0.0
	for _, s := range all {
		p := pointOf(c.metric, s, of)
		if most = max(most, p.Y, p.High); p.Y > 0 || !log {
			least = min(least, p.Y)
		}
		if p.Low > 0 {
			least = min(least, p.Low)
		}
		if low, high := published(s); c.published && low.Known() {
			x, _ := low.Value()
			y, _ := high.Value()
			if most = max(most, x, y); x > 0 {
				least = min(least, x)
			}
		}
	}
	axis.Max = most
	if axis.Log = least > 0 && most > 0 && (log || most >= 20*least); axis.Log {
		axis.Min = least
	}
	if c.metric == jainCurve.metric {
		axis.Max = 1
	}
	return axis, of
}

// pointOf returns the point of an experiment: the metric, divided by the parameter of.
func pointOf(metric results.Column, s sampled, of float64) draw.Point {
	median, low, high, _ := s.Median(metric)
	value := func(f figure.Figure) float64 { x, _ := f.Value(); return x / of }
	p := draw.Point{X: s.x, Y: value(median), Hollow: s.CPUBound > 0 || median.IsBound()}
	if low.Known() {
		p.Low, p.High = value(low), value(high)
	}
	return p
}

// published returns the published cost of an experiment, from its first valid trial.
func published(s sampled) (low, high figure.Figure) {
	for i := range s.trials {
		if t := &s.trials[i]; t.Verdict == "valid" {
			return t.PublishedMin, t.PublishedMax
		}
	}
	return low, high
}

// scale returns the name of the unit in which a figure is drawn, and its length in units of the column.
func (c curve) scale(all []sampled) (unit string, of float64) {
	in := results.TimeUnit(c.metric).Seconds()
	if in == 0 {
		return c.unit, 1
	}
	most := 0.0
	for _, s := range all {
		median, _, _, _ := s.Median(c.metric)
		x, _ := median.Value()
		most = max(most, x*in)
	}
	return inUnit(c.unit, most, in)
}

// inUnit returns label with a unit of time that suits values up to most, in seconds. in is the length of the
// unit of the column in seconds. inUnit also returns how many units of the column the unit of the label is.
func inUnit(label string, most, in float64) (string, float64) {
	switch {
	case most >= 2:
		return label + " (s)", 1 / in
	case most >= 2e-3:
		return label + " (ms)", 1e-3 / in
	}
	return label + " (µs)", 1e-6 / in
}

// bars draws a figure of experiments that share one place on the x axis.
func (m *maker) bars(c curve, caption string, all []sampled) block {
	unit, of := c.scale(all)
	caption += hollow(all, c.metric)
	b := &draw.Bars{Title: caption, Unit: unit}
	for _, s := range all {
		p := pointOf(c.metric, s, of)
		b.Bars = append(b.Bars, draw.Bar{Name: s.series, Kind: m.looks[s.series].Kind, Value: p.Y, Low: p.Low,
			High: p.High, Hollow: p.Hollow})
	}
	return pictureBlock(m, c.files, caption, b.Draw(), rowsOf(c, all))
}

// rowsOf returns the data of a picture.
func rowsOf(c curve, all []sampled) (rows []curveRow) {
	for _, s := range all {
		r := curveRow{Algorithm: s.series, Nodes: s.nodes,
			RatePerS: s.experiment.trials[0].Figure(option.RateColumn),
			ThinkUS:  s.experiment.trials[0].ThinkUS, Metric: c.metric, CPUBound: s.CPUBound}
		r.Median, r.Low, r.High, r.Trials = s.Median(c.metric)
		if c.published {
			r.PublishedMin, r.PublishedMax = published(s)
		}
		rows = append(rows, r)
	}
	return rows
}

// fairness draws how evenly the nodes entered.
func (m *maker) fairness() {
	var blocks []block
	for _, s := range m.calm(entries) {
		blocks = append(blocks, m.againstNodes(s, jainCurve)...)
		blocks = append(blocks, m.againstNodes(s, overtakenCurve)...)
	}
	m.add("Fairness", "no valid run about mutual exclusion without faults", blocks)
}

// A demand is a column that describes the demand of clients. Figures are drawn against it.
type demand struct {
	column string
	label  string
	x      func(e *experiment) float64
}

var demands = []demand{
	{option.RateColumn, "requests per second of all nodes", func(e *experiment) float64 {
		rate, _ := e.trials[0].Figure(option.RateColumn).Value()
		return rate * float64(e.nodes)
	}},
	{"think", "mean time from a release to the next request (ms)", func(e *experiment) float64 {
		think, _ := e.trials[0].ThinkUS.Value()
		return think / 1e3
	}},
}

// of returns the value of a setting in the column.
func (d demand) of(s *setting) string { return s.all[0].trials[0].Text(d.column) }

// rest identifies a group of settings that differ only in the column; empty: the setting has no value in it.
func (d demand) rest(s *setting) string {
	text := d.of(s)
	if text == "" {
		return ""
	}
	rest := slices.Clone(s.values)
	rest[slices.Index(s.asked, d.column)] = ""
	return strings.Join(rest, "\x00")
}

// inSeries reports whether another setting differs from s only in a demand.
func (m *maker) inSeries(s *setting, d demand) bool {
	rest := d.rest(s)
	return rest != "" && slices.ContainsFunc(m.calm(entries), func(o *setting) bool {
		return o != s && d.rest(o) == rest
	})
}

// heaviest reports whether a setting has the heaviest demand of all settings that differ from it only in a
// demand: the highest rate, or the shortest time of thinking.
func (m *maker) heaviest(s *setting) bool {
	for _, d := range demands {
		rest := d.rest(s)
		sign := 1.0
		if d.column == "think" {
			sign = -1
		}
		if rest != "" && slices.ContainsFunc(m.calm(entries), func(o *setting) bool {
			return d.rest(o) == rest && sign*d.x(o.all[0]) > sign*d.x(s.all[0])
		}) {
			return false
		}
	}
	return true
}

// againstLoad draws throughput, waits, messages and fairness of settings that differ only in a demand.
func (m *maker) againstLoad() (blocks []block) {
	for _, d := range demands {
		groups := map[string][]sampled{}
		labels := map[string]string{}
		var order []string
		for _, s := range m.calm(entries) {
			if !m.inSeries(s, d) {
				continue
			}
			for _, e := range s.all {
				key := fmt.Sprint(e.nodes, " ", d.rest(s))
				if groups[key] == nil {
					order = append(order, key)
					own := ", " + strings.ReplaceAll(d.column, "_", " ") + " " + d.of(s)
					labels[key] = fmt.Sprintf(" (%d nodes%s)", e.nodes, strings.Replace(", "+s.label, own, "", 1))
				}
				groups[key] = append(groups[key], sampled{d.x(e), e})
			}
		}
		for _, key := range order {
			if len(places(groups[key])) < 2 {
				continue
			}
			curves := []curve{throughputCurve, medianCurve, tailCurve, jainCurve}
			for _, c := range append(curves, messageCurves(groups[key][0].setting)...) {
				c.files += "-load"
				blocks = append(blocks, m.draw(c, c.title+labels[key], d.label, groups[key])...)
			}
		}
	}
	return blocks
}

// percentiles draws the waits of each setting, at its largest size and heaviest load. The x axis is a scale
// of nines: 90%, 99%, 99.9% are equally far apart.
func (m *maker) percentiles() {
	var blocks []block
	for _, s := range m.calm(entries) {
		sizes := s.sizes()
		largest := sizes[len(sizes)-1]
		if !m.heaviest(s) {
			continue
		}
		var its []*experiment
		for _, e := range s.all {
			if e.nodes == largest && e.Valid > 0 {
				its = append(its, e)
			}
		}
		title := "Waits of " + english.Count(largest, "node", "nodes") + " by percentile"
		blocks = append(blocks, m.nines(s.titled(title), its)...)
	}
	m.add("Percentiles of the waits", "no waits were measured in a valid run without faults", blocks)
}

// quantiles are the columns of the waits, with their places on a scale of nines. The longest wait stands
// beside them.
var quantiles = []struct {
	metric results.Column
	at     float64
	label  string
}{{results.WaitUSP50, 0.301, "50%"}, {results.WaitUSP90, 1, "90%"}, {results.WaitUSP99, 2, "99%"},
	{results.WaitUSP999, 3, "99.9%"}, {results.WaitUSMax, 4, "100%"}}

// nines draws the waits of some experiments on a scale of nines: the medians of their trials.
func (m *maker) nines(caption string, its []*experiment) []block {
	l := &draw.Curves{X: draw.Axis{Label: "share of waits that are at most as long"}}
	var metrics []results.Column
	for _, q := range quantiles {
		l.X.At, metrics = append(l.X.At, draw.Tick{At: q.at, Label: q.label}), append(metrics, q.metric)
	}
	var all []sampled
	var rows []curveRow
	for _, e := range its {
		s := m.looks[e.series]
		for _, q := range quantiles {
			x := sampled{q.at, e}
			if median, _, _, _ := e.Median(q.metric); median.Known() {
				s.Points, all = append(s.Points, pointOf(q.metric, x, 1)), append(all, x)
				rows = append(rows, rowsOf(curve{metric: q.metric}, []sampled{x})...)
			}
		}
		if len(s.Points) > 0 {
			l.Series = append(l.Series, s)
		}
	}
	if len(l.Series) == 0 {
		return nil
	}
	l.Title = caption + hollow(all, metrics...)
	m.scaleWaits(l, "wait")
	return []block{figureBlock(m, "percentiles", l.Title, l.Draw(), rows)}
}

// scaleWaits gives a chart of waits, which are in microseconds, a label with a suitable unit, and a scale.
func (m *maker) scaleWaits(l *draw.Curves, label string) {
	least, most := math.Inf(1), 0.0
	for _, s := range l.Series {
		for _, p := range s.Points {
			if math.IsNaN(p.Y) || p.Y == 0 && m.Log {
				continue
			}
			least, most = min(least, p.Y), max(most, p.Y)
		}
	}
	unit, of := inUnit(label, most/1e6, 1e-6)
	for _, s := range l.Series {
		for i := range s.Points {
			p := &s.Points[i]
			p.Y, p.Low, p.High = p.Y/of, p.Low/of, p.High/of
		}
	}
	if l.Y = (draw.Axis{Label: unit, Log: least > 0 && most > 0 && (m.Log || most >= 20*least)}); !l.Y.Log {
		l.Y.Max = most / of
	}
}
