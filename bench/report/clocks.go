package report

import (
	"strings"

	"turnstile/internal/format"
	"turnstile/results"
)

// betweenNodes are the figures of runs.csv that compare times of different nodes, with their names in the
// summary.
var betweenNodes = []struct {
	column results.Column
	name   string
}{
	{results.SyncDelayUSP50, "the synchronization delay"},
	{results.DetectionUSMean, "the time of detection"},
	{results.ElectUSP50, "the time of an election"},
	{results.ElectDeclaredUSP50, "the time until a leader declares itself"},
	{results.ElectAgreedUSP50, "the time until nodes agree"}, {results.TakeoverUSP50, "the time of a take-over"},
	{results.AllAgreedUSP50, "the time until all agree"},
}

// fewUS is up to how many microseconds clocks are taken for one: as far as anchors of one clock may err.
const fewUS = 10

// clocks says how far apart times of different nodes may be, if their hosts have several clocks, and which
// figures that makes worth little.
func (p *Report) clocks(t table) {
	most := t.of(results.ClockErrorUS).most
	worst, known := most.Value()
	if !known || worst < fewUS {
		return
	}
	p.line("clocks", "times of nodes on different hosts agree within %s", format.Micros(most))
	var names []string
	for _, f := range betweenNodes {
		if time, known := t.of(f.column).median.Value(); known && worst > time/10 {
			names = append(names, f.name)
		}
	}
	if len(names) > 0 {
		p.warn("that is more than a tenth of %s, which may be wrong by as much", strings.Join(names, ", "))
	}
}
