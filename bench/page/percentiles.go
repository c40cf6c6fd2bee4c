package page

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/HdrHistogram/hdrhistogram-go"

	"turnstile/internal/figure"
	"turnstile/judge/measure"
	"turnstile/report/draw"
	"turnstile/results"
)

// A quantileRow is a point in the data of a picture of percentiles.
type quantileRow struct {
	Algorithm string        `csv:"algorithm"`
	Nodes     int           `csv:"nodes"`
	Quantile  figure.Figure `csv:"quantile"`
	WaitUS    figure.Figure `csv:"wait_us"`
}

// percentiles draws the waits of each setting, of its largest size and heaviest load, on a scale of nines.
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
		blocks = append(blocks, m.nines(s.titled(fmt.Sprintf("Waits of %d nodes by percentile", largest)), its)...)
	}
	m.add("Percentiles of the waits", "no waits were measured in a valid run without faults", blocks)
}

// nines draws the waits of some experiments, in as many pictures as it takes.
func (m *maker) nines(caption string, its []*experiment) (blocks []block) {
	parts := map[int]*draw.Curves{}
	rows := map[int][]quantileRow{}
	most := 0
	for _, e := range its {
		points, data := m.quantiles(e)
		if len(points) == 0 {
			continue
		}
		part := m.names[e.series] / draw.MostSeries
		if parts[part] == nil {
			parts[part] = &draw.Curves{Plain: true}
			most = max(most, part)
		}
		l := parts[part]
		l.Series = append(l.Series, draw.Series{Name: e.series, Look: m.names[e.series], Points: points})
		rows[part] = append(rows[part], data...)
	}
	for part := 0; part <= most; part++ {
		l := parts[part]
		if l == nil {
			continue
		}
		title := caption
		if len(parts) > 1 {
			title += fmt.Sprintf(", part %d of %d", part+1, most+1)
		}
		title += bound(l, its)
		l.Title = title
		l.X = draw.Axis{Label: "share of waits that are as long at most", At: []draw.Tick{{At: 0, Label: "0%"},
			{At: 1, Label: "90%"}, {At: 2, Label: "99%"}, {At: 3, Label: "99.9%"}, {At: 4, Label: "99.99%"},
			{At: 5, Label: "99.999%"}}}
		scaleWaits(l)
		blocks = append(blocks, figureBlock(m, "percentiles", title, l.Draw(), rows[part]))
	}
	return blocks
}

// bound names those series of a chart that are bound by the processors.
func bound(l *draw.Curves, its []*experiment) string {
	var names []string
	for _, s := range l.Series {
		if slices.ContainsFunc(its, func(e *experiment) bool { return e.series == s.Name && e.CPUBound > 0 }) {
			names = append(names, s.Name)
		}
	}
	if names == nil {
		return ""
	}
	return "; CPU-bound: " + strings.Join(names, ", ")
}

// scaleWaits gives a chart of waits in microseconds their unit, and a scale.
func scaleWaits(l *draw.Curves) {
	least, most := math.Inf(1), 0.0
	for _, s := range l.Series {
		for _, p := range s.Points {
			least, most = min(least, p.Y), max(most, p.Y)
		}
	}
	unit, of := inUnit("wait", most/1e6, 1e-6)
	for _, s := range l.Series {
		for i := range s.Points {
			s.Points[i].Y /= of
		}
	}
	l.Y = draw.Axis{Label: unit, Log: least > 0 && most >= 20*least}
}

// quantiles returns the waits of an experiment, of the histograms of its runs if all their trials are valid,
// and otherwise of the medians of its trials.
func (m *maker) quantiles(e *experiment) (points []draw.Point, rows []quantileRow) {
	add := func(q, us float64) {
		points = append(points, draw.Point{X: -math.Log10(1 - q), Y: us})
		rows = append(rows, quantileRow{e.series, e.nodes, figure.Number(q), figure.Number(us)})
	}
	if h := m.waits(e); h != nil {
		for nines := 0.0; 1-math.Pow(10, -nines) < 1-0.5/float64(h.TotalCount()); nines += 0.1 {
			q := 1 - math.Pow(10, -nines)
			add(q, float64(h.ValueAtQuantile(100*q))/1e3)
		}
		return points, rows
	}
	for _, q := range []struct {
		at     float64
		metric results.Column
	}{{0.5, results.WaitUSP50}, {0.9, results.WaitUSP90}, {0.99, results.WaitUSP99},
		{0.999, results.WaitUSP999}} {
		median, _, _, _ := e.Median(q.metric)
		if us, known := median.Value(); known {
			add(q.at, us)
		}
	}
	return points, rows
}

// waits returns the waits of all trials of an experiment together; nil: they cannot be read, or are not all
// of valid trials.
func (m *maker) waits(e *experiment) (all *hdrhistogram.Histogram) {
	if e.Valid != len(e.trials) {
		return nil
	}
	var read []string
	for i := range e.trials {
		run := e.trials[i].Run
		if slices.Contains(read, run) {
			continue
		}
		read = append(read, run)
		at := slices.IndexFunc(m.set.Runs, func(f *results.Folder) bool { return f.Name() == run })
		latencies, err := m.set.Runs[at].ReadLatencies()
		if err != nil || latencies[measure.WaitTag] == nil {
			return nil
		}
		if all == nil {
			all = latencies[measure.WaitTag]
		} else {
			all.Merge(latencies[measure.WaitTag])
		}
	}
	return all
}
