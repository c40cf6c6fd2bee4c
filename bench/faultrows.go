package bench

import (
	"fmt"

	"turnstile/chaos"
	"turnstile/internal/figure"
	"turnstile/judge/measure"
	"turnstile/results"
)

// measureFaults adds to a trial what faults did in it, as faults.csv and timeline.csv have it. No faults were
// asked for if the fold is nil.
func (r *Run) measureFaults(t *Trial, f *measure.FaultFold) {
	if f == nil {
		return
	}
	t.Faults, t.Timeline = nil, nil
	for _, x := range f.Rows(faultIn(r.faults(t.Number)), t.Measures.Leaders) {
		x.SilenceTextbookS = r.silence()
		t.Faults = append(t.Faults, results.FaultRow{Run: r.Folder.Name(), Trial: t.Number, OfFault: x})
	}
	if len(r.Stack.Mutexes()) > 0 { // or there are no entries
		for _, x := range f.Timeline() {
			t.Timeline = append(t.Timeline, results.IntervalRow{Run: r.Folder.Name(), Trial: t.Number, OfInterval: x})
		}
	}
	t.Faults, t.Timeline = results.FaultsAsStored(t.Faults), results.AsStored(t.Timeline)
}

// silence returns after how many seconds without entries a textbook takes what lets in for lost. It is
// unknown unless the run injects a bounded latency and holds are bounded too. The time for which a message
// waits for an application (--receive) counts as latency.
func (j *Job) silence() figure.Figure {
	latency, known := j.Bound()
	_, hold, over := j.Workload.Hold.Bounds()
	if j.Spec.Exclusion().Silence.Of == nil || !known || !over || j.Latency.Zero() || !j.Regions.None() {
		return figure.Figure{}
	}
	return figure.Number(j.Spec.Exclusion().Silence.Of(j.Config, latency, hold).Seconds())
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
