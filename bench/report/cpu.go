package report

import (
	"fmt"
	"slices"
	"strconv"

	"turnstile/internal/english"
	"turnstile/internal/figure"
	"turnstile/internal/format"
	"turnstile/results"
)

// usedOf says who used how much of the CPU time. Under a quota, the shares of the run are of that, and those
// of others, whom it does not bind, of the machine.
func usedOf(t table, m results.Machine) string {
	of, total, others := "of the CPU time", t.of(results.CPUBusy), ", others %s"
	if limited(m) {
		of, total = "of the limit of "+quota(m), spreadOf(ours(t))
		others = "; others used %s of the " + english.Count(m.Cores, "core", "cores")
	}
	if !t.known(results.OwnCPU) {
		return t.of(results.CPUBusy).text(format.Percent) + " of the CPU time used"
	}
	if total.known == 0 { // of a short run, the system may not say what others used
		total = spreadOf(ours(t))
	}
	text := fmt.Sprintf("%s %s used: the run %s", total.text(format.Percent), of,
		t.of(results.OwnCPU).text(format.Percent))
	if t.known(results.BrokerShare) {
		text += ", its broker " + t.of(results.BrokerShare).text(format.Percent)
	}
	if !t.known(results.OthersCPU) {
		return text + "; what others used is not known"
	}
	return text + fmt.Sprintf(others, t.of(results.OthersCPU).text(format.Percent))
}

// ours returns what the run and its broker used in each trial, of what they could use.
func ours(t table) (figures []figure.Figure) {
	for i := range t {
		own, known := t[i].OwnCPU.Value()
		broker, _ := t[i].BrokerShare.Value()
		if !known {
			figures = append(figures, figure.Figure{})
			continue
		}
		figures = append(figures, figure.Number(own+broker))
	}
	return figures
}

// cpuBound warns of times that the processors have made, and says whose work that was.
func (p *Report) cpuBound(t table, m results.Machine) {
	busy := slices.DeleteFunc(slices.Clone(t), func(row results.Row) bool { return !row.CPUBound() })
	if len(busy) == 0 {
		return
	}
	in := ""
	if len(t) > 1 {
		in = fmt.Sprintf("in %s ", trials(len(busy), len(t)))
	}
	used, _ := spreadOf(ours(busy)).median.Value()
	by, ofMachine := "", used
	if limited(m) {
		by, ofMachine = " by its limit of "+quota(m), used*m.CPUQuota/float64(m.Cores)
	}
	others, known := busy.of(results.OthersCPU).median.Value()
	switch usedUp := limited(m) && used > results.CPUBoundAbove; {
	case known && others > ofMachine && !usedUp:
		p.warn("CPU-bound: %sothers used %s of the machine: these times are theirs as well; "+
			"repeat it when they are done", in, format.Percent(figure.Number(others)))
		return
	case limited(m) && !usedUp:
		by = " by the machine"
	}
	remark := "these times rank CPU cost, not algorithms"
	if latency, known := t[0].LatencyUS.Value(); known && latency == 0 {
		remark += "; add --latency"
	}
	p.warn("CPU-bound%s: %s%s", by, in, remark)
}

// limited reports whether control groups allow a run less than the whole machine.
func limited(m results.Machine) bool { return m.CPUQuota > 0 }

// quota says how much CPU time the control groups of a run allow it.
func quota(m results.Machine) string {
	text := strconv.FormatFloat(m.CPUQuota, 'g', 3, 64)
	if text == "1" {
		return "1 CPU"
	}
	return text + " CPUs"
}
