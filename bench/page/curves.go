package page

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"turnstile/bench/option"
	"turnstile/internal/figure"
	"turnstile/report/draw"
	"turnstile/results"
)

// A curve says which figure is drawn, and how.
type curve struct {
	files  string         // what the names of its files begin with
	metric results.Column // a column of runs.csv
	title  string
	unit   string // of one that is no time
	// published says that what is published of it is drawn beside it.
	published bool
}

var (
	messageCurve = curve{"messages", results.MessagesPerEntry, "Messages per entry", "messages per entry",
		true}
	throughputCurve = curve{"throughput", results.EntriesPerS, "Throughput", "entries per second", false}
	medianCurve     = curve{"wait-p50", results.WaitUSP50, "Half of the waits are shorter (p50)", "wait, p50",
		false}
	tailCurve = curve{"wait-p99", results.WaitUSP99, "One wait in a hundred is longer (p99)", "wait, p99",
		false}
	jainCurve = curve{"jain", results.JainIndex, "Jain's index of the entries of all nodes: 1 is fair",
		"Jain's index", false}
	overtakenCurve = curve{"overtaken", results.OvertakenMax, "How many others overtook one request at most",
		"entries that overtook one request", false}
	electCurve = curve{"elect", results.ElectUSP50, "Half of the elections were faster (p50)",
		"time to elect, p50", false}
	electionMessagesCurve = curve{"election-messages", results.MessagesPerElection, "Messages per election",
		"messages per election", false}
)

// A sampled is an experiment at its place on the x axis.
type sampled struct {
	x float64
	*experiment
}

// A curveRow is a point in the data of a picture.
type curveRow struct {
	Algorithm    string         `csv:"algorithm"`
	Nodes        int            `csv:"nodes"`
	RatePerS     figure.Figure  `csv:"rate_per_s"` // of each node
	ThinkUS      figure.Figure  `csv:"think_us"`   // the mean of what was asked for
	Metric       results.Column `csv:"metric"`
	Trials       int            `csv:"trials"` // that have measured it
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
		messages = append(messages, m.againstNodes(s, messageCurve)...)
		for _, c := range []curve{throughputCurve, medianCurve, tailCurve} {
			against = append(against, m.againstNodes(s, c)...)
		}
	}
	lacks := "no valid run about mutual exclusion without faults"
	if len(messages) > 0 {
		messages = append([]block{{Text: "Markers are medians of what was counted, with their intervals. Lines " +
			"are what is published for the load: shaded between the least and the most. Where it is not bounded, " +
			"the least alone is drawn."}}, messages...)
	}
	m.add("Messages per entry", lacks, messages)
	m.add("Throughput and waits", lacks, against)
	m.add("Throughput and waits against the load", "no two rates or times of thinking at the same size",
		m.againstLoad())
}

