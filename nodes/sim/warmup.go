package sim

import (
	"turnstile/nodes/history"
	"turnstile/nodes/workload"
)

// A warmup follows what ends the warm-up of a run for a duration.
type warmup struct {
	cold     int  // clients that wait for one of their first workload.SteadyEntries entries
	extended bool // the time for it is over, and some clients are cold
}

// adaptive reports whether the clients decide how long the warm-up takes.
func (o *Options) adaptive() bool { return o.WarmupLimit > o.Warmup && o.Duration > 0 }

// planWindow plans what is measured, as far as it is known.
func (w *world) planWindow() {
	if w.Duration == 0 {
		return
	}
	w.plan(int64(w.Warmup), toMeasure, 0)
	if !w.adaptive() {
		w.plan(int64(w.Warmup+w.Duration), toStop, 0)
	}
}

// asksCold and servedCold count the clients that are cold, given the number of a request.
func (w *world) asksCold(request uint32) {
	if request <= workload.SteadyEntries {
		w.warmup.cold++
	}
}

func (w *world) servedCold(request uint32) {
	if request <= workload.SteadyEntries {
		w.warmup.cold--
	}
	if w.warmup.extended && w.warmup.cold == 0 {
		w.measure()
	}
}

// warm ends the warm-up whose time is over, unless clients are cold and it may go on.
func (w *world) warm() {
	switch {
	case w.measuring:
	case !w.adaptive():
		w.mark(history.Measuring)
	case w.warmup.cold == 0 || w.now >= int64(w.WarmupLimit):
		w.measure()
	default:
		w.warmup.extended = true
		w.plan(int64(w.WarmupLimit), toMeasure, 0)
	}
}

// measure begins to measure, and plans the end of that.
func (w *world) measure() {
	w.warmup.extended = false
	w.mark(history.Measuring)
	w.plan(w.now+int64(w.Duration), toStop, 0)
}
