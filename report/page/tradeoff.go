package page

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"turnstile/draw"
	"turnstile/internal/english"
	"turnstile/judge/check"
	"turnstile/nodes/workload"
	"turnstile/option"
	"turnstile/results"
)

var delayCurve = curve{metric: results.SyncDelayUSP50}

// ofDemand are the columns in which the idle and the saturated setting of a picture may differ.
var ofDemand = []string{option.LoadColumn, option.RateColumn, "think", "arrivals", "warmup_s",
	"warmup_limit_s", "duration_asked_s", "entries_asked", "patience_s"}

// tradeoffs draws messages per entry against synchronization delay.
func (m *maker) tradeoffs() {
	groups := map[string][]*setting{}
	for _, s := range m.calm(entries) {
		groups[s.rest] = append(groups[s.rest], s)
	}
	var blocks []block
	for _, rest := range slices.Sorted(maps.Keys(groups)) {
		blocks = append(blocks, m.tradeoff(groups[rest])...)
	}
	if len(blocks) > 0 {
		blocks = append([]block{{Text: "Messages per entry, heartbeats included, against the synchronization " +
			"delay: the time from an exit to the next entry, if that entry was requested before the exit. An " +
			"algorithm is on the frontier, the line, if no other is lower in one figure and not higher in the " +
			"other. Figures whose intervals overlap count as equal. An algorithm that is CPU-bound, known to be " +
			"broken, or violated in this set is never on it. The size is the largest at which nearly as many " +
			"algorithms as at any size have both figures and are not CPU-bound."}}, blocks...)
	}
	m.add("Messages against delay", "no two algorithms have measured both at the same size, without faults",
		blocks)
}

// weight returns the requests per second of all nodes; 0: the load is saturated, or is one request at a time.
func (e *experiment) weight() float64 {
	for _, d := range demands {
		switch x := d.x(e); {
		case x > 0 && d.column == option.RateColumn:
			return x
		case x > 0:
			return 1e3 / x * float64(e.nodes)
		}
	}
	return 0
}

// A side is one of the panels of a picture of messages against delay: the experiments of one size under one
// load.
type side struct {
	load string
	all  []*experiment
}

// sidesOf returns the sides of a size: one for the lightest load, and one for the saturated load.
func sidesOf(settings []*setting, n int) []side {
	idle, saturated := side{load: "idle"}, side{load: "saturated"}
	for _, s := range settings {
		its := slices.DeleteFunc(slices.Clone(s.all), func(e *experiment) bool { return e.nodes != n })
		switch {
		case len(its) == 0:
		case its[0].trials[0].Text(option.LoadColumn) == string(workload.Saturated):
			saturated.all = append(saturated.all, its...)
		case its[0].weight() > 0 && (idle.all == nil || its[0].weight() < idle.all[0].weight()):
			idle.all = its
		}
	}
	return slices.DeleteFunc([]side{idle, saturated}, func(s side) bool { return s.all == nil })
}

// shared returns the sides of the size that is drawn: the largest at which nearly as many marks are not
// CPU-bound as at the size with the most such marks; nil: at no size two algorithms have such marks. A large
// size shows best what grows with the number of nodes, although some algorithms may have no mark there.
func shared(settings []*setting) []side {
	const nearly = 0.8
	var sizes []int
	for _, s := range settings {
		sizes = append(sizes, s.sizes()...)
	}
	slices.Sort(sizes)
	sizes = slices.Compact(sizes)
	counts, most := map[int]int{}, 0
	for _, n := range sizes {
		names := map[string]bool{}
		for _, s := range sidesOf(settings, n) {
			for _, e := range s.all {
				if d, why := e.dot(1); why == "" && !d.Hollow {
					counts[n]++
					names[e.series] = true
				}
			}
		}
		if len(names) < 2 {
			counts[n] = 0
		}
		most = max(most, counts[n])
	}
	for _, n := range slices.Backward(sizes) {
		if counts[n] > 0 && float64(counts[n]) >= nearly*float64(most) {
			return sidesOf(settings, n)
		}
	}
	return nil
}