// againstNodes draws a figure of a setting against the number of nodes.
func (m *maker) againstNodes(s *setting, c curve) []block {
	if len(s.sizes()) == 1 && slices.ContainsFunc(demands, func(d demand) bool { return m.inSeries(s, d) }) {
		return nil // drawn against that
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

// draw draws a figure: curves or, if all experiments are at one place, bars. So many series stand in a
// picture as can be told apart.
func (m *maker) draw(c curve, caption, xLabel string, all []sampled) (blocks []block) {
	all = slices.DeleteFunc(slices.Clone(all), func(s sampled) bool {
		median, _, _, _ := s.Median(c.metric)
		return !median.Known()
	})
	slices.SortStableFunc(all, func(a, b sampled) int {
		return cmp.Or(cmp.Compare(m.names[a.series], m.names[b.series]), cmp.Compare(a.x, b.x))
	})
	xs := places(all)
	if len(xs) == 0 {
		return nil
	}
	if len(xs) == 1 && !c.published {
		return []block{m.bars(c, fmt.Sprintf("%s, %s %s%s", caption, number(xs[0]), xLabel, hollow(c, all)), all)}
	}
	y, of := c.axis(all) // that of all parts
	var parts [][]sampled
	for at, part := 0, -1; at < len(all); at++ {
		if in := m.names[all[at].series] / draw.MostSeries; in != part {
			parts, part = append(parts, nil), in
		}
		parts[len(parts)-1] = append(parts[len(parts)-1], all[at])
	}
	for i, part := range parts {
		title := caption
		if len(parts) > 1 {
			title += fmt.Sprintf(", part %d of %d", i+1, len(parts))
		}
		title += hollow(c, part)
		l := m.lines(c, part, of)
		l.Y = y
		l.X = draw.Axis{Label: xLabel, Log: xs[0] > 0 && xs[len(xs)-1] >= 4*xs[0]}
		for _, x := range xs {
			l.X.At = append(l.X.At, draw.Tick{At: x, Label: number(x)})
		}
		l.Title = title
		blocks = append(blocks, figureBlock(m, c.files, title, l.Draw(), rowsOf(c, part)))
	}
	return blocks
}

// hollow says why some markers are hollow.
func hollow(c curve, all []sampled) string {
	var words []string
	if slices.ContainsFunc(all, func(s sampled) bool { return s.CPUBound > 0 }) {
		words = append(words, "CPU-bound")
	}
	if slices.ContainsFunc(all, func(s sampled) bool {
		median, _, _, _ := s.Median(c.metric)
		return median.IsBound()
	}) {
		words = append(words, "a lower bound, since some never ended")
	}
	if words == nil {
		return ""
	}
	return "; hollow: " + strings.Join(words, ", or ")
}

func number(x float64) string { return draw.Number(x) }

// lines returns the chart of some experiments, but for its axes. Its unit is so many of that of the column.
func (m *maker) lines(c curve, all []sampled, of float64) *draw.Curves {
	l := &draw.Curves{}
	for _, s := range all {
		if len(l.Series) == 0 || l.Series[len(l.Series)-1].Name != s.series {
			l.Series = append(l.Series, draw.Series{Name: s.series, Look: m.names[s.series]})
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

// axis returns the y axis of some experiments, and how many of the unit of the column its unit is.
func (c curve) axis(all []sampled) (axis draw.Axis, of float64) {
	axis.Label, of = c.scale(all)
	least, most := math.Inf(1), 0.0
	for _, s := range all {
		p := pointOf(c.metric, s, of)
		least, most = min(least, p.Y), max(most, p.Y, p.High)
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
	if axis.Log = least > 0 && most >= 20*least; axis.Log {
		axis.Min = least
	}
	if c.metric == jainCurve.metric {
		axis.Max = 1
	}
	return axis, of
}

// pointOf returns the point of an experiment, in a unit that is so many of that of the metric.
func pointOf(metric results.Column, s sampled, of float64) draw.Point {
	median, low, high, _ := s.Median(metric)
	value := func(f figure.Figure) float64 { x, _ := f.Value(); return x / of }
	p := draw.Point{X: s.x, Y: value(median), Hollow: s.CPUBound > 0 || median.IsBound()}
	if low.Known() {
		p.Low, p.High = value(low), value(high)
	}
	return p
}

// published returns what is published for an experiment, by its first valid trial.
func published(s sampled) (low, high figure.Figure) {
	for i := range s.trials {
		if t := &s.trials[i]; t.Verdict == "valid" {
			return t.PublishedMin, t.PublishedMax
		}
	}
	return low, high
}

// scale returns the unit in which a figure is drawn, in words, and how many of that of its column it is.
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

// inUnit returns the label of times up to so many seconds, and how many of in seconds its unit is.
func inUnit(label string, most, in float64) (string, float64) {
	switch {
	case most >= 2:
		return label + " (s)", 1 / in
	case most >= 2e-3:
		return label + " (ms)", 1e-3 / in
	}
	return label + " (µs)", 1e-6 / in
}

// bars draws a figure of experiments at one place.
func (m *maker) bars(c curve, caption string, all []sampled) block {
	unit, of := c.scale(all)
	b := &draw.Bars{Title: caption, Unit: unit}
	for _, s := range all {
		p := pointOf(c.metric, s, of)
		b.Bars = append(b.Bars, draw.Bar{Name: s.series, Value: p.Y, Low: p.Low, High: p.High, Hollow: p.Hollow})
	}
	return figureBlock(m, c.files, caption, b.Draw(), rowsOf(c, all))
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
