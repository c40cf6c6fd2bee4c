package bench

import (
	"fmt"

	"turnstile/bench/measure"
	"turnstile/chaos"
	"turnstile/nodes"
	"turnstile/results"
)

// measureFaults adds to a trial what faults did in it, as faults.csv and timeline.csv have it. No faults were
// asked for if the fold is nil.
func (r *Run) measureFaults(t *Trial, f *measure.FaultFold) {
	if f == nil {
		return
	}
	leaders := t.Measures.Leaders
	t.Faults = f.Rows(faultIn(r.faults(t.Number)), leaders)
	if leaders == nil || !leaders.Only { // or there are no entries
		t.Timeline = f.Timeline()
	}
	for i := range t.Faults {
		row := &t.Faults[i]
		row.SilenceTextbookS = silence(&r.Record.Options, r.Spec)
		row.Run, row.Trial, row.Lost = r.Folder.Name(), t.Number, t.Row.Lost
	}
	for i := range t.Timeline {
		t.Timeline[i].Run, t.Timeline[i].Trial = r.Folder.Name(), t.Number
	}
	t.Faults, t.Timeline = results.AsStored(t.Faults), results.AsStored(t.Timeline)
}

// silence returns after how many seconds without entries a textbook takes what lets in for lost. It is
// unknown unless a bounded latency is injected and entries are bounded too.
func silence(o *Options, spec *nodes.Spec) results.Figure {
	_, latency, known := o.Latency.Bounds()
	_, hold, over := o.Workload.Hold.Bounds()
	if spec.Silence.Of == nil || !known || !over || latency == 0 || !o.Regions.None() {
		return results.Figure{}
	}
	return results.Number(spec.Silence.Of(o.Config, latency, hold).Seconds())
}

// faultIn says what the fault of a number was, without its times, which faults.csv has beside it.
func faultIn(faults []chaos.Fault) func(number int) string {
	return func(number int) string {
		if number < 1 || number > len(faults) {
			return fmt.Sprintf("fault %d", number)
		}
		return faults[number-1].What()
	}
}
