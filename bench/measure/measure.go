// Package measure folds the history of a run into figures. It is told nothing but the history and the load,
// so real and simulated runs, and runs read back, are measured alike.
package measure

import (
	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/workload"
	"turnstile/results"
)

// Measures are what was measured in one trial. What could not be measured, because the run was cut
// short or because nothing of the kind happened, is absent: an unknown figure or an empty latency.
// docs/measures.md defines each.
type Measures struct {
	Rested bool   // everything came to rest, so that totals divide by entries exactly
	Ended  int64  // when the last event happened, in nanoseconds of the run
	Window Window // what was measured; waits belong to it by due time, entries by when they began

	Entries         uint64 // of the whole run
	EntriesInWindow results.Figure
	EntriesPerS     results.Figure
	DurationS       results.Figure
	Unfinished      uint64         // requests of the whole run that never entered
	Unissued        uint64         // arrivals of the whole run that did not even become requests
	IssuedShare     results.Figure // open load: of the arrivals due in the window

	Messages Messages

	Wait                 Latency // due to entered
	Queue                Latency // due to requested
	Protocol             Latency // requested to entered
	Hold                 Latency // entered to exited
	SynchronizationDelay Latency // exited to the next entered, which had been requested before that exit
	Uncontended          Latency // requested to entered, of requests made when nobody held or waited
	ClientDelay          Latency // sequential load: the wait, all else being at rest

	Utilisation    results.Figure // share of the window with somebody inside
	OverlapUS      results.Figure // time with two or more inside, in the whole run
	Jain           results.Figure // of entries in the window, over the clients that asked
	EntriesNodeMin results.Figure
	EntriesNodeMax results.Figure
	OvertakenMax   results.Figure // entries by others who asked after me and entered before me
	OvertakenMean  results.Figure

	TimerLateUS TimerLate
	CPUBusy     results.Figure // share of the machine, 0 to 1
	BrokerCPU   results.Figure // share of one CPU
	NodeRSSMB   results.Figure // of the largest node
	ReadyMS     results.Figure
	Gaps        uint64 // messages missing from their streams, though nobody dropped them
}

// TimerLate is how late the timers of all nodes ran out, in microseconds.
type TimerLate struct{ P50, P99, Max results.Figure }

// Of folds a history of a run under a load into its measures.
func Of(h *history.History, load workload.Load) *Measures {
	m := &Measures{}
	m.readMarks(h)
	story := newStory(m, h.StampError())
	traffic := &traffic{m: m}
	h.Run(story, traffic)
	traffic.total(h)
	if load == workload.Sequential {
		m.ClientDelay = m.Wait
	}
	if load != workload.Open {
		m.IssuedShare = results.Figure{} // of the other loads none is due before it is issued
	}
	m.TimerLateUS = lateness(h)
	m.readGauges(h)
	return m
}

// A Window is the time [From, To) of a run. Its zero value is no time at all.
type Window struct{ From, To int64 }

// Known reports whether there is a window.
func (w Window) Known() bool { return w.To > w.From }

// Has reports whether at lies in the window.
func (w Window) Has(at int64) bool { return w.From <= at && at < w.To }

// Length returns how long the window is, in nanoseconds.
func (w Window) Length() int64 { return max(0, w.To-w.From) }

// overlap returns how much of [from, to) lies in the window.
func (w Window) overlap(from, to int64) int64 {
	return max(0, min(to, w.To)-max(from, w.From))
}

// readMarks finds the window. A run that ended before it was stopped was measured up to its end; one
// that ended in its warm-up was not measured.
func (m *Measures) readMarks(h *history.History) {
	marks := map[uint32]int64{}
	for _, l := range h.Logs {
		if n := len(l.Events); n > 0 {
			m.Ended = max(m.Ended, l.Events[n-1].At)
		}
		for _, e := range orchestrated(l) {
			if _, before := marks[e.Count]; e.Kind == history.Marked && !before {
				marks[e.Count] = e.At
			}
		}
	}
	_, m.Rested = marks[history.Rested]
	from, measured := marks[history.Measuring]
	if !measured {
		return
	}
	m.Window = Window{from, m.Ended}
	for _, end := range []uint32{history.Stopped, history.Interrupted, history.Stalled} {
		if at, ok := marks[end]; ok {
			m.Window.To = min(m.Window.To, at)
		}
	}
	if m.Window.Known() {
		m.DurationS = results.Number(float64(m.Window.Length()) / 1e9)
	}
}

// orchestrated returns the events of l if it is the orchestrator's log.
func orchestrated(l *history.NodeLog) []history.Event {
	if l.Node != nodes.None {
		return nil
	}
	return l.Events
}

func (m *Measures) readGauges(h *history.History) {
	largest := int64(-1)
	for _, l := range h.Logs {
		for _, e := range orchestrated(l) {
			if e.Kind != history.Gauged {
				continue
			}
			value := float64(e.Value)
			switch e.Count {
			case history.BusyPPM:
				m.CPUBusy = results.Number(value / 1e6)
			case history.BrokerPPM:
				m.BrokerCPU = results.Number(value / 1e6)
			case history.ReadyUS:
				m.ReadyMS = results.Number(value / 1e3)
			case history.ResidentKB:
				largest = max(largest, e.Value)
				m.NodeRSSMB = results.Number(float64(largest) / 1024)
			}
		}
	}
}

// lateness merges the lateness of the timers of all nodes. Like a latency, it reports the upper end of
// the bucket that a quantile lies in.
func lateness(h *history.History) TimerLate {
	var late [history.LatenessBuckets]uint64
	var total uint64
	for _, l := range h.Logs {
		for b, n := range l.Late {
			late[b] += n
			total += n
		}
	}
	quantile := func(q float64) results.Figure {
		rank, seen := rankOf(q, total), uint64(0)
		for b, n := range late {
			if seen += n; n > 0 && seen >= rank {
				return results.Number(float64(history.LatenessOf(b+1)-1) / 1e3)
			}
		}
		return results.Figure{}
	}
	return TimerLate{quantile(0.5), quantile(0.99), quantile(1)}
}
