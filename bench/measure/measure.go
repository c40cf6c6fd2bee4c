// Package measure folds the history of a run into figures. It uses nothing but the history and the load, so
// real, simulated and stored runs are measured alike.
package measure

import (
	"turnstile/bench/section"
	"turnstile/nodes/history"
	"turnstile/results"
)

// Measures are what was measured in one trial. What could not be measured, because the run ended
// early or because nothing of the kind happened, is an unknown figure or an empty latency.
// docs/measures.md defines each.
type Measures struct {
	// What was measured. Waits count if they went on at any moment of it, with their whole length; entries and
	// what follows them count by when they began.
	Window  section.Window
	WarmupS results.Figure // from the first request to the window
	Clients uint64         // that requested, in the whole run

	Entries          uint64 // of the whole run
	Refused          uint64 // entries that the resource refused
	EntriesInWindow  results.Figure
	AcceptedInWindow results.Figure // accepted entries in the window
	EntriesPerS      results.Figure // of these
	DurationS        results.Figure
	Unfinished       uint64         // requests of the whole run that never entered
	Unissued         uint64         // arrivals of the whole run that never became requests
	IssuedShare      results.Figure // open load: of the arrivals due in the window

	Messages Messages

	Leaders *Leaders // nil: the run is not about leaders

	Detects   bool // a failure detector runs beside the algorithm
	Detection section.Detection
	// Wrong suspicions per hour, in the whole run.
	WrongPerHour results.Figure

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
	OvertakenMax   results.Figure // per request, entries of others that were requested later
	OvertakenMean  results.Figure

	TimerLateUS TimerLate
	CPUBusy     results.Figure // share of the machine, 0 to 1
	BrokerCPU   results.Figure // share of one CPU
	OwnCPU      results.Figure // shares of what the run could use at most: nodes and orchestrator
	BrokerShare results.Figure
	OthersCPU   results.Figure
	NodeRSSMB   results.Figure // of the largest node
	ReadyMS     results.Figure
	PauseS      results.Figure // the longest that a process stood still
	Gaps        uint64         // messages missing from their streams that no fault dropped
}

// TimerLate is how late the timers of all nodes ran out, in microseconds.
type TimerLate struct{ P50, P99, Max results.Figure }

// timerLate merges the lateness of the timers of all nodes. Like a latency, it reports the upper end of the
// bucket that a quantile lies in.
func timerLate(logs []*history.NodeLog) TimerLate {
	late := history.LatenessIn(logs)
	quantile := func(q float64) results.Figure {
		ns, known := late.Quantile(q)
		if !known {
			return results.Figure{}
		}
		return results.Number(float64(ns) / 1e3)
	}
	return TimerLate{quantile(0.5), quantile(0.99), quantile(1)}
}