// tradeoff draws settings that differ only in the demand of clients.
func (m *maker) tradeoff(settings []*setting) (blocks []block) {
	sides := shared(settings)
	if sides == nil {
		return nil
	}
	first := sides[0].all[0]
	unit := "mean latencies of a message"
	in, _ := first.trials[0].LatencyUS.Value()
	if in == 0 {
		unit, in = "ms", 1000
	}
	chart := &draw.Scatter{X: draw.Axis{Label: "synchronization delay (" + unit + ")", Log: true},
		Y: draw.Axis{Label: allMessagesCurve.unit, Log: true}}
	caption := fmt.Sprintf("%s, against synchronization delay, %d nodes", allMessagesCurve.title, first.nodes)
	if rest := settings[0].rest; rest != "" {
		caption += " (" + rest + ")"
	}
	var rows []curveRow
	var absent []string
	fronts := map[string]int{} // by algorithm: on how many sides it is on the frontier
	for _, s := range sides {
		panel, missing := s.panel(in, settings)
		front := panel.Frontier()
		for _, name := range front {
			fronts[name]++
		}
		caption += fmt.Sprintf("; on the frontier %s: %s", s.load, cmp.Or(english.List(front), "no algorithm"))
		var all []sampled
		for _, e := range s.all {
			all = append(all, sampled{experiment: e})
		}
		rows = slices.Concat(rows, rowsOf(delayCurve, all), rowsOf(allMessagesCurve, all))
		if len(panel.Dots) > 0 {
			chart.Panels = append(chart.Panels, panel)
		}
		for _, why := range slices.Sorted(maps.Keys(missing)) {
			absent = append(absent, fmt.Sprintf("Under the %s load, since %s: %s.", s.load, why,
				strings.Join(missing[why], "; ")))
		}
	}
	if len(sides) > 1 {
		maps.DeleteFunc(fronts, func(_ string, times int) bool { return times == 1 })
		caption += "; on both: " + cmp.Or(english.List(slices.Sorted(maps.Keys(fronts))), "no algorithm")
	}
	chart.Title = caption
	blocks = []block{figureBlock(m, "tradeoff", caption, chart.Draw(), rows)}
	if absent != nil {
		blocks = append(blocks, block{Summary: "Not in the picture", Text: strings.Join(absent, " ")})
	}
	return blocks
}

// panel returns the marks of a side, and the names of the algorithms without a mark, by the reason. in is the
// unit of delays, in microseconds.
func (s side) panel(in float64, settings []*setting) (panel draw.Panel, missing map[string][]string) {
	panel.Name, missing = s.load, map[string][]string{}
	if weight := s.all[0].weight(); weight > 0 {
		panel.Name += fmt.Sprintf(": %s requests per second of all nodes", number(weight))
	}
	const noRun = "it has no run of this size"
	names := map[string]bool{}
	for _, e := range s.all {
		names[e.series] = true
		if d, why := e.dot(in); why == "" {
			panel.Dots = append(panel.Dots, d)
		} else {
			missing[why] = append(missing[why], e.series)
		}
	}
	for _, of := range settings {
		for _, e := range of.all {
			if !names[e.series] {
				names[e.series] = true
				missing[noRun] = append(missing[noRun], e.series)
			}
		}
	}
	return panel, missing
}

// dot returns the mark of an experiment, or the reason why it has no mark. in is the unit of its delay, in
// microseconds.
func (e *experiment) dot(in float64) (d draw.Dot, why string) {
	measured := func(metric results.Column, of float64) draw.Measured {
		p := pointOf(metric, sampled{experiment: e}, of)
		d.Hollow = d.Hollow || p.Hollow
		if p.Low != 0 || p.High != 0 {
			return draw.Measured{At: p.Y, Low: p.Low, High: p.High}
		}
		return draw.Measured{At: p.Y, Low: p.Y, High: p.Y}
	}
	d.Name, d.Broken = e.series, e.flawed || e.Others[check.Violated.String()] > 0
	d.X, d.Y = measured(delayCurve.metric, in), measured(allMessagesCurve.metric, 1)
	switch {
	case e.Valid == 0:
		return d, "no trial is valid"
	case d.X.Low <= 0:
		return d, "no synchronization delay was measured"
	case d.Y.Low <= 0:
		return d, "no messages between nodes are counted"
	}
	return d, ""
}
